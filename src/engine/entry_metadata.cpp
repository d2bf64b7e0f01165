// Conversion of an artifact to a cache entry's metadata and back.
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_integer.h"
#include "base/json_text.h"
#include "core/failure.h"
#include "engine/builder.h"
#include "source/form.h"
#include "source/key.h"

namespace tma_jit::engine {
namespace {

using Json = nlohmann::json;  // sorts its keys

template <class Integer> Result<void> take(const Json& fields, const char* name, Integer& value) {
  TMA_JIT_ASSIGN(value, integer_in<Integer>(fields.at(name), name, 0));
  return {};
}

Result<Resources> resources_in(const Json& fields) {
  Resources resources;
  TMA_JIT_CHECK(take(fields, "registers", resources.registers));
  TMA_JIT_CHECK(take(fields, "spill_store_bytes", resources.spill_store_bytes));
  TMA_JIT_CHECK(take(fields, "spill_load_bytes", resources.spill_load_bytes));
  TMA_JIT_CHECK(take(fields, "stack_bytes", resources.stack_bytes));
  TMA_JIT_CHECK(take(fields, "static_shared_bytes", resources.static_shared_bytes));
  fields.at("warnings").get_to(resources.warnings);
  return resources;
}

// Omits the artifact's bytes and key. Throws nlohmann's exceptions if a field is missing or has another type.
Result<std::pair<Artifact, std::string>> artifact_and_compiler_in(const Json& fields) {
  Artifact artifact;
  fields.at("entry").get_to(artifact.entry);
  fields.at("arch").get_to(artifact.arch);
  artifact.form = source::form_of(artifact.arch);
  fields.at("compile_ms").get_to(artifact.compile_ms);
  TMA_JIT_ASSIGN(artifact.resources, resources_in(fields));
  return std::pair(std::move(artifact), fields.at("compiler").get<std::string>());
}

// Parses the first line of an entry's metadata.
Result<std::pair<Artifact, std::string>> read(std::string_view metadata) {
  try {
    TMA_JIT_ASSIGN(const Json fields, read_json<Json>(metadata.substr(0, metadata.find('\n'))));
    return artifact_and_compiler_in(fields);
  } catch (const Json::exception& error) {
    return failure(ErrorCode::parse, "{}", words_of(error));
  }
}

}  // namespace

std::string metadata_of(const Artifact& artifact, const Source& source, std::string_view compiler) {
  return metadata_of(artifact, source.kernel, compiler, source::key_fields(source, compiler));
}

std::string metadata_of(const Artifact& artifact, std::string_view kernel, std::string_view compiler,
                        const Fields& parts) {
  const Json fields = {{"kernel", kernel},
                       {"arch", artifact.arch},
                       {"entry", artifact.entry},
                       {"compiler", compiler},
                       {"compile_ms", artifact.compile_ms},
                       {"registers", artifact.resources.registers},
                       {"spill_store_bytes", artifact.resources.spill_store_bytes},
                       {"spill_load_bytes", artifact.resources.spill_load_bytes},
                       {"stack_bytes", artifact.resources.stack_bytes},
                       {"static_shared_bytes", artifact.resources.static_shared_bytes},
                       {"warnings", artifact.resources.warnings}};
  Json made_of = Json::array();
  for (const source::KeyField& part : parts) made_of.push_back({part.name, part.value});
  const auto line = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  return line(fields) + "\n" + line({{"key", made_of}});
}

Result<Built> built_from(cache::Entry entry, const Key& key) {
  auto read_back = read(entry.metadata);
  if (!read_back) {
    return failure(ErrorCode::io, "cache entry {}: its metadata is not what this version writes: {}", key.hex(),
                   read_back.error().message);
  }
  auto& [artifact, compiler] = *read_back;
  artifact.bytes = std::move(entry.cubin);
  artifact.key = key;
  return Built{std::make_shared<const Artifact>(std::move(artifact)), std::move(compiler), true};
}

}  // namespace tma_jit::engine
