// A cubin's metadata in a cache entry.
#include <nlohmann/json.hpp>

#include "base/failure.h"
#include "engine_build.h"
#include "source/key.h"

namespace tma_jit {
namespace {

using Json = nlohmann::json;  // sorts its keys

// Fails on a field of another type, by exception.
Cubin cubin_from(const Json& fields) {
  Cubin cubin;
  fields.at("entry").get_to(cubin.entry);
  fields.at("arch").get_to(cubin.arch);
  fields.at("compile_ms").get_to(cubin.compile_ms);
  fields.at("registers").get_to(cubin.resources.registers);
  fields.at("spill_store_bytes").get_to(cubin.resources.spill_store_bytes);
  fields.at("spill_load_bytes").get_to(cubin.resources.spill_load_bytes);
  fields.at("stack_bytes").get_to(cubin.resources.stack_bytes);
  fields.at("static_shared_bytes").get_to(cubin.resources.static_shared_bytes);
  fields.at("warnings").get_to(cubin.resources.warnings);
  return cubin;
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
  try {
    const Json fields = Json::parse(entry.metadata.substr(0, entry.metadata.find('\n')));
    Cubin cubin = cubin_from(fields);
    cubin.bytes = std::move(entry.cubin);
    cubin.key = key;
    return Built{std::make_shared<const Cubin>(std::move(cubin)), fields.at("compiler").get<std::string>()};
  } catch (const Json::exception& error) {
    return failure(ErrorCode::io, "cache entry {}: its metadata is not what this version writes: {}", key.hex(),
                   error.what());
  }
}

}  // namespace tma_jit
