// Cache folders, packs and warm lists for C.
#include <tma_jit/cache.h>
#include <tma_jit/json.h>
#include <tma_jit/warm_list.h>

#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Result;

using Paths = std::vector<std::filesystem::path>;

// Converts a list of files, given as a pointer and a count; NULL with 0 is an empty list.
Result<Paths> keys_of(const char* const* given, size_t count) {
  if (given == nullptr && count > 0) return invalid("pack_keys is NULL and its count is " + std::to_string(count));
  Paths paths;
  for (size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return invalid("pack_keys[" + std::to_string(i) + "] is NULL");
    paths.emplace_back(given[i]);
  }
  return paths;
}

Result<void> write_pack_info(const Result<tma_jit::PackInfo>& made, tma_jit_pack_info* out) {
  if (!made) return tl::make_unexpected(made.error());
  if (out == nullptr) return {};
  tma_jit_pack_info info{};
  info.entries = made->entries;
  info.bytes = made->bytes;
  info.skipped = made->skipped;
  made->signer.copy(info.signer, sizeof info.signer - 1);
  return write_struct(info, out, "tma_jit_pack_info");
}

Result<std::string> list_of(const Result<std::vector<tma_jit::CacheEntryInfo>>& entries) {
  if (!entries) return tl::make_unexpected(entries.error());
  std::string list;
  for (const auto& entry : *entries) {
    if (!list.empty()) list += ',';
    list += tma_jit::json_of(entry);
  }
  return "[" + list + "]";
}

Result<std::vector<tma_jit_request>> requests_in(tma_jit_engine& engine, const char* text) {
  const auto line = tma_jit::parse_warm_line(text);
  if (!line) return tl::make_unexpected(line.error());
  auto found = tma_jit::warm_requests(engine.engine, *line);
  if (!found) return tl::make_unexpected(std::move(found).error());
  std::vector<tma_jit_request> requests;
  for (tma_jit::Request& request : *found) requests.push_back({std::move(request)});
  return requests;
}

}  // namespace

tma_jit_status tma_jit_default_cache_dir(char** out, tma_jit_error** error) {
  return making(__func__, error, {}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::default_cache_dir().string(); }));
}

tma_jit_status tma_jit_cache_stat(const char* root, tma_jit_cache_summary* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}, {"out", out}}, [&]() -> Result<void> {
    const auto found = tma_jit::cache_stat(root);
    if (!found) return tl::make_unexpected(found.error());
    return write_struct({0, found->entries, found->bytes, found->faulty, found->temporary_files}, out,
                        "tma_jit_cache_summary");
  });
}

tma_jit_status tma_jit_cache_verify_json(const char* root, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"root", root}}, out,
                string_of([&]() -> Result<std::string> { return list_of(tma_jit::cache_verify(root)); }));
}

tma_jit_status tma_jit_pack_verify_json(const char* file, const char* const* pack_keys, size_t pack_key_count,
                                        char** out, tma_jit_error** error) {
  return making(__func__, error, {{"file", file}}, out, string_of([&]() -> Result<std::string> {
                  const auto keys = keys_of(pack_keys, pack_key_count);
                  if (!keys) return tl::make_unexpected(keys.error());
                  return list_of(tma_jit::cache_verify(file, *keys));
                }));
}

tma_jit_status tma_jit_cache_clear(const char* root, uint64_t* removed, tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}}, [&]() -> Result<void> {
    const auto count = tma_jit::cache_clear(root);
    if (!count) return tl::make_unexpected(count.error());
    if (removed != nullptr) *removed = *count;
    return {};
  });
}

tma_jit_status tma_jit_cache_trim(const char* root, uint64_t bytes, uint64_t entries, tma_jit_cache_trimmed* out,
                                  tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}}, [&]() -> Result<void> {
    const auto trimmed = tma_jit::cache_trim(root, bytes, entries);
    if (!trimmed) return tl::make_unexpected(trimmed.error());
    if (out == nullptr) return {};
    return write_struct(
        {0, trimmed->entries, trimmed->bytes, trimmed->removed, trimmed->removed_bytes, trimmed->temporary_files}, out,
        "tma_jit_cache_trimmed");
  });
}

