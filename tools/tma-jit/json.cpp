#include "json.h"

#include <sstream>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace tma_jit::cli {

Json parse_json(std::string_view text) {
  return Json::parse(text);
}

Json try_parse_json(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

bool try_parse_all(const std::string& text, std::vector<Json>& values) {
  std::istringstream stream(text);
  try {
    while (!(stream >> std::ws).eof()) stream >> values.emplace_back();
  } catch (const Json::parse_error&) {
    return false;
  }
  return true;
}

}  // namespace tma_jit::cli
