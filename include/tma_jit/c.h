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
 * Included here are c_values.h, c_engine.h, c_request.h, c_plan.h, c_launch.h and c_cache.h, a stage each. Included
 * beside this file, where they are needed, are c_kernels.h, c_tuning.h and c_remote.h.
 *
 * The stages and the fields of a request are documented in engine.h, request.h, plan.h, launch.h, device.h,
 * cache.h and compile_worker.h.
 */
#ifndef TMA_JIT_C_H
#define TMA_JIT_C_H

#include <tma_jit/c_cache.h>
#include <tma_jit/c_engine.h>
#include <tma_jit/c_launch.h>
#include <tma_jit/c_plan.h>
#include <tma_jit/c_request.h>
#include <tma_jit/c_values.h>

#endif /* TMA_JIT_C_H */
