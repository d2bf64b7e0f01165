/* The C API: every stage of the engine for C, and for languages that call C (Python's ctypes, Rust, Go, Julia).
 *
 * CONVENTIONS
 *
 *  1. Status. A function that can fail returns a tma_jit_status: TMA_JIT_OK (0) or the reason. Its results come
 *     through pointers named `out`. After a failure every handle and string that `out` points to is NULL, and every
 *     struct is unchanged.
 *  2. Errors. The last parameter of such a function is a `tma_jit_error**`, or NULL if only the status is needed.
 *     It is always written: NULL after success, else an error with a code, a reason, a one-line message (what, where,
 *     with which values), a detail of zero or more lines and a suggestion. The caller frees it. No error
 *     state is kept between calls or shared between threads.
 *  3. Handles. A handle from a `*_create`, `tma_jit_emit`, `tma_jit_build`, `tma_jit_warm_requests`,
 *     `tma_jit_cache_read` or `tma_jit_prepare*` belongs to the caller, who frees it with the `*_free` of its type.
 *     Freeing NULL does nothing. A `const` handle that a function returns belongs to the object passed to it.
 *  4. Strings are UTF-8 and end with a zero byte. Those passed to a function are copied before it returns. A
 *     `const char*` that a function returns lives as long as the object passed to it, or for ever if there is no
 *     object. A string from a `char** out` belongs to the caller, who frees it with tma_jit_string_free.
 *  5. Lifetime. Launches, functions and buffers may outlive their engine. Plans, sources, artifacts and requests are
 *     plain values that any engine accepts.
 *  6. Threads. An engine and a function may be used by any number of threads at once. One thread at a time may use one
 *     request, one launch or one buffer; different ones are independent. Values that are only read may be shared.
 *  7. NULL where a pointer is required is TMA_JIT_INVALID_ARGUMENT, never a crash, and so are numbers out of range.
 *     Where NULL is allowed, the function's comment says so. The use of a freed handle is not detected.
 *  8. Structs that may grow begin with `size`, which the caller sets to sizeof the struct as compiled. Fields that the
 *     caller's header lacks count as zero; fields that the library lacks must be zero. tma_jit_tensor
 *     never grows.
 *  9. Unset. In every struct that the caller fills, zero or NULL means unset, and the default given beside the field
 *     applies: zero the whole struct, set `size`, then the fields needed. Where a feature can be switched off (no
 *     limit, no wait, no warm-up) the value for that is TMA_JIT_NONE: -1, which is UINT64_MAX in a uint64_t. Other
 *     negative numbers are TMA_JIT_INVALID_ARGUMENT. In structs that the library fills, zero, NULL or "" means absent
 *     or unknown.
 * 10. Exceptions never leave a function, nor does the library print: warnings go to the engine's log.
 * 11. Types. Addresses of device memory are uint64_t, streams are CUDA's own (a CUstream or cudaStream_t), flags are
 *     int32_t, 0 or 1. Enumerations are int32_t, so that their size does not depend on a compiler.
 * 12. Versions. Within one major version functions and constants are added, never changed. tma_jit_version() returns
 *     the library's version; TMA_JIT_VERSION is the header's.
 *
 * The stages and the fields of a request are documented in engine.h, request.h, plan.h, launch.h, device.h,
 * cache.h and compile_worker.h.
 */
#ifndef TMA_JIT_C_H
#define TMA_JIT_C_H

#include <stddef.h>
#include <stdint.h>

#include <tma_jit/export.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

/* 10000 * major + 100 * minor + patch */
#define TMA_JIT_VERSION 100
TMA_JIT_API int32_t tma_jit_version(void);

/* Switches off a limit, wait or count whose zero means a default (convention 9). */
#define TMA_JIT_NONE (-1)

/* ---- status and errors ----------------------------------------------------------------------------------------- */

