#include "engine/entry_fields.h"

#include <string>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace tma_jit::engine {
namespace {

using Json = nlohmann::json;

}  // namespace

Fields fields_in(std::string_view metadata) {
  const std::size_t line = metadata.find('\n');
  if (line == std::string_view::npos) return {};
  const auto json = read_json<Json>(metadata.substr(line + 1));
  Fields fields;
  if (!json || !json->is_object() || !json->contains("key") || !(*json)["key"].is_array()) return fields;
  for (const Json& pair : (*json)["key"]) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string())
      fields.push_back({pair[0], pair[1]});
  }
  return fields;
}

cache::Marks marks_of(std::string_view kernel, const Fields& fields) {
  cache::Marks marks = cache::Marks::of(kernel);
  for (const source::KeyField& field : fields) marks.add(field.name, field.value);
  return marks;
}

cache::Marks marks_in(std::string_view metadata) {
  const Fields fields = fields_in(metadata);
  const auto json = read_json<Json>(metadata.substr(0, metadata.find('\n')));
  if (fields.empty() || !json || !json->is_object()) return {};
  const auto kernel = json->find("kernel");
  if (kernel == json->end() || !kernel->is_string()) return {};
  return marks_of(kernel->get<std::string>(), fields);
}

}  // namespace tma_jit::engine
