/* What the C API tells of kernels: their declarations, examples and presets, and of the engine that has them. */
#include <tma_jit/c_kernels.h>

#include "scale.h"

static void declarations(tma_jit_engine* engine) {
  tma_jit_kernels* kernels = NULL;
  const tma_jit_kernel* kernel = NULL;
  tma_jit_dim_info dim = {0};
  tma_jit_param_info param = {0};
  tma_jit_type_info type = {0};
  tma_jit_tensor_info tensor = {0};
  tma_jit_scalar_info scalar = {0};
  tma_jit_hook_info hook = {0};
  tma_jit_preset_info preset = {0};
  dim.size = sizeof dim;
  param.size = sizeof param;
  type.size = sizeof type;
  tensor.size = sizeof tensor;
  scalar.size = sizeof scalar;
  hook.size = sizeof hook;
  preset.size = sizeof preset;
  REQUIRE_OK(tma_jit_kernels_create(engine, "scale_c", &kernels, &error));
  CHECK(tma_jit_kernels_count(kernels) == 1 && tma_jit_kernels_at(kernels, 1) == NULL);
  kernel = tma_jit_kernels_at(kernels, 0);
  CHECK(strcmp(tma_jit_kernel_name(kernel), "scale_c") == 0 && strcmp(tma_jit_kernel_file(kernel), "scale_c.cu") == 0);
  CHECK(strcmp(tma_jit_kernel_arch(kernel, 0), "sm_90a") == 0 && tma_jit_kernel_arch(kernel, 1) == NULL);
  CHECK(!tma_jit_kernel_is_probe(kernel) && !tma_jit_kernel_has_reference(kernel));
  CHECK(tma_jit_kernel_preference(kernel) == 0);
  CHECK(tma_jit_kernel_count(kernel, TMA_JIT_PART_TENSORS) == 2 && tma_jit_kernel_count(kernel, 99) == 0);
  REQUIRE_OK(tma_jit_kernel_dim(kernel, 0, &dim, &error));
  CHECK(strcmp(dim.name, "N") == 0 && dim.least == 1 && dim.most == INT32_MAX && !dim.is_fixed);
  CHECK_FAILS(tma_jit_kernel_dim(kernel, 1, &dim, &error), TMA_JIT_NOT_FOUND, "scale_c has 1");
  REQUIRE_OK(tma_jit_kernel_param(kernel, 0, &param, &error));
  CHECK(param.default_value == 128 && param.value_count == 2 && param.values[0] == 64);
  REQUIRE_OK(tma_jit_kernel_type(kernel, 0, &type, &error));
  CHECK(type.default_type == TMA_JIT_F32 && type.choice_count == 2 && type.choices[1] == TMA_JIT_BF16);
  REQUIRE_OK(tma_jit_kernel_tensor(kernel, 1, &tensor, &error));
  CHECK(tensor.least == NULL && tensor.most == NULL && !tensor.is_rising && tensor.list == NULL && dim.list == NULL);
  CHECK(tensor.distinct == NULL);
  CHECK(strcmp(tensor.type, "T") == 0 && tensor.rank == 1 && strcmp(tensor.shape[0], "N") == 0 && tensor.is_output);
  CHECK(tensor.box_rank == 0 && tensor.when == NULL);
  REQUIRE_OK(tma_jit_kernel_scalar(kernel, 0, &scalar, &error));
  CHECK(scalar.has_default && scalar.default_value == 1);
  REQUIRE_OK(tma_jit_kernel_hook(kernel, 0, &hook, &error));
  CHECK(hook.parameter_count == 1 && strcmp(hook.parameter_names[0], "a") == 0 && strcmp(hook.default_text, "a") == 0);
  CHECK(hook.parameter_whens[0] == NULL);
  CHECK_FAILS(tma_jit_kernel_preset(kernel, 0, &preset, &error), TMA_JIT_NOT_FOUND, "has 0");
  tma_jit_kernels_free(kernels);
  CHECK_FAILS(tma_jit_kernels_create(engine, "none", &kernels, &error), TMA_JIT_NOT_FOUND, "none");
}