typedef int32_t tma_jit_status;
enum {
  TMA_JIT_OK = 0,
  TMA_JIT_INVALID_ARGUMENT = 1, /* a request, tensor, option or file the caller supplied is wrong */
  TMA_JIT_NOT_FOUND = 2,        /* no such kernel, file, parameter, device */
  TMA_JIT_PARSE = 3,            /* a manifest or expression does not parse */
  TMA_JIT_NO_CONFIG = 4,        /* no configuration of the kernel satisfies the request */
  TMA_JIT_UNSUPPORTED = 5,      /* the device, driver or compiler lacks a required feature */
  TMA_JIT_COMPILE = 6,          /* NVRTC rejected the source */
  TMA_JIT_NVRTC = 7,            /* NVRTC is missing or failed */
  TMA_JIT_DRIVER = 8,           /* libcuda is missing or returned an error */
  TMA_JIT_IO = 9,               /* a file could not be read or written */
  TMA_JIT_CRASH = 10,           /* the compiler crashed, hung or was killed, twice; only its worker process is lost */
  TMA_JIT_SEALED = 11,          /* a compile is needed, but the engine is sealed */
  TMA_JIT_CANCELLED = 12,       /* cancelled before it had begun */
  TMA_JIT_NO_MEMORY = 100,      /* the host has no memory left */
  TMA_JIT_INTERNAL = 101        /* a defect of the library: please report it */
};

/* Returns the name with which messages begin, e.g. "no_config"; "unknown" if the value is not a status. */
TMA_JIT_API const char* tma_jit_status_name(tma_jit_status status);

/* Distinguishes the cases within one status that a program may handle differently; error.h says when each occurs. */
typedef int32_t tma_jit_reason;
enum {
  TMA_JIT_REASON_UNSPECIFIED = 0,
  TMA_JIT_REASON_UNKNOWN_NAME = 1,
  TMA_JIT_REASON_LIBRARY_MISSING = 2,
  TMA_JIT_REASON_EMULATOR_MISSING = 3,
  TMA_JIT_REASON_LIBRARY_OUTDATED = 4,
  TMA_JIT_REASON_LIBRARY_REPLACED = 5,
  TMA_JIT_REASON_IMAGE_REFUSED = 6,
  TMA_JIT_REASON_NO_DEVICE = 7,
  TMA_JIT_REASON_OUT_OF_MEMORY = 8,
  TMA_JIT_REASON_FORKED = 9,
  TMA_JIT_REASON_TARGET_UNKNOWN = 10,
  TMA_JIT_REASON_NO_TEMPLATE = 11,
  TMA_JIT_REASON_COMPILER_CRASHED = 12,
  TMA_JIT_REASON_COMPILER_HUNG = 13,
  TMA_JIT_REASON_COMPILER_KILLED = 14,
  TMA_JIT_REASON_COMPILER_MEMORY = 15,
  TMA_JIT_REASON_COMPILER_LOST = 16,
  TMA_JIT_REASON_CRASHED_BEFORE = 17
};
/* Returns the name, e.g. "compiler_hung"; "unknown" if the value is not a reason. */
TMA_JIT_API const char* tma_jit_reason_name(tma_jit_reason reason);

typedef struct tma_jit_error tma_jit_error;
TMA_JIT_API tma_jit_status tma_jit_error_code(const tma_jit_error* error);
TMA_JIT_API tma_jit_reason tma_jit_error_reason(const tma_jit_error* error);
TMA_JIT_API const char* tma_jit_error_message(const tma_jit_error* error);
TMA_JIT_API const char* tma_jit_error_detail(const tma_jit_error* error);
/* Returns the name that was probably meant; "" if none is close. */
TMA_JIT_API const char* tma_jit_error_suggestion(const tma_jit_error* error);
/* Returns the whole error for display: "code: message", the suggestion, and then the detail, indented. */
TMA_JIT_API const char* tma_jit_error_text(const tma_jit_error* error);
TMA_JIT_API void tma_jit_error_free(tma_jit_error* error);

TMA_JIT_API void tma_jit_string_free(char* string);

/* ---- tensors --------------------------------------------------------------------------------------------------- */

