/* Engines of the C API: their options and what they report. Included by c.h, which states the conventions. */
#ifndef TMA_JIT_C_ENGINE_H
#define TMA_JIT_C_ENGINE_H

#include <tma_jit/c_values.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- engines --------------------------------------------------------------------------------------------------- */

typedef int32_t tma_jit_log_level;
enum {
  TMA_JIT_LOG_DEFAULT = 0, /* warnings and errors */
  TMA_JIT_LOG_TRACE = 1,
  TMA_JIT_LOG_DEBUG = 2,
  TMA_JIT_LOG_INFO = 3,
  TMA_JIT_LOG_WARNING = 4,
  TMA_JIT_LOG_ERROR = 5,
  TMA_JIT_LOG_OFF = 6
};
/* Called from any thread, one call at a time per engine. Must return normally (no longjmp or exception), and must not
 * call the engine, which may hold locks while it logs. `message` is valid until it returns. */
typedef void (*tma_jit_log)(tma_jit_log_level level, const char* message, void* user);

/* Where NVRTC runs. */
typedef int32_t tma_jit_place;
enum {
  TMA_JIT_PLACE_AUTOMATIC = 0, /* a worker process; if none can be started, this one, with one warning */
  TMA_JIT_PLACE_WORKER = 1,    /* a worker, or an error */
  TMA_JIT_PLACE_IN_PROCESS = 2 /* this process: a compiler crash then ends the program */
};

/* What an engine does when a kernel would have to be compiled. */
typedef int32_t tma_jit_seal;
enum {
  TMA_JIT_SEAL_OFF = 0,
  TMA_JIT_SEAL_WARN = 1,  /* report and compile */
  TMA_JIT_SEAL_REFUSE = 2 /* fail with TMA_JIT_SEALED */
};

/* When configurations are measured; options.h explains the policies. */
typedef int32_t tma_jit_tuning_policy;
enum {
  TMA_JIT_TUNING_DEFAULT = 0, /* from the environment, else TMA_JIT_TUNING_RECORDS */
  TMA_JIT_TUNING_OFF = 1,     /* plan as if there were no records */
  TMA_JIT_TUNING_RECORDS = 2,
  TMA_JIT_TUNING_AT_START = 3,
  TMA_JIT_TUNING_BACKGROUND = 4
};
/* Called in a thread of the engine before every step of a measurement in the background; 0 postpones the step. Must
 * return normally. */
typedef int32_t (*tma_jit_may_measure)(void* user);

/* A compile that was needed although the engine is sealed. Valid, with its strings, until the callback returns. */
typedef struct tma_jit_miss {
  size_t size; /* of this struct in the library's version */
  const char* kernel;
  const char* arch;
  const char* key;
  const char* explanation; /* how it differs from the cached kernels; one or more lines */
} tma_jit_miss;
/* Called from any thread that requests a kernel, in that thread. Must return normally. */
typedef void (*tma_jit_miss_callback)(const tma_jit_miss* miss, void* user);

/* All fields are optional; unset paths are taken from the environment when the engine is created (options.h). */
typedef struct tma_jit_options {
  size_t size;
  const char* device;    /* a CUDA ordinal ("0"), "emulator:sm_90a" (emulator.h), or a known device's name */
  const char* arch;      /* target instead of the device's own */
  const char* cache_dir; /* NULL: from the environment, else the user's cache folder */
  const char* nvrtc;     /* libnvrtc to load instead of searching for it */
  const char* const* template_dirs;
  size_t template_dir_count;
  const tma_jit_device_info* limits; /* plan with the tighter of these limits and the device's */
  tma_jit_log log;                   /* NULL: warnings and errors go to stderr */
  void* log_user;
  tma_jit_log_level log_level;
  int32_t no_cache;
  int32_t disable_tma;
  int32_t line_info;
  uint64_t cache_bytes;   /* above it the least recently used entries are removed; 0: 2 GiB; TMA_JIT_NONE: no limit */
  uint64_t cache_entries; /* likewise; 0: 50,000; TMA_JIT_NONE: no limit */
  const char* const* cache_read_only; /* folders and packs searched after cache_dir */
  size_t cache_read_only_count;
  const char* const* cache_pack_keys; /* public keys, or folders of them; one must have signed a pack */
  size_t cache_pack_key_count;
  const char* cache_node_dir; /* folder of this machine, searched before cache_dir */
  double cache_wait_s; /* longest wait for another process that compiles the same kernel; 0: 120; TMA_JIT_NONE: none */
  tma_jit_place compiler_place;
  tma_jit_seal seal;           /* state at creation */
  const char* compiler_worker; /* the worker's program to start instead of searching for it */
  int32_t compiler_workers;    /* most workers this engine runs at a time; 0: as many as the machine allows */
  int32_t
      compiles_at_once; /* most compiles on this machine by all processes of this user; 0: from processors and memory */
  double compile_time_limit_s;  /* of one compile; 0: 300; TMA_JIT_NONE: no limit */
  uint64_t worker_memory_limit; /* address space of a worker, bytes; 0: 4 GiB; TMA_JIT_NONE: no limit */
  const char* record_misses;    /* file that gets a line for every kernel that had to be compiled */
  tma_jit_miss_callback on_sealed_miss;
  void* on_sealed_miss_user;
  int32_t cache_shared; /* every user may read cache_dir and its entries */
  tma_jit_tuning_policy tuning_policy;
  const char* const* tuning_records; /* files of records, searched in this order before the cache folder's */
  size_t tuning_record_count;
  const char* remote;      /* URL of a server of cache entries (options.h); its credentials may be in the environment */
  const char* remote_role; /* "read-write", "read-only" or "write-only"; NULL: from the environment, else read-write */
  const char* remote_sign_key; /* private key that signs what is uploaded */
  double remote_wait_s;        /* longest wait for an answer; 0: 1 */
  double remote_flush_s;       /* longest wait for uploads when the engine ends; 0: 5; TMA_JIT_NONE: none */
  double tuning_budget_s;     /* seconds that the policies AT_START and BACKGROUND measure; 0: 60; TMA_JIT_NONE: none */
  double tuning_device_share; /* BACKGROUND: largest share of the time in which the device measures; 0: 0.1 */
  uint64_t tuning_memory_bytes; /* a problem that needs more device memory is not tuned; 0: 1 GiB */
  tma_jit_may_measure may_measure;
  void* may_measure_user;
  const char* record_requests;   /* file that gets a line for every request that is prepared, compiled or found, once */
  const char* const* nvrtc_dirs; /* searched for libnvrtc where no toolkit has one */
  size_t nvrtc_dir_count;
  const char* remote_user; /* these seven: what the environment would give (options.h); what `remote` has comes first */
  const char* remote_password;
  const char* remote_token;
  const char* remote_ca;
  const char* remote_certificate;
  const char* remote_certificate_key;
  const char* remote_library;
} tma_jit_options;

