/* Plans, sources and artifacts of the C API. Included by c.h, which states the conventions. */
#ifndef TMA_JIT_C_PLAN_H
#define TMA_JIT_C_PLAN_H

#include <tma_jit/c_request.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_PLAN_H */