typedef int32_t tma_jit_dtype;
enum {
  TMA_JIT_U8 = 0,
  TMA_JIT_S8 = 1,
  TMA_JIT_U16 = 2,
  TMA_JIT_S16 = 3,
  TMA_JIT_U32 = 4,
  TMA_JIT_S32 = 5,
  TMA_JIT_U64 = 6,
  TMA_JIT_S64 = 7,
  TMA_JIT_F16 = 8,
  TMA_JIT_BF16 = 9,
  TMA_JIT_F32 = 10,
  TMA_JIT_F64 = 11,
  TMA_JIT_E4M3 = 12,
  TMA_JIT_E5M2 = 13
};

/* Returns the name, e.g. "bf16"; NULL if there is no such type. */
TMA_JIT_API const char* tma_jit_dtype_name(tma_jit_dtype dtype);
/* Returns the size of one element in bytes; 0 if there is no such type. */
TMA_JIT_API size_t tma_jit_dtype_size(tma_jit_dtype dtype);
TMA_JIT_API tma_jit_status tma_jit_dtype_named(const char* name, tma_jit_dtype* out, tma_jit_error** error);

/* A view of device memory, which it does not own. Shape and strides are in elements, outermost dimension first. A
 * zeroed struct, of rank 0 and address 0, stands for an absent optional tensor. */
#define TMA_JIT_MAX_RANK 5
typedef struct tma_jit_tensor {
  uint64_t address;
  tma_jit_dtype dtype;
  int32_t rank;
  int64_t shape[TMA_JIT_MAX_RANK];
  int64_t strides[TMA_JIT_MAX_RANK];
} tma_jit_tensor;

/* Describes a packed tensor: the last dimension is contiguous. */
TMA_JIT_API tma_jit_status tma_jit_tensor_row_major(uint64_t address, tma_jit_dtype dtype, int32_t rank,
                                                    const int64_t* shape, tma_jit_tensor* out, tma_jit_error** error);

/* ---- devices by name ------------------------------------------------------------------------------------------- */

/* Sizes in bytes, clocks in MHz, bandwidth in GB/s (10^9), rates in TFLOP/s (dense). Zero means unknown. */
typedef struct tma_jit_device_info {
  size_t size;
  char name[64];
  char arch[16];
  int32_t compute_capability;
  int32_t sm_count;
  int64_t smem_per_block;
  int64_t smem_per_sm;
  int64_t registers_per_sm;
  int32_t threads_per_block;
  int32_t threads_per_sm;
  int32_t cluster_max;
  int32_t multicast;
  int64_t l2_bytes;
  int64_t memory_bytes;
  double clock_mhz;
  double memory_gb_per_s;
  double bf16_tflops;
  double f32_tflops;
} tma_jit_device_info;