/* Counts since the engine was created. stats.h explains the fields. */
typedef struct tma_jit_stats {
  size_t size;
  uint64_t plans;
  uint64_t compiles;
  uint64_t compile_failures;
  uint64_t memory_hits;
  uint64_t disk_hits;
  uint64_t disk_misses;
  uint64_t disk_faults;
  uint64_t disk_writes;
  uint64_t disk_write_failures;
  uint64_t loads;
  double compile_ms;
  uint64_t unreadable; /* these five: existing entries that were not used, by reason; their sum is disk_faults */
  uint64_t untrusted;
  uint64_t other_format;
  uint64_t corrupt;
  uint64_t wrong_key;
  uint64_t healed; /* faulty entries replaced by a compile */
  uint64_t node_hits;
  uint64_t read_only_hits;
  uint64_t waits;
  uint64_t wait_timeouts;
  uint64_t lockless;
  uint64_t evicted;
  uint64_t workers_started;
  uint64_t workers_lost;    /* due to crashes, time limits and memory limits */
  uint64_t crashes_avoided; /* configurations passed over because they crash this compiler */
  uint64_t sealed_misses;
  uint64_t misses_recorded;
  uint64_t remote_hits; /* a part of disk_hits */
  uint64_t remote_misses;
  uint64_t remote_errors;
  uint64_t remote_refused; /* answers that are another entry, or lack the required signature */
  uint64_t remote_skipped; /* the server was not asked, because it had failed before */
  uint64_t remote_uploads;
  uint64_t remote_upload_failures;
  uint64_t remote_off;       /* 1 while the server is not asked, because it has failed */
  uint64_t problems_tuned;   /* by the policies AT_START and BACKGROUND */
  uint64_t launches_swapped; /* shapes of functions that use a faster configuration since their first call */
  uint64_t tuning_failures;
  uint64_t tunings_undecided; /* given up: the budget was used up, or times varied too much */
} tma_jit_stats;

typedef struct tma_jit_engine tma_jit_engine;
/* `options` may be NULL. Device, NVRTC and cache are opened on first use, not here. */
TMA_JIT_API tma_jit_status tma_jit_engine_create(const tma_jit_options* options, tma_jit_engine** out,
                                                 tma_jit_error** error);
TMA_JIT_API void tma_jit_engine_free(tma_jit_engine* engine);

/* Adds a template's text under a file name ("scale.cu"), or a header's under the name by which templates include it
 * ("device/own.cuh"). */
TMA_JIT_API tma_jit_status tma_jit_engine_add_template(tma_jit_engine* engine, const char* name, const char* text,
                                                       tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_engine_add_template_file(tma_jit_engine* engine, const char* path,
                                                            tma_jit_error** error);

/* From now on a request that needs a compile is refused or reported; TMA_JIT_SEAL_OFF undoes it. May be called at any
 * time. */
TMA_JIT_API tma_jit_status tma_jit_engine_seal(tma_jit_engine* engine, tma_jit_seal seal, tma_jit_error** error);

/* Returns the facts that plans are based on. */
TMA_JIT_API tma_jit_status tma_jit_engine_device(tma_jit_engine* engine, tma_jit_device_info* out,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_engine_stats(tma_jit_engine* engine, tma_jit_stats* out, tma_jit_error** error);
/* NULL for a NULL engine. */
TMA_JIT_API const char* tma_jit_engine_cache_dir(const tma_jit_engine* engine);
/* Returns what the machine offers: {driver, device, nvrtc, cache}, each with an `error` if it is missing. */
TMA_JIT_API tma_jit_status tma_jit_engine_environment_json(tma_jit_engine* engine, char** out, tma_jit_error** error);
/* Returns {kernels [as `tma-jit show --json` prints a file], faults [error]}. */
TMA_JIT_API tma_jit_status tma_jit_engine_kernels_json(tma_jit_engine* engine, char** out, tma_jit_error** error);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_ENGINE_H */