/* Declarations that compute something: of a list, whose entries are one declaration each, and of a workspace. */
static void computed_declarations(tma_jit_engine* engine) {
  static const char* const kList =
      "//! kernel list_c\n//! arch sm_90a\n//! param PARTS = 1 in 1..2\n//! dim N[PARTS]\n"
      "//! let ROWS = 32 \"of a block\"\n//! let BLOCKS[PARTS] = ceil_div(N[], ROWS)\n"
      "//! require ROWS < 64 \"few rows\"\n//! require N[] < 100\n"
      "//! workspace parts ROWS * 4 \"of sums\"\n//! workspace counter 8 zero\n//! launch grid sum(BLOCKS) block 32\n"
      "extern \"C\" __global__ void list_c(unsigned char* parts, unsigned char* counter, const Dims dims) {}\n";
  tma_jit_kernels* kernels = NULL;
  const tma_jit_kernel* kernel = NULL;
  tma_jit_dim_info dim = {0};
  tma_jit_let_info let = {0};
  tma_jit_rule_info rule = {0};
  tma_jit_workspace_info workspace = {0};
  dim.size = sizeof dim;
  let.size = sizeof let;
  rule.size = sizeof rule;
  workspace.size = sizeof workspace;
  REQUIRE_OK(tma_jit_engine_add_template(engine, "list_c.cu", kList, &error));
  REQUIRE_OK(tma_jit_kernels_create(engine, "list_c", &kernels, &error));
  kernel = tma_jit_kernels_at(kernels, 0);
  CHECK(tma_jit_kernel_count(kernel, TMA_JIT_PART_LETS) == 3 && tma_jit_kernel_count(kernel, TMA_JIT_PART_RULES) == 3);
  CHECK(tma_jit_kernel_count(kernel, TMA_JIT_PART_WORKSPACES) == 2);
  REQUIRE_OK(tma_jit_kernel_dim(kernel, 0, &dim, &error));
  CHECK(strcmp(dim.name, "N0") == 0 && dim.when == NULL && strcmp(dim.list, "N") == 0);
  REQUIRE_OK(tma_jit_kernel_dim(kernel, 1, &dim, &error));
  CHECK(dim.when != NULL && strcmp(dim.when, "PARTS >= 2") == 0);
  REQUIRE_OK(tma_jit_kernel_let(kernel, 0, &let, &error));
  CHECK(strcmp(let.name, "ROWS") == 0 && strcmp(let.value, "32") == 0 && strcmp(let.doc, "of a block") == 0);
  CHECK(let.list == NULL);
  REQUIRE_OK(tma_jit_kernel_let(kernel, 2, &let, &error));
  CHECK(strcmp(let.name, "BLOCKS1") == 0 && strcmp(let.value, "ceil_div(N1, ROWS)") == 0);
  CHECK(let.list != NULL && strcmp(let.list, "BLOCKS") == 0);
  REQUIRE_OK(tma_jit_kernel_rule(kernel, 0, &rule, &error));
  CHECK(strcmp(rule.condition, "ROWS < 64") == 0 && strcmp(rule.doc, "few rows") == 0 && rule.list == NULL);
  REQUIRE_OK(tma_jit_kernel_rule(kernel, 2, &rule, &error));
  CHECK(strcmp(rule.condition, "N1 < 100") == 0 && rule.list != NULL && strcmp(rule.list, "N") == 0);
  REQUIRE_OK(tma_jit_kernel_workspace(kernel, 0, &workspace, &error));
  CHECK(strcmp(workspace.name, "parts") == 0 && strcmp(workspace.bytes, "ROWS * 4") == 0 && !workspace.is_zeroed);
  CHECK(strcmp(workspace.doc, "of sums") == 0);
  REQUIRE_OK(tma_jit_kernel_workspace(kernel, 1, &workspace, &error));
  CHECK(workspace.is_zeroed);
  CHECK_FAILS(tma_jit_kernel_let(kernel, 3, &let, &error), TMA_JIT_NOT_FOUND, "list_c has 3");
  CHECK_FAILS(tma_jit_kernel_rule(kernel, 3, &rule, &error), TMA_JIT_NOT_FOUND, "list_c has 3");
  CHECK_FAILS(tma_jit_kernel_workspace(kernel, 2, &workspace, &error), TMA_JIT_NOT_FOUND, "list_c has 2");
  tma_jit_kernels_free(kernels);
}