tma_jit_status tma_jit_cache_read(const char* folder_or_pack, const char* key_prefix, tma_jit_cache_entry** out,
                                  tma_jit_error** error) {
  return making(__func__, error, {{"folder_or_pack", folder_or_pack}, {"key_prefix", key_prefix}}, out,
                handle_of<tma_jit_cache_entry>([&] { return tma_jit::cache_read(folder_or_pack, key_prefix); }));
}

void tma_jit_cache_entry_free(tma_jit_cache_entry* entry) {
  delete entry;
}

const char* tma_jit_cache_entry_key(const tma_jit_cache_entry* entry) {
  return entry != nullptr ? entry->entry.info.key.c_str() : nullptr;
}
const char* tma_jit_cache_entry_kernel(const tma_jit_cache_entry* entry) {
  return entry != nullptr ? entry->entry.info.kernel.c_str() : nullptr;
}
const char* tma_jit_cache_entry_arch(const tma_jit_cache_entry* entry) {
  return entry != nullptr ? entry->entry.info.arch.c_str() : nullptr;
}
const char* tma_jit_cache_entry_metadata(const tma_jit_cache_entry* entry) {
  return entry != nullptr ? entry->entry.info.metadata.c_str() : nullptr;
}

const void* tma_jit_cache_entry_data(const tma_jit_cache_entry* entry, size_t* bytes) {
  if (bytes != nullptr) *bytes = entry != nullptr ? entry->entry.cubin.size() : 0;
  return entry != nullptr ? entry->entry.cubin.data() : nullptr;
}

tma_jit_status tma_jit_cache_pack(const char* root, const char* file, const char* private_key, tma_jit_pack_info* out,
                                  tma_jit_error** error) {
  return guarded(__func__, error, {{"root", root}, {"file", file}}, [&] {
    return write_pack_info(tma_jit::cache_pack(root, file, private_key != nullptr ? private_key : ""), out);
  });
}

// NOLINTNEXTLINE(readability-function-size): a list is two parameters
tma_jit_status tma_jit_cache_unpack(const char* file, const char* root, const char* const* pack_keys,
                                    size_t pack_key_count, tma_jit_pack_info* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"file", file}, {"root", root}}, [&]() -> Result<void> {
    const auto keys = keys_of(pack_keys, pack_key_count);
    if (!keys) return tl::make_unexpected(keys.error());
    return write_pack_info(tma_jit::cache_unpack(file, root, *keys), out);
  });
}

tma_jit_status tma_jit_cache_keygen(const char* private_key, const char* public_key, char** out,
                                    tma_jit_error** error) {
  return making(__func__, error, {{"private_key", private_key}, {"public_key", public_key}}, out,
                string_of([&] { return tma_jit::cache_keygen(private_key, public_key); }));
}

tma_jit_status tma_jit_warm_line(const tma_jit_plan* plan, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"plan", plan}}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::warm_line(plan->plan); }));
}

tma_jit_status tma_jit_warm_requests(tma_jit_engine* engine, const char* line, tma_jit_presets** out,
                                     tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"line", line}}, out,
                handle_of<tma_jit_presets>([&] { return requests_in(*engine, line); }));
}

tma_jit_status tma_jit_prove_json(tma_jit_engine* engine, const tma_jit_request* const* requests, size_t count,
                                  char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out, string_of([&]() -> Result<std::string> {
                  const auto given = requests_of(requests, count, "tma_jit_prove_json");
                  if (!given) return tl::make_unexpected(given.error());
                  return tma_jit::json_of(tma_jit::prove(engine->engine, *given));
                }));
}
