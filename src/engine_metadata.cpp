// A cubin's metadata in a cache entry.
#include <utility>

#include <nlohmann/json.hpp>

#include "base/failure.h"
#include "base/json_integer.h"
#include "engine_build.h"
#include "source/key.h"

namespace tma_jit {
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

// Without the cubin's bytes and key. Fails by exception too: where a field is missing or is no text.
Result<std::pair<Cubin, std::string>> cubin_and_compiler_in(const Json& fields) {
  Cubin cubin;
  fields.at("entry").get_to(cubin.entry);
  fields.at("arch").get_to(cubin.arch);
  fields.at("compile_ms").get_to(cubin.compile_ms);
  TMA_JIT_ASSIGN(cubin.resources, resources_in(fields));
  return std::pair(std::move(cubin), fields.at("compiler").get<std::string>());
}

// The first line of an entry's metadata.
Result<std::pair<Cubin, std::string>> read(std::string_view metadata) {
  try {
    return cubin_and_compiler_in(Json::parse(metadata.substr(0, metadata.find('\n'))));
  } catch (const Json::exception& error) {
    return failure(ErrorCode::parse, "{}", error.what());
  }
}

}  // namespace

std::string metadata_of(const Cubin& cubin, const Source& source, std::string_view compiler) {
  const Json fields = {{"kernel", source.kernel},
                       {"arch", cubin.arch},
                       {"entry", cubin.entry},
                       {"compiler", compiler},
                       {"compile_ms", cubin.compile_ms},
                       {"registers", cubin.resources.registers},
                       {"spill_store_bytes", cubin.resources.spill_store_bytes},
                       {"spill_load_bytes", cubin.resources.spill_load_bytes},
                       {"stack_bytes", cubin.resources.stack_bytes},
                       {"static_shared_bytes", cubin.resources.static_shared_bytes},
                       {"warnings", cubin.resources.warnings}};
  Json parts = Json::array();
  for (const emission::KeyField& part : emission::key_fields(source, compiler))
    parts.push_back({part.name, part.value});
  const auto line = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  return line(fields) + "\n" + line({{"key", parts}});
}

Result<Built> built_from(cache::Entry entry, const Key& key) {
  auto read_back = read(entry.metadata);
  if (!read_back) {
    return failure(ErrorCode::io, "cache entry {}: its metadata is not what this version writes: {}", key.hex(),
                   read_back.error().message);
  }
  auto& [cubin, compiler] = *read_back;
  cubin.bytes = std::move(entry.cubin);
  cubin.key = key;
  return Built{std::make_shared<const Cubin>(std::move(cubin)), std::move(compiler)};
}

}  // namespace tma_jit
