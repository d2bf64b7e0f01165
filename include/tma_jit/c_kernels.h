/* The declarations of template files for the C API (kernel_info.h). The conventions are those of c.h.
 *
 * Everything that these functions return, including strings and arrays in structs, belongs to the list of kernels and
 * lives as long as it does. */
#ifndef TMA_JIT_C_KERNELS_H
#define TMA_JIT_C_KERNELS_H

#include <tma_jit/c.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

/* A list with one element per template file. Files that do not parse are left out; tma_jit_engine_kernels_json returns
 * their errors. */
typedef struct tma_jit_kernels tma_jit_kernels;
typedef struct tma_jit_kernel tma_jit_kernel;
/* Lists the files of one kernel, or of all if `kernel` is NULL. TMA_JIT_NOT_FOUND if no file declares it. */
TMA_JIT_API tma_jit_status tma_jit_kernels_create(tma_jit_engine* engine, const char* kernel, tma_jit_kernels** out,
                                                  tma_jit_error** error);
TMA_JIT_API void tma_jit_kernels_free(tma_jit_kernels* kernels);
TMA_JIT_API size_t tma_jit_kernels_count(const tma_jit_kernels* kernels);
/* NULL if `index` is out of range. */
TMA_JIT_API const tma_jit_kernel* tma_jit_kernels_at(const tma_jit_kernels* kernels, size_t index);

/* These are NULL or 0 for a NULL kernel. */
TMA_JIT_API const char* tma_jit_kernel_name(const tma_jit_kernel* kernel);
TMA_JIT_API const char* tma_jit_kernel_file(const tma_jit_kernel* kernel);
TMA_JIT_API const char* tma_jit_kernel_doc(const tma_jit_kernel* kernel);
TMA_JIT_API int32_t tma_jit_kernel_is_probe(const tma_jit_kernel* kernel);
TMA_JIT_API int32_t tma_jit_kernel_has_reference(const tma_jit_kernel* kernel);
/* Of the files of one kernel, those with the greatest preference are tried first. */
TMA_JIT_API int64_t tma_jit_kernel_preference(const tma_jit_kernel* kernel);
/* Returns an architecture as written; NULL if `index` is out of range. */
TMA_JIT_API const char* tma_jit_kernel_arch(const tma_jit_kernel* kernel, size_t index);

/* A kind of declaration. */
typedef int32_t tma_jit_part;
enum {
  TMA_JIT_PART_TYPES = 0,
  TMA_JIT_PART_DIMS = 1,
  TMA_JIT_PART_PARAMS = 2,
  TMA_JIT_PART_TENSORS = 3,
  TMA_JIT_PART_SCALARS = 4,
  TMA_JIT_PART_HOOKS = 5,
  TMA_JIT_PART_PRESETS = 6,
  TMA_JIT_PART_LETS = 7,
  TMA_JIT_PART_RULES = 8,
  TMA_JIT_PART_WORKSPACES = 9
};
/* 0 if there is no such part. */
TMA_JIT_API size_t tma_jit_kernel_count(const tma_jit_kernel* kernel, tma_jit_part part);

typedef struct tma_jit_type_info {
  size_t size;
  const char* name;
  const char* doc;
  tma_jit_dtype default_type;
  const tma_jit_dtype* choices;
  size_t choice_count;
} tma_jit_type_info;

typedef struct tma_jit_dim_info {
  size_t size;
  const char* name;
  const char* doc;
  int64_t least; /* lower bound of the range; both bounds are included */
  int64_t most;
  int64_t value;    /* if the template fixes it, else 0 */
  int32_t is_fixed; /* whether the template fixes it; a request then need not give it */
  int32_t is_wide;  /* 64-bit in the kernel */
  const char* list; /* the list of which it is an entry; NULL: none */
  const char* when; /* an expression: where it is false the dim is 0; NULL: the dim always counts */
} tma_jit_dim_info;

typedef struct tma_jit_param_info {
  size_t size;
  const char* name;
  const char* doc;
  int64_t default_value;
  const int64_t* values;
  size_t value_count;
  int32_t asked; /* 1: only a pin of the request changes it from its default */
} tma_jit_param_info;

