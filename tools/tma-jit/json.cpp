#include "json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace tma_jit::cli {

Json parse_json(std::string_view text) {
  return Json::parse(text);
}

Json try_parse_json(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace tma_jit::cli
