/* Tuning for the C API (tuning.h, docs/tuning.md). The conventions are those of c.h. */
#ifndef TMA_JIT_C_TUNING_H
#define TMA_JIT_C_TUNING_H

#include <tma_jit/c.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

/* Valid until the callback returns. */
typedef struct tma_jit_tune_progress {
  size_t size;    /* of this struct in the library's version */
  size_t request; /* index of the current request, from 0 */
  size_t requests;
  size_t trial; /* of the current request */
  size_t trials;
  double seconds;
  double budget_s;
} tma_jit_tune_progress;
/* Called in the thread that called tma_jit_tune, before each configuration. Returning 0 ends the tuning: requests that
 * have not begun have no result. Must return normally. */
typedef int32_t (*tma_jit_tune_callback)(const tma_jit_tune_progress* progress, void* user);

/* How processes that share no file of records agree (TuneExchange in tuning.h). `problem` is 16 hex digits, the same in
 * every process. Both are called in the thread that called tma_jit_tune. */
/* `line` is a record, or "" if the request could not be tuned. Returns 0, or another number if it failed. */
typedef int32_t (*tma_jit_tune_publish)(const char* problem, const char* line, void* user);
/* Waits at most `wait_s` seconds for what another process publishes, and copies it to `line`, which has `bytes` bytes,
 * its terminator included. Returns 1, 0 if there is none yet, or another number if it failed. */
typedef int32_t (*tma_jit_tune_fetch)(const char* problem, double wait_s, char* line, size_t bytes, void* user);

/* Queues about `us` microseconds of the application's work to its own streams; called in the thread that called
 * tma_jit_tune, before every few launches, which are timed while that work runs. Returns 0, or another number if it
 * failed. */
typedef int32_t (*tma_jit_tune_beside)(double us, void* user);

typedef struct tma_jit_tune_options {
  size_t size;
  double budget_s;   /* wall-clock seconds for all requests together; 0: 60 */
  size_t candidates; /* configurations per request, in addition to the preset; 0: 24 */
  double least_gain; /* smallest gain for which the configuration is changed; 0: 0.01; TMA_JIT_NONE: any beyond noise */
  int32_t keep_l2;   /* operands may lie in L2 from the launch before; 0: L2 is flushed before each launch */
  int32_t again;     /* also measure requests that have a record */
  const char* records; /* file that gets the records; NULL: the one that tma_jit_tuning_file names */
  tma_jit_tune_callback progress;
  void* progress_user;
  tma_jit_tune_publish publish; /* NULL: this process publishes nothing */
  tma_jit_tune_fetch fetch;     /* NULL: this process takes nothing from others */
  void* exchange_user;
  int32_t replay;             /* launches are replayed from CUDA graphs, as applications that capture run them */
  tma_jit_tune_beside beside; /* NULL: nothing runs beside what is measured */
  void* beside_user;
} tma_jit_tune_options;

/* Results, in the order of the requests. */
typedef struct tma_jit_tuning tma_jit_tuning;
/* Tunes the requests one after the other, in this thread; requests are copied and the addresses of their tensors are
 * not used. `options` may be NULL. Fails if there is no device or the file of records cannot be written; a request
 * that cannot be tuned has its error in its result. */
TMA_JIT_API tma_jit_status tma_jit_tune(tma_jit_engine* engine, const tma_jit_request* const* requests, size_t count,
                                        const tma_jit_tune_options* options, tma_jit_tuning** out,
                                        tma_jit_error** error);
TMA_JIT_API void tma_jit_tuning_free(tma_jit_tuning* tuning);
/* Returns the number of results; fewer than requests if the tuning was ended. 0 for NULL. */
TMA_JIT_API size_t tma_jit_tuning_count(const tma_jit_tuning* tuning);

typedef struct tma_jit_tune_result {
  size_t size;
  double us;        /* device time of the chosen configuration, median, microseconds */
  double preset_us; /* of the configuration that is planned without a record */
  double gain;      /* preset_us / us - 1 */
  double seconds;   /* that the tuning of this request took */
  size_t trials;    /* configurations that were looked at; 0 if a record existed */
  int32_t known;    /* a record existed, and nothing was measured */
} tma_jit_tune_result;
/* Fails with the request's own error if it could not be tuned. */
TMA_JIT_API tma_jit_status tma_jit_tuning_result(const tma_jit_tuning* tuning, size_t index, tma_jit_tune_result* out,
                                                 tma_jit_error** error);
/* Returns {record, known, gain, seconds, drift, method, trials [{file, params, cycles, outcome, us, launches, reason,
 * reproducer}]}, or {kernel, error, trials}; trials and reproducer are left out where there are none. */
TMA_JIT_API tma_jit_status tma_jit_tuning_json(const tma_jit_tuning* tuning, size_t index, char** out,
                                               tma_jit_error** error);

/* Returns the file to which this engine's tuning writes by default; "" if the engine has no cache folder. */
TMA_JIT_API tma_jit_status tma_jit_tuning_file(tma_jit_engine* engine, char** out, tma_jit_error** error);
/* Adds the records of the file `from` to the file `to` and replaces those of the same problem; other processes may do
 * so at the same time. Lines of `from` that are not records are counted in `skipped`, which may be NULL. */
TMA_JIT_API tma_jit_status tma_jit_tuning_merge(const char* from, const char* to, size_t* skipped,
                                                tma_jit_error** error);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif
