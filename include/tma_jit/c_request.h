/* Requests of the C API, and the lists of presets. Included by c.h, which states the conventions. */
#ifndef TMA_JIT_C_REQUEST_H
#define TMA_JIT_C_REQUEST_H

#include <tma_jit/c_engine.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

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
/* For values from 2^63 on, such as seeds. */
TMA_JIT_API tma_jit_status tma_jit_request_scalar_unsigned(tma_jit_request* request, const char* name, uint64_t value,
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
/* Sets the greatest number of SMs that run the kernel; 0: no limit (Request::sm_budget). */
TMA_JIT_API tma_jit_status tma_jit_request_sm_budget(tma_jit_request* request, int32_t sms, tma_jit_error** error);
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

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_REQUEST_H */
