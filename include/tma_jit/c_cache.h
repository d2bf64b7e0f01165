/* Warm lists, the cache folder, packs and compile workers for the C API. Included by c.h, which states the
 * conventions. */
#ifndef TMA_JIT_C_CACHE_H
#define TMA_JIT_C_CACHE_H

#include <tma_jit/c_plan.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- warm lists ------------------------------------------------------------------------------------------------ */

/* Returns the line of a warm list (docs/caching.md) that builds the same kernel as the plan. */
TMA_JIT_API tma_jit_status tma_jit_warm_line(const tma_jit_plan* plan, char** out, tma_jit_error** error);
/* Returns the requests that a line describes on the engine's target, each to be planned and built; none if the line is
 * for another target. TMA_JIT_PARSE if the line is malformed. */
TMA_JIT_API tma_jit_status tma_jit_warm_requests(tma_jit_engine* engine, const char* line, tma_jit_presets** out,
                                                 tma_jit_error** error);
/* Looks up the kernel of every request in the cache, reading and verifying each entry. Compiles, loads and launches
 * nothing, whether or not the engine is sealed. Returns {there, missing [{request, error}], ms}: `request` is an index
 * into the list, `error` {code, message, ...}, `ms` the wall time of the whole proof. */
TMA_JIT_API tma_jit_status tma_jit_prove_json(tma_jit_engine* engine, const tma_jit_request* const* requests,
                                              size_t count, char** out, tma_jit_error** error);

/* ---- the cache folder ------------------------------------------------------------------------------------------ */

typedef struct tma_jit_cache_summary {
  size_t size;
  uint64_t entries;
  uint64_t bytes;
  uint64_t faulty;
  uint64_t temporary_files;
} tma_jit_cache_summary;

/* Returns "" if there is none (cache.h). */
TMA_JIT_API tma_jit_status tma_jit_default_cache_dir(char** out, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_cache_stat(const char* root, tma_jit_cache_summary* out, tma_jit_error** error);
/* Reads every entry completely and returns [{key, kernel, arch, bytes, fault}]; `fault` is empty for a sound entry. */
TMA_JIT_API tma_jit_status tma_jit_cache_verify_json(const char* root, char** out, tma_jit_error** error);
/* Removes the entries, their index, temporary files and the records of compiler crashes; `removed` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_clear(const char* root, uint64_t* removed, tma_jit_error** error);

typedef struct tma_jit_cache_trimmed {
  size_t size;
  uint64_t entries; /* before the trim */
  uint64_t bytes;
  uint64_t removed;
  uint64_t removed_bytes;
  uint64_t temporary_files; /* removed because their writers died */
} tma_jit_cache_trimmed;
/* Removes the least recently used entries until at most `bytes` and `entries` are left; `out` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_trim(const char* root, uint64_t bytes, uint64_t entries,
                                              tma_jit_cache_trimmed* out, tma_jit_error** error);

/* The entry of a folder or a pack whose key starts with `key_prefix`. */
typedef struct tma_jit_cache_entry tma_jit_cache_entry;
TMA_JIT_API tma_jit_status tma_jit_cache_read(const char* folder_or_pack, const char* key_prefix,
                                              tma_jit_cache_entry** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_cache_entry_free(tma_jit_cache_entry* entry);
/* These are NULL for a NULL entry. */
TMA_JIT_API const char* tma_jit_cache_entry_key(const tma_jit_cache_entry* entry);
TMA_JIT_API const char* tma_jit_cache_entry_kernel(const tma_jit_cache_entry* entry);
TMA_JIT_API const char* tma_jit_cache_entry_arch(const tma_jit_cache_entry* entry);
/* Returns one JSON object per line. */
TMA_JIT_API const char* tma_jit_cache_entry_metadata(const tma_jit_cache_entry* entry);
/* Returns the cubin; `bytes` may be NULL. */
TMA_JIT_API const void* tma_jit_cache_entry_data(const tma_jit_cache_entry* entry, size_t* bytes);

/* ---- packs ----------------------------------------------------------------------------------------------------- */

typedef struct tma_jit_pack_info {
  size_t size;
  uint64_t entries;
  uint64_t bytes;
  uint64_t skipped; /* faulty entries that were left out */
  char signer[80];  /* id of the signing key, hexadecimal; "" if not signed */
} tma_jit_pack_info;
/* Writes all sound entries of a folder into one file, signed unless `private_key` is NULL. `out` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_pack(const char* root, const char* file, const char* private_key,
                                              tma_jit_pack_info* out, tma_jit_error** error);
/* Copies the entries of a pack into a folder and creates the folder if it is missing. If keys are given, one of them
 * must have signed the pack. `pack_keys` may be NULL if there are none, `out` always. */
TMA_JIT_API tma_jit_status tma_jit_cache_unpack(const char* file, const char* root, const char* const* pack_keys,
                                                size_t pack_key_count, tma_jit_pack_info* out, tma_jit_error** error);
/* Like tma_jit_cache_verify_json, for a pack. */
TMA_JIT_API tma_jit_status tma_jit_pack_verify_json(const char* file, const char* const* pack_keys,
                                                    size_t pack_key_count, char** out, tma_jit_error** error);
/* Writes an Ed25519 key pair to two new PEM files; `out` is the key's id. */
TMA_JIT_API tma_jit_status tma_jit_cache_keygen(const char* private_key, const char* public_key, char** out,
                                                tma_jit_error** error);

/* ---- compile workers ------------------------------------------------------------------------------------------- */

/* For a program that acts as its own compile worker, so that only one file is shipped. Call it first in main:
 *
 *   const int32_t status = tma_jit_run_compile_worker(argc, argv);
 *   if (status >= 0) return status;
 *
 * Returns the exit status if the process was started as a worker, else -1; engines created after that call start this
 * program as their worker. */
TMA_JIT_API int32_t tma_jit_run_compile_worker(int32_t argc, char** argv);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_CACHE_H */