typedef struct tma_jit_tensor_info {
  size_t size;
  const char* name;
  const char* doc;
  const char* type;         /* the name of a dtype or of a type */
  const char* const* shape; /* expressions, outermost first; a plain dim name determines the dim */
  size_t rank;
  const char* const* box; /* expressions, outermost first */
  size_t box_rank;        /* 0: the tensor is passed as a view */
  const char* when;       /* an expression; NULL: always present */
  int32_t is_output;
  const char* least;    /* an expression: the least valid value of an input's elements; NULL: every value is valid */
  const char* most;     /* likewise the greatest */
  int32_t is_rising;    /* along the last dimension no element is less than the one before it */
  int32_t is_checked;   /* the kernel checks the values itself, and its doc says what it makes of others */
  const char* list;     /* the list of which it is an entry; NULL: none */
  const char* distinct; /* an expression: not 0: no valid value occurs twice along the last dimension; NULL: 0 */
} tma_jit_tensor_info;

typedef struct tma_jit_scalar_info {
  size_t size;
  const char* name;
  const char* doc;
  const char* type;
  double default_value; /* rounded if it is an integer of more than 53 bits */
  int32_t has_default;
} tma_jit_scalar_info;

typedef struct tma_jit_hook_info {
  size_t size;
  const char* name;
  const char* doc;
  const char* result;       /* the type's name */
  const char* default_text; /* NULL: the request must give one */
  const char* const* parameter_types;
  const char* const* parameter_names;
  const char* const* parameter_whens; /* expressions; NULL: always present */
  size_t parameter_count;
} tma_jit_hook_info;

typedef struct tma_jit_preset_info {
  size_t size;
  const char* doc;
  const char* const* params;
  const int64_t* values;
  size_t param_count;
  const char* when; /* an expression; NULL: always */
} tma_jit_preset_info;

typedef struct tma_jit_let_info {
  size_t size;
  const char* name;
  const char* doc;
  const char* value; /* an expression */
  const char* list;  /* the list of which it is an entry; NULL: none */
} tma_jit_let_info;

typedef struct tma_jit_rule_info {
  size_t size;
  const char* doc;       /* its message */
  const char* condition; /* an expression that is true of every valid configuration */
  const char* list;      /* the list of which it is an entry; NULL: none */
} tma_jit_rule_info;

typedef struct tma_jit_workspace_info {
  size_t size;
  const char* name;
  const char* doc;
  const char* bytes; /* an expression */
  int32_t is_zeroed; /* the kernel expects zeros */
} tma_jit_workspace_info;

/* TMA_JIT_NOT_FOUND if `index` is out of range. */
TMA_JIT_API tma_jit_status tma_jit_kernel_type(const tma_jit_kernel* kernel, size_t index, tma_jit_type_info* out,
                                               tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_dim(const tma_jit_kernel* kernel, size_t index, tma_jit_dim_info* out,
                                              tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_param(const tma_jit_kernel* kernel, size_t index, tma_jit_param_info* out,
                                                tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_tensor(const tma_jit_kernel* kernel, size_t index, tma_jit_tensor_info* out,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_scalar(const tma_jit_kernel* kernel, size_t index, tma_jit_scalar_info* out,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_hook(const tma_jit_kernel* kernel, size_t index, tma_jit_hook_info* out,
                                               tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_preset(const tma_jit_kernel* kernel, size_t index, tma_jit_preset_info* out,
                                                 tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_let(const tma_jit_kernel* kernel, size_t index, tma_jit_let_info* out,
                                              tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_rule(const tma_jit_kernel* kernel, size_t index, tma_jit_rule_info* out,
                                               tma_jit_error** error);
TMA_JIT_API tma_jit_status tma_jit_kernel_workspace(const tma_jit_kernel* kernel, size_t index,
                                                    tma_jit_workspace_info* out, tma_jit_error** error);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif /* TMA_JIT_C_KERNELS_H */
