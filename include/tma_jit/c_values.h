/* Statuses, errors, tensors and devices for the C API. Included by c.h, which states the conventions. */
#ifndef TMA_JIT_C_VALUES_H
#define TMA_JIT_C_VALUES_H

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

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_VALUES_H */
