/* The C API: every stage of the engine for C, and for languages that call C (Python's ctypes, Rust, Go, Julia).
 *
 * CONVENTIONS
 *
 *  1. Status. A function that can fail returns a tma_jit_status: TMA_JIT_OK (0) or the reason. Its results come
 *     through pointers named `out`. After a failure every handle and string that `out` points to is NULL, every struct
 *     as it was.
 *  2. Errors. The last parameter of such a function is a `tma_jit_error**`, or NULL where only the status is wanted.
 *     It is always written: NULL after success, else an error with a code, a reason, a one-line message (what, where,
 *     with which values), a detail of zero or more lines and a suggestion. The caller frees it. There is no error
 *     state between calls or threads.
 *  3. Handles. What a `*_create`, `tma_jit_emit`, `tma_jit_build`, `tma_jit_warm_requests`, `tma_jit_cache_read` or
 *     `tma_jit_prepare*` makes belongs to the caller, who ends it with the `*_free` of its type. Freeing NULL does
 *     nothing. What a function only shows (a `const` handle) belongs to the object it was asked of.
 *  4. Strings are UTF-8 and end with a zero byte. Those given to a function are copied before it returns. A
 *     `const char*` that a function returns lives as long as the object it was asked of, or for ever where there is no
 *     object. A `char** out` is a string of the caller's, to be freed with tma_jit_string_free.
 *  5. Lifetime. Launches, functions and buffers may outlive their engine. Plans, sources, artifacts and requests are
 * plain values, of use with any engine.
 *  6. Threads. An engine and a function may be used by any number of threads at once. One thread at a time may use one
 *     request, one launch or one buffer; different ones are independent. Values that are only read may be shared.
 *  7. NULL where a pointer is required is TMA_JIT_INVALID_ARGUMENT, never a crash, and so are numbers out of range.
 *     Where NULL is allowed, the function says so. A handle that was freed is beyond checking.
 *  8. Structs that may grow begin with `size`, which the caller sets to sizeof the struct as compiled. Fields that the
 *     caller's header does not have count as zero; fields that the library does not have must be zero. tma_jit_tensor
 *     never grows.
 *  9. Unset. In every struct that the caller fills, zero or NULL is unset, and the default holds, which is given beside
 *     the field: zero the whole struct, set `size`, then what matters. Where doing without is a choice (no limit, no
 *     wait, no warm-up) that is TMA_JIT_NONE: -1, which is UINT64_MAX in a uint64_t. Other numbers below zero are
 *     TMA_JIT_INVALID_ARGUMENT. In what the library fills, zero, NULL or "" is what is not there or not known.
 * 10. Exceptions never leave a function, nor does the library print: warnings go to the engine's log.
 * 11. Types. Addresses of device memory are uint64_t, streams are CUDA's own (a CUstream or cudaStream_t), flags are
 *     int32_t, 0 or 1. Enumerations are int32_t, so that their size does not depend on a compiler.
 * 12. Versions. Within one major version functions and constants are added, never changed. tma_jit_version() tells the
 *     library's, TMA_JIT_VERSION the header's.
 *
 * What a stage does, and what a request may say, is documented in engine.h, request.h, plan.h, launch.h, device.h,
 * cache.h and compile_worker.h.
 */
#ifndef TMA_JIT_C_H
#define TMA_JIT_C_H

#include <stddef.h>
#include <stdint.h>

#include <tma_jit/export.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C has names and typedefs of its own */

#ifdef __cplusplus
extern "C" {
#endif

/* 10000 * major + 100 * minor + patch */
#define TMA_JIT_VERSION 100
TMA_JIT_API int32_t tma_jit_version(void);

/* In a field whose zero is a default: do without (convention 9). */
#define TMA_JIT_NONE (-1)

/* ---- status and errors ----------------------------------------------------------------------------------------- */

typedef int32_t tma_jit_status;
enum {
  TMA_JIT_OK = 0,
  TMA_JIT_INVALID_ARGUMENT = 1, /* a request, tensor, option or file the caller supplied is wrong */
  TMA_JIT_NOT_FOUND = 2,        /* no such kernel, file, parameter, device */
  TMA_JIT_PARSE = 3,            /* a manifest or expression does not parse */
  TMA_JIT_NO_CONFIG = 4,        /* no configuration of the kernel satisfies the request */
  TMA_JIT_UNSUPPORTED = 5,      /* the device, driver or compiler lacks what is asked for */
  TMA_JIT_COMPILE = 6,          /* NVRTC refused the source */
  TMA_JIT_NVRTC = 7,            /* NVRTC is missing or failed */
  TMA_JIT_DRIVER = 8,           /* libcuda is missing or returned an error */
  TMA_JIT_IO = 9,               /* a file could not be read or written */
  TMA_JIT_CRASH = 10,           /* the compiler crashed, hung or was killed, twice; only its worker is lost */
  TMA_JIT_SEALED = 11,          /* a compile is needed, and the engine was told that none would be */
  TMA_JIT_CANCELLED = 12,       /* it was called off before it had begun */
  TMA_JIT_NO_MEMORY = 100,      /* the host has no memory left */
  TMA_JIT_INTERNAL = 101        /* a defect of the library: please report it */
};

/* "no_config", as messages begin; "unknown" for no status of this library's. */
TMA_JIT_API const char* tma_jit_status_name(tma_jit_status status);

/* What a program may want to tell apart within one status; error.h says when each occurs. */
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
/* "compiler_hung"; "unknown" for no reason of this library's. */
TMA_JIT_API const char* tma_jit_reason_name(tma_jit_reason reason);

typedef struct tma_jit_error tma_jit_error;
TMA_JIT_API tma_jit_status tma_jit_error_code(const tma_jit_error* error);
TMA_JIT_API tma_jit_reason tma_jit_error_reason(const tma_jit_error* error);
TMA_JIT_API const char* tma_jit_error_message(const tma_jit_error* error);
TMA_JIT_API const char* tma_jit_error_detail(const tma_jit_error* error);
/* The name that was probably meant; "" where none is near. */
TMA_JIT_API const char* tma_jit_error_suggestion(const tma_jit_error* error);
/* "code: message", the suggestion, and then the detail, indented: for people. */
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

/* "bf16"; NULL where there is no such type. */
TMA_JIT_API const char* tma_jit_dtype_name(tma_jit_dtype dtype);
/* Bytes of one element; 0 where there is no such type. */
TMA_JIT_API size_t tma_jit_dtype_size(tma_jit_dtype dtype);
TMA_JIT_API tma_jit_status tma_jit_dtype_named(const char* name, tma_jit_dtype* out, tma_jit_error** error);

/* A view of device memory, which it does not own. Shape and strides are in elements, outermost dimension first. Rank 0
 * and address 0, which is what zeroing it gives, stand for an absent optional tensor. */
#define TMA_JIT_MAX_RANK 5
typedef struct tma_jit_tensor {
  uint64_t address;
  tma_jit_dtype dtype;
  int32_t rank;
  int64_t shape[TMA_JIT_MAX_RANK];
  int64_t strides[TMA_JIT_MAX_RANK];
} tma_jit_tensor;

/* A packed tensor, the last dimension contiguous. */
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
/* NULL beyond the last. */
TMA_JIT_API const char* tma_jit_known_device(size_t index);
TMA_JIT_API tma_jit_status tma_jit_device_named(const char* name, tma_jit_device_info* out, tma_jit_error** error);
/* "sm_121" becomes "sm_121a". */
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
/* Called from any thread, one call at a time per engine; returns normally. `message` lives until it returns. */
typedef void (*tma_jit_log)(tma_jit_log_level level, const char* message, void* user);

/* Where NVRTC runs. */
typedef int32_t tma_jit_place;
enum {
  TMA_JIT_PLACE_AUTOMATIC = 0, /* a worker process; this one where none can be started, with one warning */
  TMA_JIT_PLACE_WORKER = 1,    /* a worker, or an error */
  TMA_JIT_PLACE_IN_PROCESS = 2 /* this process: a crash of the compiler is then a crash of it */
};

/* What an engine does when a kernel would have to be compiled. */
typedef int32_t tma_jit_seal;
enum {
  TMA_JIT_SEAL_OFF = 0,
  TMA_JIT_SEAL_WARN = 1,  /* say so, and compile */
  TMA_JIT_SEAL_REFUSE = 2 /* TMA_JIT_SEALED */
};

/* A compile that a seal did not expect. Lives, with its strings, until the callback returns. */
typedef struct tma_jit_miss {
  size_t size; /* of this struct, as the library knows it */
  const char* kernel;
  const char* arch;
  const char* key;
  const char* explanation; /* how it differs from what the cache has; lines */
} tma_jit_miss;
/* Called in the thread that asked for the kernel, from any thread; returns normally. */
typedef void (*tma_jit_miss_callback)(const tma_jit_miss* miss, void* user);

/* All of it optional; unset paths come from the environment when the engine is made (engine.h). */
typedef struct tma_jit_options {
  size_t size;
  const char* device;    /* a CUDA ordinal ("0"), "emulator:sm_90a" and its like, or a known device's name */
  const char* arch;      /* target instead of the device's own */
  const char* cache_dir; /* instead of the environment's or the user's */
  const char* nvrtc;     /* libnvrtc to load instead of searching */
  const char* const* template_dirs;
  size_t template_dir_count;
  const tma_jit_device_info* limits; /* plan with the tighter of these and the device's */
  tma_jit_log log;                   /* NULL: warnings and errors go to stderr */
  void* log_user;
  tma_jit_log_level log_level;
  int32_t no_cache;
  int32_t disable_tma;
  int32_t line_info;
  uint64_t cache_bytes;   /* beyond these the entries used longest ago are removed; 0: 2 GiB; TMA_JIT_NONE: no limit */
  uint64_t cache_entries; /* likewise; 0: 50,000; TMA_JIT_NONE: no limit */
  const char* const* cache_read_only; /* folders and packs asked after cache_dir */
  size_t cache_read_only_count;
  const char* const* cache_pack_keys; /* public keys, or folders of them, that may have signed a pack */
  size_t cache_pack_key_count;
  const char* cache_node_dir; /* this machine's own folder before cache_dir */
  double cache_wait_s;        /* for another process that compiles the same; 0: 120; TMA_JIT_NONE: no wait */
  tma_jit_place compiler_place;
  tma_jit_seal seal;            /* from the start on */
  const char* compiler_worker;  /* the worker's program, instead of searching */
  int32_t compiler_workers;     /* of this engine at a time; 0: as many as the machine takes */
  int32_t compiles_at_once;     /* on this machine, by all programs of this user; 0: by processors and memory */
  double compile_time_limit_s;  /* of one compile; 0: 300; TMA_JIT_NONE: no limit */
  uint64_t worker_memory_limit; /* of a worker's addresses, bytes; 0: 4 GiB; TMA_JIT_NONE: no limit */
  const char* record_misses;    /* file that gets a line for every kernel that had to be compiled */
  tma_jit_miss_callback on_sealed_miss;
  void* on_sealed_miss_user;
  int32_t cache_shared; /* cache_dir and what is put there may be read by every user */
} tma_jit_options;

/* Counters since the engine was made. */
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
  uint64_t unreadable; /* these five: why entries that were there were not used; together disk_faults */
  uint64_t untrusted;
  uint64_t other_format;
  uint64_t corrupt;
  uint64_t wrong_key;
  uint64_t healed; /* such entries replaced by a compile */
  uint64_t node_hits;
  uint64_t read_only_hits;
  uint64_t waits;
  uint64_t wait_timeouts;
  uint64_t lockless;
  uint64_t evicted;
  uint64_t workers_started;
  uint64_t workers_lost;    /* to crashes, time and memory limits */
  uint64_t crashes_avoided; /* configurations passed over because they crash this compiler */
  uint64_t sealed_misses;
  uint64_t misses_recorded;
} tma_jit_stats;

typedef struct tma_jit_engine tma_jit_engine;
/* `options` may be NULL. Opens nothing: device, NVRTC and cache are opened at first use. */
TMA_JIT_API tma_jit_status tma_jit_engine_create(const tma_jit_options* options, tma_jit_engine** out,
                                                 tma_jit_error** error);
TMA_JIT_API void tma_jit_engine_free(tma_jit_engine* engine);

/* A template's text under a file name ("scale.cu"), or a header's as templates include it ("device/own.cuh"). */
TMA_JIT_API tma_jit_status tma_jit_engine_add_template(tma_jit_engine* engine, const char* name, const char* text,
                                                       tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_engine_add_template_file(tma_jit_engine* engine, const char* path,
                                                            tma_jit_error** error);

/* From now on what needs a compile is refused, or told of; TMA_JIT_SEAL_OFF undoes it. At any time. */
TMA_JIT_API tma_jit_status tma_jit_engine_seal(tma_jit_engine* engine, tma_jit_seal seal, tma_jit_error** error);

/* The facts plans are made with. */
TMA_JIT_API tma_jit_status tma_jit_engine_device(tma_jit_engine* engine, tma_jit_device_info* out,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_engine_stats(tma_jit_engine* engine, tma_jit_stats* out, tma_jit_error** error);
/* NULL for a NULL engine. */
TMA_JIT_API const char* tma_jit_engine_cache_dir(const tma_jit_engine* engine);
/* What the machine offers: {driver, device, nvrtc, cache}, each with an `error` where it is missing. */
TMA_JIT_API tma_jit_status tma_jit_engine_environment_json(tma_jit_engine* engine, char** out, tma_jit_error** error);
/* {kernels [what `tma-jit show --json` says of a file], faults [error]} */
TMA_JIT_API tma_jit_status tma_jit_engine_kernels_json(tma_jit_engine* engine, char** out, tma_jit_error** error);

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* What is asked for. Setting a name again replaces what was set; names are checked when the request is planned. */
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
/* What hooks read beside their arguments, declared as a template declares a tensor or a scalar: "bias : f32[N]",
   "alpha : f32 = 1". tma_jit_request_tensor and tma_jit_request_scalar_real give what it holds. */
TMA_JIT_API tma_jit_status tma_jit_request_operand(tma_jit_request* request, const char* declaration,
                                                   tma_jit_error** error);
/* The texts of this request's hooks are not trusted: each must be one expression of the hook's arguments, operands,
   numbers, operators, conversions to number types and CUDA's math functions. */
TMA_JIT_API tma_jit_status tma_jit_request_untrusted_hooks(tma_jit_request* request, int32_t untrusted,
                                                           tma_jit_error** error);
/* Device memory for a workspace; the engine allocates those that are not given. */
TMA_JIT_API tma_jit_status tma_jit_request_workspace(tma_jit_request* request, const char* name, uint64_t address,
                                                     tma_jit_error** error);
/* Run the template's float64 reference: outputs are f64. */
TMA_JIT_API tma_jit_status tma_jit_request_reference(tma_jit_request* request, int32_t reference,
                                                     tma_jit_error** error);
/* Only the template file of this stem, e.g. "gemm_mma"; NULL: any. */
TMA_JIT_API tma_jit_status tma_jit_request_file(tma_jit_request* request, const char* stem, tma_jit_error** error);

/* An optional tensor that is to be there, where tensors are still to be made. */
TMA_JIT_API tma_jit_status tma_jit_request_present(tma_jit_request* request, const char* tensor, tma_jit_error** error);

typedef int32_t tma_jit_extents;
enum {
  TMA_JIT_EXTENTS_RAGGED = 0, /* multiples of 8 elements */
  TMA_JIT_EXTENTS_WHOLE = 1,  /* whole tiles */
  TMA_JIT_EXTENTS_ODD = 2     /* odd where rules allow it */
};
/* The request with dims that the kernel takes, and with hooks and scalars where those have no default (example.h).
 * Every dim whose range allows it is at least `least`. */
TMA_JIT_API tma_jit_status tma_jit_example(tma_jit_engine* engine, const tma_jit_request* request,
                                           tma_jit_extents extents, int64_t least, tma_jit_request** out,
                                           tma_jit_error** error);

/* One request for every preset (and the defaults) of every file of a kernel that serves the engine's target, for every
 * choice of its types. `dims` and `values` are `dim_count` pairs; dims not among them are 1024. */
typedef struct tma_jit_presets tma_jit_presets;
TMA_JIT_API tma_jit_status tma_jit_presets_create(tma_jit_engine* engine, const char* kernel, const char* const* dims,
                                                  const int64_t* values, size_t dim_count, tma_jit_presets** out,
                                                  tma_jit_error** error);
TMA_JIT_API size_t tma_jit_presets_count(const tma_jit_presets* presets);
/* NULL beyond the last. */
TMA_JIT_API const tma_jit_request* tma_jit_presets_at(const tma_jit_presets* presets, size_t index);
TMA_JIT_API void tma_jit_presets_free(tma_jit_presets* presets);

/* ---- plans: every decision about one launch -------------------------------------------------------------------- */

typedef struct tma_jit_geometry {
  size_t size;
  uint32_t grid[3]; /* any zero: nothing to do */
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
/* A parameter's chosen value. */
TMA_JIT_API tma_jit_status tma_jit_plan_param(const tma_jit_plan* plan, const char* name, int64_t* out,
                                              tma_jit_error** error);
/* Floating-point operations and compulsory bytes of one launch; 0 where the template does not say. */
TMA_JIT_API tma_jit_status tma_jit_plan_work(const tma_jit_plan* plan, double* flops, double* bytes,
                                             tma_jit_error** error);
/* Why this is not the plan of packed tensors at aligned addresses, in one line; "" where it is. */
TMA_JIT_API const char* tma_jit_plan_reason(const tma_jit_plan* plan);
/* A dim's value. */
TMA_JIT_API tma_jit_status tma_jit_plan_dim(const tma_jit_plan* plan, const char* name, int64_t* out,
                                            tma_jit_error** error);
/* Device memory that a launch needs beside its tensors. `name` lives as long as the plan. */
typedef struct tma_jit_workspace {
  size_t size;
  const char* name;
  uint64_t bytes;
  uint64_t alignment; /* of its address */
  int32_t zeroed;     /* the engine clears it; who gives the memory, clears it */
  int32_t given;      /* the request names its address; else the engine allocates it */
} tma_jit_workspace;
/* 0 for a NULL plan. */
TMA_JIT_API size_t tma_jit_plan_workspace_count(const tma_jit_plan* plan);
TMA_JIT_API tma_jit_status tma_jit_plan_workspace(const tma_jit_plan* plan, size_t index, tma_jit_workspace* out,
                                                  tma_jit_error** error);
/* Everything, as `tma-jit plan --json` prints it. */
TMA_JIT_API tma_jit_status tma_jit_plan_json(const tma_jit_plan* plan, char** out, tma_jit_error** error);

/* How the choice is made: {file, configurations, valid, rules, valid_configs}. */
TMA_JIT_API tma_jit_status tma_jit_enumerate_json(tma_jit_engine* engine, const tma_jit_request* request, char** out,
                                                  tma_jit_error** error);

/* ---- sources and artifacts ------------------------------------------------------------------------------------- */

/* What NVRTC is given: one text, the headers it may include, its options. */
typedef struct tma_jit_source tma_jit_source;
TMA_JIT_API tma_jit_status tma_jit_emit(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_source** out,
                                        tma_jit_error** error);
TMA_JIT_API void tma_jit_source_free(tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_name(const tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_text(const tma_jit_source* source);
TMA_JIT_API size_t tma_jit_source_header_count(const tma_jit_source* source);
/* These are NULL beyond the last. */
TMA_JIT_API const char* tma_jit_source_header_name(const tma_jit_source* source, size_t index);
TMA_JIT_API const char* tma_jit_source_header_text(const tma_jit_source* source, size_t index);
TMA_JIT_API size_t tma_jit_source_option_count(const tma_jit_source* source);
TMA_JIT_API const char* tma_jit_source_option(const tma_jit_source* source, size_t index);

/* One file that nvcc compiles as it is. */
TMA_JIT_API tma_jit_status tma_jit_emit_standalone(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                                   tma_jit_error** error);
/* SHA-256 of everything that can change the artifact, as 64 hexadecimal digits. */
TMA_JIT_API tma_jit_status tma_jit_key(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                       tma_jit_error** error);

/* Why a kernel is, or is not, in the cache: {key, found, where, fault, nearest, differences [{field, here, there}]}. */
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
/* What the engine's driver loads: an ELF image, or PTX and a zero byte where it executes PTX. `bytes` may be NULL. NULL
 * for a NULL artifact. */
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
/* PTX instead of a cubin; never cached. */
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
/* One cuLaunchKernelEx on the launch's device, whatever context is current; it is left as it was. */
TMA_JIT_API tma_jit_status tma_jit_launch_run(tma_jit_launch* launch, tma_jit_stream stream, tma_jit_error** error);
/* Another address for a tensor or a caller's workspace, of the same shape, type and alignment. */
TMA_JIT_API tma_jit_status tma_jit_launch_rebind(tma_jit_launch* launch, const char* name, uint64_t address,
                                                 tma_jit_error** error);
/* These are NULL for a NULL launch. */
TMA_JIT_API const tma_jit_plan* tma_jit_launch_plan(const tma_jit_launch* launch);
TMA_JIT_API const tma_jit_artifact* tma_jit_launch_artifact(const tma_jit_launch* launch);

/* Called after each request that was prepared, by a thread of the library's, one call at a time; returns normally, and
 * neither waits for the preparation nor frees it or its engine. Cancelled requests are not reported. */
typedef void (*tma_jit_progress)(size_t done, size_t total, void* user);

typedef struct tma_jit_prepare_options {
  size_t size;
  tma_jit_progress progress; /* NULL: nobody is told */
  void* progress_user;
  int32_t threads; /* that plan, compile and load beside each other; 0: as many as compile beside each other */
} tma_jit_prepare_options;

/* Requests that are prepared in the background. It may be used by any number of threads at once. Freeing it, or its
 * engine, cancels what has not begun and waits for what has. It may outlive its engine. */
typedef struct tma_jit_preparation tma_jit_preparation;
/* Returns at once. The requests are copied. `options` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_prepare_async(tma_jit_engine* engine, const tma_jit_request* const* requests,
                                                 size_t count, const tma_jit_prepare_options* options,
                                                 tma_jit_preparation** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_preparation_free(tma_jit_preparation* preparation);
/* These are 0 for a NULL preparation. `done` counts those that have a result, be it an error. */
TMA_JIT_API size_t tma_jit_preparation_total(const tma_jit_preparation* preparation);
TMA_JIT_API size_t tma_jit_preparation_done(const tma_jit_preparation* preparation);
/* What has not begun will not, and ends with TMA_JIT_CANCELLED. Returns at once. */
TMA_JIT_API tma_jit_status tma_jit_preparation_cancel(tma_jit_preparation* preparation, tma_jit_error** error);
/* Waits until every request has a result, for at most so many seconds; TMA_JIT_NONE: as long as it takes. `finished`
 * tells which it was, and may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_preparation_wait(tma_jit_preparation* preparation, double limit_s, int32_t* finished,
                                                    tma_jit_error** error);
/* The result of one request, by its place in the list; waits for it. It is handed out once. */
TMA_JIT_API tma_jit_status tma_jit_preparation_take(tma_jit_preparation* preparation, size_t index,
                                                    tma_jit_launch** out, tma_jit_error** error);

/* A kernel called with tensors each time, in the order in which its template declares them: the first call of a shape
 * prepares, later ones find what was prepared. The request gives everything but the tensors. */
typedef struct tma_jit_function tma_jit_function;
TMA_JIT_API tma_jit_status tma_jit_function_create(tma_jit_engine* engine, const tma_jit_request* request,
                                                   tma_jit_function** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_function_free(tma_jit_function* function);
TMA_JIT_API tma_jit_status tma_jit_function_call(tma_jit_function* function, const tma_jit_tensor* tensors,
                                                 size_t count, tma_jit_stream stream, tma_jit_error** error);

/* ---- device memory and time ------------------------------------------------------------------------------------ */

/* Memory of the engine's device. Copies and fills come after the default stream's work and are done on return. */
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

/* Waits for everything submitted to the engine's device. */
TMA_JIT_API tma_jit_status tma_jit_synchronize(tma_jit_engine* engine, tma_jit_error** error);

/* The eight words that a bounded wait leaves in global memory, copied to the host: TMA_JIT_OK where `record[0]` is 0,
   else TMA_JIT_DRIVER with who waited for which barrier and what never came (tma_jit/lost_arrival.h). */
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
  double median_us; /* device time of one launch, by events */
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

/* The line of a warm list (docs/caching.md) that builds what the plan builds. */
TMA_JIT_API tma_jit_status tma_jit_warm_line(const tma_jit_plan* plan, char** out, tma_jit_error** error);
/* The requests that a line stands for on the engine's target, each to be planned and built; none where the line is for
 * another target. TMA_JIT_PARSE where it is no such line. */
TMA_JIT_API tma_jit_status tma_jit_warm_requests(tma_jit_engine* engine, const char* line, tma_jit_presets** out,
                                                 tma_jit_error** error);

/* ---- the cache folder ------------------------------------------------------------------------------------------ */

typedef struct tma_jit_cache_summary {
  size_t size;
  uint64_t entries;
  uint64_t bytes;
  uint64_t faulty;
  uint64_t temporary_files;
} tma_jit_cache_summary;

/* "" where none is to be had. */
TMA_JIT_API tma_jit_status tma_jit_default_cache_dir(char** out, tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_cache_stat(const char* root, tma_jit_cache_summary* out, tma_jit_error** error);
/* [{key, kernel, arch, bytes, fault}], every entry read whole; `fault` is empty for a sound one. */
TMA_JIT_API tma_jit_status tma_jit_cache_verify_json(const char* root, char** out, tma_jit_error** error);
/* Removes entries, temporary files and what is kept about crashes of the compiler; `removed` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_clear(const char* root, uint64_t* removed, tma_jit_error** error);

typedef struct tma_jit_cache_trimmed {
  size_t size;
  uint64_t entries; /* before */
  uint64_t bytes;
  uint64_t removed;
  uint64_t removed_bytes;
  uint64_t temporary_files; /* removed: their writers died */
} tma_jit_cache_trimmed;
/* Removes the entries used longest ago until no more than this is left; `out` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_trim(const char* root, uint64_t bytes, uint64_t entries,
                                              tma_jit_cache_trimmed* out, tma_jit_error** error);

/* The one entry of a folder or a pack whose key starts so. */
typedef struct tma_jit_cache_entry tma_jit_cache_entry;
TMA_JIT_API tma_jit_status tma_jit_cache_read(const char* folder_or_pack, const char* key_prefix,
                                              tma_jit_cache_entry** out, tma_jit_error** error);
TMA_JIT_API void tma_jit_cache_entry_free(tma_jit_cache_entry* entry);
/* These are NULL for a NULL entry. */
TMA_JIT_API const char* tma_jit_cache_entry_key(const tma_jit_cache_entry* entry);
TMA_JIT_API const char* tma_jit_cache_entry_kernel(const tma_jit_cache_entry* entry);
TMA_JIT_API const char* tma_jit_cache_entry_arch(const tma_jit_cache_entry* entry);
/* One JSON object a line. */
TMA_JIT_API const char* tma_jit_cache_entry_metadata(const tma_jit_cache_entry* entry);
/* The cubin; `bytes` may be NULL. */
TMA_JIT_API const void* tma_jit_cache_entry_data(const tma_jit_cache_entry* entry, size_t* bytes);

/* ---- packs ----------------------------------------------------------------------------------------------------- */

typedef struct tma_jit_pack_info {
  size_t size;
  uint64_t entries;
  uint64_t bytes;
  uint64_t skipped; /* faulty entries left out */
  char signer[80];  /* id of the key, hexadecimal; "": not signed */
} tma_jit_pack_info;
/* All sound entries of a folder as one file. `private_key` may be NULL: not signed. `out` may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_cache_pack(const char* root, const char* file, const char* private_key,
                                              tma_jit_pack_info* out, tma_jit_error** error);
/* Puts the entries of a pack into a folder, which is made where it is missing. With keys, one of them must have signed
 * the pack. `pack_keys` may be NULL where there are none, `out` always. */
TMA_JIT_API tma_jit_status tma_jit_cache_unpack(const char* file, const char* root, const char* const* pack_keys,
                                                size_t pack_key_count, tma_jit_pack_info* out, tma_jit_error** error);
/* Like tma_jit_cache_verify_json, of a pack. */
TMA_JIT_API tma_jit_status tma_jit_pack_verify_json(const char* file, const char* const* pack_keys,
                                                    size_t pack_key_count, char** out, tma_jit_error** error);
/* Makes an Ed25519 key pair in two new PEM files; `out` is the key's id. */
TMA_JIT_API tma_jit_status tma_jit_cache_keygen(const char* private_key, const char* public_key, char** out,
                                                tma_jit_error** error);

/* ---- compile workers ------------------------------------------------------------------------------------------- */

/* For a program that is to be its own compile worker, so that one file is shipped: the first thing in main.
 *
 *   const int32_t status = tma_jit_run_compile_worker(argc, argv);
 *   if (status >= 0) return status;
 *
 * -1: this is an ordinary start, and engines made from here on start this program as their worker. */
TMA_JIT_API int32_t tma_jit_run_compile_worker(int32_t argc, char** argv);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_H */