TMA_JIT_API size_t tma_jit_known_device_count(void);
/* NULL if `index` is out of range. */
TMA_JIT_API const char* tma_jit_known_device(size_t index);
TMA_JIT_API tma_jit_status tma_jit_device_named(const char* name, tma_jit_device_info* out, tma_jit_error** error);
/* Turns "sm_121" into "sm_121a"; an exact target is returned unchanged. */
TMA_JIT_API tma_jit_status tma_jit_normalise_arch(const char* arch, char** out, tma_jit_error** error);

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
/* Called from any thread, one call at a time per engine. Must return normally (no longjmp or exception). `message` is
 * valid until it returns. */
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
  const char* record_requests; /* file that gets a line for every request that is prepared, compiled or found, once */
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
  uint64_t remote_refused; /* answers that were not the entry asked for, or not signed as they must be */
  uint64_t remote_skipped; /* the server was not asked, because it had failed before */
  uint64_t remote_uploads;
  uint64_t remote_upload_failures;
  uint64_t remote_off;       /* 1 while the server is not asked, because it has failed */
  uint64_t problems_tuned;   /* by the policies AT_START and BACKGROUND */
  uint64_t launches_swapped; /* shapes of functions that use a faster configuration since their first call */
  uint64_t tuning_failures;
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

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* A request for a kernel. Setting a name again replaces its value; names are checked when the request is planned. */
typedef struct tma_jit_request tma_jit_request;
TMA_JIT_API tma_jit_status tma_jit_request_create(const char* kernel, tma_jit_request** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_request_free(tma_jit_request* request);

TMA_JIT_API tma_jit_status tma_jit_request_tensor(tma_jit_request* request, const char* name,
                                                  const tma_jit_tensor* tensor, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_request_dim(tma_jit_request* request, const char* name, int64_t value,
                                               tma_jit_error** error);
/* Compiles the dim in as a constant; its value comes from a tensor or from tma_jit_request_dim. */
TMA_JIT_API tma_jit_status tma_jit_request_fix_dim(tma_jit_request* request, const char* name, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_request_type(tma_jit_request* request, const char* name, tma_jit_dtype dtype,
                                                tma_jit_error** error);
/* Pins a parameter: only configurations with this value are considered. */
TMA_JIT_API tma_jit_status tma_jit_request_param(tma_jit_request* request, const char* name, int64_t value,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_request_scalar_integer(tma_jit_request* request, const char* name, int64_t value,
                                                          tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_request_scalar_real(tma_jit_request* request, const char* name, double value,
                                                       tma_jit_error** error);
/* The CUDA text of a hook: an expression, or a body that contains ';'. */
TMA_JIT_API tma_jit_status tma_jit_request_hook(tma_jit_request* request, const char* name, const char* text,
                                                tma_jit_error** error);
/* Declares what hooks read besides their arguments, as a template declares a tensor or a scalar: "bias : f32[N]",
 * "alpha : f32 = 1". tma_jit_request_tensor and tma_jit_request_scalar_real give its value. */
TMA_JIT_API tma_jit_status tma_jit_request_operand(tma_jit_request* request, const char* declaration,
                                                   tma_jit_error** error);
/* The texts of this request's hooks are untrusted: each must be one expression of the hook's arguments, operands,
 * numbers, operators, conversions to number types and CUDA's math functions. */
TMA_JIT_API tma_jit_status tma_jit_request_untrusted_hooks(tma_jit_request* request, int32_t untrusted,
                                                           tma_jit_error** error);
/* Gives device memory for a workspace; the engine allocates those that are not given. */
TMA_JIT_API tma_jit_status tma_jit_request_workspace(tma_jit_request* request, const char* name, uint64_t address,
                                                     tma_jit_error** error);
/* Runs the template's float64 reference: outputs are f64. */
TMA_JIT_API tma_jit_status tma_jit_request_reference(tma_jit_request* request, int32_t reference,
                                                     tma_jit_error** error);
/* Restricts the request to the template file of this stem, e.g. "gemm_mma"; NULL: any file. */
TMA_JIT_API tma_jit_status tma_jit_request_file(tma_jit_request* request, const char* stem, tma_jit_error** error);

/* Plans an optional tensor as present although it is not given yet. */
TMA_JIT_API tma_jit_status tma_jit_request_present(tma_jit_request* request, const char* tensor, tma_jit_error** error);

typedef int32_t tma_jit_extents;
enum {
  TMA_JIT_EXTENTS_RAGGED = 0, /* multiples of 8 elements */
  TMA_JIT_EXTENTS_WHOLE = 1,  /* multiples of 32: whole tiles */
  TMA_JIT_EXTENTS_ODD = 2     /* odd, except where a rule forbids it */
};
/* Completes the request to a problem that the kernel accepts: dims, and hooks and scalars without a default (engine.h).
 * Every dim whose range allows it is at least `least`. */
TMA_JIT_API tma_jit_status tma_jit_example(tma_jit_engine* engine, const tma_jit_request* request,
                                           tma_jit_extents extents, int64_t least, tma_jit_request** out,
                                           tma_jit_error** error);

/* Returns one request for every preset (and the defaults) of every file of a kernel that serves the engine's
 * target, for every choice of its types. `dims` and `values` are `dim_count` pairs; other dims are 1024. */
typedef struct tma_jit_presets tma_jit_presets;
TMA_JIT_API tma_jit_status tma_jit_presets_create(tma_jit_engine* engine, const char* kernel, const char* const* dims,
                                                  const int64_t* values, size_t dim_count, tma_jit_presets** out,
                                                  tma_jit_error** error);
TMA_JIT_API size_t tma_jit_presets_count(const tma_jit_presets* presets);
/* NULL if `index` is out of range. */
TMA_JIT_API const tma_jit_request* tma_jit_presets_at(const tma_jit_presets* presets, size_t index);
TMA_JIT_API void tma_jit_presets_free(tma_jit_presets* presets);

/* ---- plans: every decision about one launch -------------------------------------------------------------------- */

typedef struct tma_jit_geometry {
  size_t size;
  uint32_t grid[3]; /* if any is zero, the launch is empty */
  uint32_t block[3];
  uint32_t cluster[3];
  uint32_t smem_bytes; /* dynamic shared memory */
  int32_t programmatic;
} tma_jit_geometry;

typedef struct tma_jit_plan tma_jit_plan;
TMA_JIT_API tma_jit_status tma_jit_plan_create(tma_jit_engine* engine, const tma_jit_request* request,
                                               tma_jit_plan** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_plan_free(tma_jit_plan* plan);

/* These are NULL for a NULL plan. */
TMA_JIT_API const char* tma_jit_plan_kernel(const tma_jit_plan* plan);
TMA_JIT_API const char* tma_jit_plan_entry(const tma_jit_plan* plan);
TMA_JIT_API const char* tma_jit_plan_file(const tma_jit_plan* plan);
TMA_JIT_API const char* tma_jit_plan_arch(const tma_jit_plan* plan);
TMA_JIT_API tma_jit_status tma_jit_plan_geometry(const tma_jit_plan* plan, tma_jit_geometry* out,
                                                 tma_jit_error** error);
/* Returns a parameter's chosen value. */
TMA_JIT_API tma_jit_status tma_jit_plan_param(const tma_jit_plan* plan, const char* name, int64_t* out,
                                              tma_jit_error** error);
/* Returns the floating-point operations and the compulsory memory traffic in bytes of one launch; 0 if the template
 * does not state them. */
TMA_JIT_API tma_jit_status tma_jit_plan_work(const tma_jit_plan* plan, double* flops, double* bytes,
                                             tma_jit_error** error);
/* Returns in one line why the plan differs from that for packed tensors at aligned addresses; "" if it does not. */
TMA_JIT_API const char* tma_jit_plan_reason(const tma_jit_plan* plan);
/* Returns a dim's value. */
TMA_JIT_API tma_jit_status tma_jit_plan_dim(const tma_jit_plan* plan, const char* name, int64_t* out,
                                            tma_jit_error** error);
/* Device memory that a launch needs besides its tensors. `name` lives as long as the plan. */
typedef struct tma_jit_workspace {
  size_t size;
  const char* name;
  uint64_t bytes;
  uint64_t alignment; /* of its address */
  int32_t zeroed;     /* must be zero: the engine clears what it allocates, the caller what it gives */
  int32_t given;      /* whether the request gives its address; else the engine allocates it */
} tma_jit_workspace;
/* 0 for a NULL plan. */
TMA_JIT_API size_t tma_jit_plan_workspace_count(const tma_jit_plan* plan);
TMA_JIT_API tma_jit_status tma_jit_plan_workspace(const tma_jit_plan* plan, size_t index, tma_jit_workspace* out,
                                                  tma_jit_error** error);
/* Returns the whole plan, as `tma-jit plan --json` prints it. */
TMA_JIT_API tma_jit_status tma_jit_plan_json(const tma_jit_plan* plan, char** out, tma_jit_error** error);
/* Returns the time of one launch on a device that need not be present, computed from the plan and the device's facts:
 * {time_us, bound, share, peak_tflops, waves, tail, blocks_per_sm, terms, flops, shared_memory_bytes, l2_bytes,
 * hbm_bytes, described, origin}, whose meanings estimate.h has. Needs no GPU. */
TMA_JIT_API tma_jit_status tma_jit_plan_estimate_json(const tma_jit_plan* plan, const tma_jit_device_info* device,
                                                      char** out, tma_jit_error** error);

/* Returns how the configuration is chosen: {file, configurations, valid, rules, valid_configs}. */
TMA_JIT_API tma_jit_status tma_jit_enumerate_json(tma_jit_engine* engine, const tma_jit_request* request, char** out,
                                                  tma_jit_error** error);

/* ---- sources and artifacts ------------------------------------------------------------------------------------- */

/* The input of NVRTC: one text, the headers it may include, its options. */
typedef struct tma_jit_source tma_jit_source;
TMA_JIT_API tma_jit_status tma_jit_emit(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_source** out,
                                        tma_jit_error** error);
TMA_JIT_API void tma_jit_source_free(tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_name(const tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_text(const tma_jit_source* source);
TMA_JIT_API size_t tma_jit_source_header_count(const tma_jit_source* source);
/* These are NULL if `index` is out of range. */
TMA_JIT_API const char* tma_jit_source_header_name(const tma_jit_source* source, size_t index);
TMA_JIT_API const char* tma_jit_source_header_text(const tma_jit_source* source, size_t index);
TMA_JIT_API size_t tma_jit_source_option_count(const tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_option(const tma_jit_source* source, size_t index);

/* Returns one file that nvcc compiles unchanged. */
TMA_JIT_API tma_jit_status tma_jit_emit_standalone(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                                   tma_jit_error** error);
/* Returns the SHA-256 of everything that can change the artifact, as 64 hexadecimal digits. */
TMA_JIT_API tma_jit_status tma_jit_key(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                       tma_jit_error** error);

/* Returns why a kernel is or is not in the cache: {key, found, where, fault, nearest, differences [{field, here,
 * there}]}. */
TMA_JIT_API tma_jit_status tma_jit_explain_json(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                                tma_jit_error** error);

/* What ptxas reported; bytes are per thread unless they are shared memory. */
typedef struct tma_jit_resources {
  size_t size;
  int32_t registers;
  int32_t compiled; /* 0: it came from a cache */
  double compile_ms;
  int64_t spill_store_bytes;
  int64_t spill_load_bytes;
  int64_t stack_bytes;
  int64_t static_shared_bytes;
} tma_jit_resources;

typedef struct tma_jit_artifact tma_jit_artifact;
TMA_JIT_API tma_jit_status tma_jit_build(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_artifact** out,
                                         tma_jit_error** error);
TMA_JIT_API void tma_jit_artifact_free(tma_jit_artifact* artifact);
/* Returns what the engine's driver loads: an ELF image, or PTX with its terminating zero if the driver executes PTX.
 * `bytes` may be NULL. NULL for a NULL artifact. */
TMA_JIT_API const void* tma_jit_artifact_data(const tma_jit_artifact* artifact, size_t* bytes);
/* 1 for PTX, 0 for a cubin. */
TMA_JIT_API int32_t tma_jit_artifact_is_ptx(const tma_jit_artifact* artifact);
TMA_JIT_API const char* tma_jit_artifact_entry(const tma_jit_artifact* artifact);
TMA_JIT_API const char* tma_jit_artifact_arch(const tma_jit_artifact* artifact);
TMA_JIT_API const char* tma_jit_artifact_key(const tma_jit_artifact* artifact);
TMA_JIT_API size_t tma_jit_artifact_warning_count(const tma_jit_artifact* artifact);
TMA_JIT_API const char* tma_jit_artifact_warning(const tma_jit_artifact* artifact, size_t index);
TMA_JIT_API tma_jit_status tma_jit_artifact_resources(const tma_jit_artifact* artifact, tma_jit_resources* out,
                                                      tma_jit_error** error);
/* Returns PTX instead of a cubin; never cached. */
TMA_JIT_API tma_jit_status tma_jit_build_ptx(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                             tma_jit_error** error);

/* ---- launches -------------------------------------------------------------------------------------------------- */

/* CUDA's stream; NULL is the legacy default stream. */
typedef struct CUstream_st* tma_jit_stream;

/* A loaded kernel with its arguments. A captured launch must outlive the graph's replays. */
typedef struct tma_jit_launch tma_jit_launch;
/* May compile. */
TMA_JIT_API tma_jit_status tma_jit_prepare(tma_jit_engine* engine, const tma_jit_request* request, tma_jit_launch** out,
                                           tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_prepare_plan(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_launch** out,
                                                tma_jit_error** error);
TMA_JIT_API void tma_jit_launch_free(tma_jit_launch* launch);
/* Calls cuLaunchKernelEx once on the launch's device. The thread's current context may be any and stays current. */
TMA_JIT_API tma_jit_status tma_jit_launch_run(tma_jit_launch* launch, tma_jit_stream stream, tma_jit_error** error);
/* Replaces the address of a tensor or of a caller's workspace; shape, type and alignment must stay the same. */
TMA_JIT_API tma_jit_status tma_jit_launch_rebind(tma_jit_launch* launch, const char* name, uint64_t address,
                                                 tma_jit_error** error);
/* These are NULL for a NULL launch. */
TMA_JIT_API const tma_jit_plan* tma_jit_launch_plan(const tma_jit_launch* launch);
TMA_JIT_API const tma_jit_artifact* tma_jit_launch_artifact(const tma_jit_launch* launch);

/* Launches that depend on each other, prepared together and launched with one call. A stage sees all that the stages
 * before it wrote. Where its kernel's template allows, its blocks start while the stage before still runs, and load
 * what no earlier stage writes, such as weights. One thread at a time may run a chain. A captured chain must outlive
 * the graph's replays. It may outlive its engine. */
typedef struct tma_jit_chain tma_jit_chain;
/* Prepares the requests in the order in which they are launched. Every tensor has its address. May compile. Fails
 * (TMA_JIT_INVALID_ARGUMENT) where a stage reads more than, or another type than, an earlier one writes there. */
TMA_JIT_API tma_jit_status tma_jit_chain_create(tma_jit_engine* engine, const tma_jit_request* const* stages,
                                                size_t count, tma_jit_chain** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_chain_free(tma_jit_chain* chain);
/* Calls cuLaunchKernelEx once a stage. After an error the stages behind the failed one are not launched. */
TMA_JIT_API tma_jit_status tma_jit_chain_run(tma_jit_chain* chain, tma_jit_stream stream, tma_jit_error** error);
/* The number of stages; 0 for a NULL chain. */
TMA_JIT_API size_t tma_jit_chain_size(const tma_jit_chain* chain);
/* NULL for a NULL chain and if there is no such stage. The geometry says whether it is launched programmatically. */
TMA_JIT_API const tma_jit_plan* tma_jit_chain_plan(const tma_jit_chain* chain, size_t stage);

/* Called after each prepared request in a thread of the library, one call at a time. Must return normally, and must
 * neither wait for the preparation nor free it or its engine. Not called for cancelled requests. */
typedef void (*tma_jit_progress)(size_t done, size_t total, void* user);

typedef struct tma_jit_prepare_options {
  size_t size;
  tma_jit_progress progress; /* may be NULL */
  void* progress_user;
  int32_t threads; /* threads that plan, compile and load; 0: as many as compiles run at once */
} tma_jit_prepare_options;

/* Requests that are prepared in the background. Any number of threads may use it at once. Freeing it, or its
 * engine, cancels requests that have not begun and waits for those that have. It may outlive its engine. */
typedef struct tma_jit_preparation tma_jit_preparation;
/* Returns at once. The requests are copied. `options` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_prepare_async(tma_jit_engine* engine, const tma_jit_request* const* requests,
                                                 size_t count, const tma_jit_prepare_options* options,
                                                 tma_jit_preparation** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_preparation_free(tma_jit_preparation* preparation);
/* These are 0 for a NULL preparation. `done` counts the requests that have a result, including an error. */
TMA_JIT_API size_t tma_jit_preparation_total(const tma_jit_preparation* preparation);
TMA_JIT_API size_t tma_jit_preparation_done(const tma_jit_preparation* preparation);
/* Cancels the requests that have not begun; their result is TMA_JIT_CANCELLED. Returns at once. */
TMA_JIT_API tma_jit_status tma_jit_preparation_cancel(tma_jit_preparation* preparation, tma_jit_error** error);
/* Waits until every request has a result, for at most `limit_s` seconds; TMA_JIT_NONE: no limit. `finished` is set to
 * whether all have one, and may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_preparation_wait(tma_jit_preparation* preparation, double limit_s, int32_t* finished,
                                                    tma_jit_error** error);
/* Waits for the result of the request at `index` and returns it. Each result is returned once. */
TMA_JIT_API tma_jit_status tma_jit_preparation_take(tma_jit_preparation* preparation, size_t index,
                                                    tma_jit_launch** out, tma_jit_error** error);

/* A kernel called with tensors each time, in the order in which its template declares them: the first call for a
 * shape prepares a launch, later calls find it. The request gives everything but the tensors. Optional tensors that the
 * pinned params, or the defaults of the others, exclude may all be left out. */
typedef struct tma_jit_function tma_jit_function;
TMA_JIT_API tma_jit_status tma_jit_function_create(tma_jit_engine* engine, const tma_jit_request* request,
                                                   tma_jit_function** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_function_free(tma_jit_function* function);
TMA_JIT_API tma_jit_status tma_jit_function_call(tma_jit_function* function, const tma_jit_tensor* tensors,
                                                 size_t count, tma_jit_stream stream, tma_jit_error** error);

/* ---- device memory and time ------------------------------------------------------------------------------------ */

/* Memory of the engine's device. Copies and fills run after the default stream's earlier work and are complete
 * when they return. */
typedef struct tma_jit_buffer tma_jit_buffer;
TMA_JIT_API tma_jit_status tma_jit_buffer_create(tma_jit_engine* engine, size_t bytes, tma_jit_buffer** out,
                                                 tma_jit_error** error);
TMA_JIT_API void tma_jit_buffer_free(tma_jit_buffer* buffer);
TMA_JIT_API uint64_t tma_jit_buffer_address(const tma_jit_buffer* buffer);
TMA_JIT_API size_t tma_jit_buffer_bytes(const tma_jit_buffer* buffer);
/* `source` and `destination` may be NULL where `bytes` is 0. */
TMA_JIT_API tma_jit_status tma_jit_buffer_upload(tma_jit_buffer* buffer, const void* source, size_t bytes,
                                                 size_t offset, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_buffer_download(const tma_jit_buffer* buffer, void* destination, size_t bytes,
                                                   size_t offset, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_buffer_fill(tma_jit_buffer* buffer, uint8_t byte, tma_jit_error** error);

/* Waits for all work submitted to the engine's device. */
TMA_JIT_API tma_jit_status tma_jit_synchronize(tma_jit_engine* engine, tma_jit_error** error);

/* Checks the eight words that a bounded wait writes to global memory, copied to the host: TMA_JIT_OK if `record[0]` is
 * 0, else TMA_JIT_DRIVER with the thread, the barrier and what did not arrive (tma_jit/lost_arrival.h). */
TMA_JIT_API tma_jit_status tma_jit_check_lost_arrival(const uint32_t* record, tma_jit_error** error);

typedef struct tma_jit_measure_options {
  size_t size;
  int32_t warmups;       /* 0: 3; TMA_JIT_NONE: none */
  int32_t repeats;       /* 0: 30 */
  int32_t host_launches; /* 0: 2000; TMA_JIT_NONE: none, and no host cost */
  int32_t keep_l2;       /* leave the L2 cache warm between launches */
} tma_jit_measure_options;

/* Times in microseconds. */
typedef struct tma_jit_measurement {
  size_t size;
  double median_us; /* device time of one launch, measured with events */
  double min_us;
  double max_us;
  double host_us; /* host time of one launch call */
  int32_t repeats;
  int32_t flushed_l2;
} tma_jit_measurement;

/* `options` may be NULL. Waits for the device before it starts. */
TMA_JIT_API tma_jit_status tma_jit_measure(tma_jit_engine* engine, tma_jit_launch* launch,
                                           const tma_jit_measure_options* options, tma_jit_measurement* out,
                                           tma_jit_error** error);

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

#endif /* TMA_JIT_C_H */
