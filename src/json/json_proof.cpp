// What a proof of the cache found, as JSON.
#include <tma_jit/json.h>

#include <nlohmann/json.hpp>

namespace tma_jit {

std::string json_of(const Proof& proof) {
  using Json = nlohmann::ordered_json;
  Json missing = Json::array();
  for (const Proof::Missing& one : proof.missing) {
    missing.push_back({{"request", one.request}, {"error", Json::parse(json_of(one.error))}});
  }
  return Json{{"there", proof.there}, {"missing", std::move(missing)}, {"ms", proof.ms}}.dump();
}

}  // namespace tma_jit