static void examples(tma_jit_engine* engine) {
  tma_jit_request* request = NULL;
  tma_jit_request* example = NULL;
  tma_jit_plan* plan = NULL;
  int64_t n = 0;
  REQUIRE_OK(tma_jit_request_create("scale_c", &request, &error));
  REQUIRE_OK(tma_jit_example(engine, request, TMA_JIT_EXTENTS_ODD, 1000, &example, &error));
  REQUIRE_OK(tma_jit_plan_create(engine, example, &plan, &error));
  REQUIRE_OK(tma_jit_plan_dim(plan, "N", &n, &error));
  CHECK(n >= 1000 && n % 2 == 1);
  CHECK(strcmp(tma_jit_plan_reason(plan), "") == 0);
  CHECK_FAILS(tma_jit_plan_dim(plan, "M", &n, &error), TMA_JIT_NOT_FOUND, "\"M\"");
  CHECK_FAILS(tma_jit_example(engine, request, 3, 0, &example, &error), TMA_JIT_INVALID_ARGUMENT, "extents is 3");
  REQUIRE_OK(tma_jit_request_present(request, "Q", &error));
  CHECK_FAILS(tma_jit_example(engine, request, 0, 0, &example, &error), TMA_JIT_NOT_FOUND, "Q");
  tma_jit_plan_free(plan);
  tma_jit_request_free(request);
}

static void describing(tma_jit_engine* engine) {
  const char* const dims[] = {"N"};
  const int64_t values[] = {4096};
  tma_jit_presets* presets = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_device_info info;
  tma_jit_stats stats;
  char* json = NULL;
  size_t i = 0;
  REQUIRE_OK(tma_jit_presets_create(engine, "scale_c", dims, values, 1, &presets, &error));
  CHECK(tma_jit_presets_count(presets) == 2);
  for (; i < tma_jit_presets_count(presets); ++i) {
    REQUIRE_OK(tma_jit_plan_create(engine, tma_jit_presets_at(presets, i), &plan, &error));
    tma_jit_plan_free(plan);
  }
  CHECK(tma_jit_presets_at(presets, i) == NULL);
  tma_jit_presets_free(presets);
  CHECK_FAILS(tma_jit_presets_create(engine, "scale_c", NULL, values, 1, &presets, &error), TMA_JIT_INVALID_ARGUMENT,
              "dims is NULL");
  CHECK_FAILS(tma_jit_presets_create(engine, "scale_c", NULL, NULL, 2, &presets, &error), TMA_JIT_INVALID_ARGUMENT,
              "dim_count is 2");
  info.size = sizeof info;
  REQUIRE_OK(tma_jit_engine_device(engine, &info, &error));
  CHECK(info.compute_capability == 90);
  stats.size = sizeof stats;
  REQUIRE_OK(tma_jit_engine_stats(engine, &stats, &error));
  CHECK(stats.plans > 0 && stats.loads == 0);
  REQUIRE_OK(tma_jit_engine_kernels_json(engine, &json, &error));
  CHECK(has(json, "\"kernel\":\"scale_c\"") && has(json, "\"kernel\":\"gemm\"") && has(json, "\"faults\":[]"));
  tma_jit_string_free(json);
  REQUIRE_OK(tma_jit_engine_environment_json(engine, &json, &error));
  CHECK(has(json, "\"name\":\"h100\"") && has(json, "\"nvrtc\":") && has(json, "\"cache\":"));
  tma_jit_string_free(json);
}

int main(void) {
  tma_jit_engine* engine = make_engine("h100", NULL);
  declarations(engine);
  computed_declarations(engine);
  examples(engine);
  describing(engine);
  tma_jit_engine_free(engine);
  return finished("declarations");
}
