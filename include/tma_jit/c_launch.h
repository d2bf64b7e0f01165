/* Launches, chains, preparations, functions, device memory and time for the C API. Included by c.h, which states the
 * conventions. */
#ifndef TMA_JIT_C_LAUNCH_H
#define TMA_JIT_C_LAUNCH_H

#include <tma_jit/c_plan.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

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
/* Loads a kernel that was built before, such as the file of `tma-jit build -o`, for the plan that it was built from, as
 * tma_jit_plan_json wrote it. Compiles nothing and reads neither templates nor the cache. Tensors get their addresses
 * by tma_jit_launch_rebind. */
TMA_JIT_API tma_jit_status tma_jit_load(tma_jit_engine* engine, const char* plan_json, const void* kernel, size_t bytes,
                                        tma_jit_launch** out, tma_jit_error** error);
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

/* Which member has a scalar's value. */
typedef int32_t tma_jit_scalar_kind;
enum { TMA_JIT_SCALAR_INTEGER = 0, TMA_JIT_SCALAR_UNSIGNED = 1, TMA_JIT_SCALAR_REAL = 2 };
typedef struct tma_jit_scalar {
  const char* name;
  tma_jit_scalar_kind kind;
  int64_t integer;
  uint64_t unsigned_integer;
  double real;
} tma_jit_scalar;
typedef struct tma_jit_call_options {
  size_t size;
  tma_jit_stream stream;
  const tma_jit_scalar* scalars; /* instead of the request's; of two with the same name the last counts */
  size_t scalar_count;
} tma_jit_call_options;
/* The same with other values of scalars than the request's; kernels do not depend on them. `options` may be NULL. Fails
 * (TMA_JIT_NOT_FOUND) if the kernel has no such scalar, and (TMA_JIT_INVALID_ARGUMENT) if its type cannot hold the
 * value. */
TMA_JIT_API tma_jit_status tma_jit_function_call_with(tma_jit_function* function, const tma_jit_tensor* tensors,
                                                      size_t count, const tma_jit_call_options* options,
                                                      tma_jit_error** error);

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

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_LAUNCH_H */
