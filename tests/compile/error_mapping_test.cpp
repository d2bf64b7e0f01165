// Errors must name what a person wrote: the template's own line, or the hook's own column.
#include "nvrtc_fixture.h"

namespace tma_jit::compile {
namespace {

Error error_of(const Plan& plan) {
  const auto cubin = nvrtc().compile(source_of(plan));
  REQUIRE_FALSE(cubin);
  return cubin.error();
}

Error hook_error(std::string text) {
  return error_of(plan_with_hook(std::move(text)));
}

}  // namespace

TEST_CASE("an error in a template carries its line, column, source and caret") {
  const Error error =
      error_of(plan_of("//! kernel k\n\nextern \"C\" __global__ void k(float* p) {\n\tp[0] = nosuch;\n}\n"));
  CHECK(error.message == "templates/kernels/k.cu:4:9: error: identifier \"nosuch\" is undefined");
  CHECK(error.detail == "\tp[0] = nosuch;\n\t       ^");
}

TEST_CASE("every error is listed, with what the compiler adds") {
  const Error error =
      error_of(plan_of("template <class T> __device__ void f(T t) { t.x(); }\n"
                       "extern \"C\" __global__ void k(float* p) { p[0] = one; p[1] = two; f(3); }\n"));
  CHECK(error.message == "templates/kernels/k.cu:2:49: error: identifier \"one\" is undefined");
  CHECK(error.detail.find("\ntemplates/kernels/k.cu:2:61: error: identifier \"two\" is undefined\n") !=
        std::string::npos);
  CHECK(error.detail.find("\ndetected during instantiation of \"void f(T) [with T=int]\" at line 2\n") !=
        std::string::npos);
}

TEST_CASE("an error in a header names the header") {
  Plan plan = plan_of("#include \"device/broken.cuh\"\n");
  source::EmitOptions options = test_headers();
  options.header = [](std::string_view name) -> Result<std::string> {
    if (name == "device/types.cuh") return std::string(kTypes);
    return std::string("#pragma once\n\n__device__ int x = ;\n");
  };
  const auto cubin = nvrtc().compile(source::emit(plan, options).value());
  REQUIRE_FALSE(cubin);
  CHECK(cubin.error().message == "device/broken.cuh:3:20: error: expected an expression");
}

TEST_CASE("a mistake in a hook is at the hook's own column") {
  Error error = hook_error("a + bb");
  CHECK(error.message == "hook apply:1:5: error: identifier \"bb\" is undefined");
  CHECK(error.detail == "a + bb\n    ^");
  error = hook_error("a +\n  (b * c2)");
  CHECK(error.message == "hook apply:2:8: error: identifier \"c2\" is undefined");
  error = hook_error("f32 x = a; return x + y;");
  CHECK(error.message == "hook apply:1:23: error: identifier \"y\" is undefined");
}

TEST_CASE("columns in a hook count characters, also after tabs and accents") {
  const Error error = hook_error("/* \xC3\xA9\t\xE6\x97\xA5 */ a + bb");
  CHECK(error.message == "hook apply:1:15: error: identifier \"bb\" is undefined");
  CHECK(error.detail == "/* \xC3\xA9\t\xE6\x97\xA5 */ a + bb\n    \t         ^");
}

TEST_CASE("a hook that ends too early is faulted at its end, in its own text") {
  Error error = hook_error("a +");
  CHECK(error.message == "hook apply:1:4: error: expected an expression");
  CHECK(error.detail == "a +\n   ^");
  error = hook_error("f32 x = a; return x +");
  CHECK(error.message == "hook apply:1:22: error: expected an expression");
}

TEST_CASE("an expression of a type that the hook does not give is faulted at its beginning") {
  const Error error = hook_error("\"a\"");
  CHECK(error.message == "hook apply:1:1: error: return value type does not match the function type");
  CHECK(error.detail == "\"a\"\n^");
}

TEST_CASE("a hook that is compiled for other types too is faulted once, at its own end") {
  Plan plan = plan_with_hook("a +");
  plan.hooks[0].generic = plan.hooks[0].given = true;
  const Error error = error_of(plan);
  CHECK(error.message == "hook apply:1:4: error: expected an expression");
  CHECK(error.detail == "a +\n   ^");
}

TEST_CASE("an empty hook is an error in the hook") {
  CHECK(hook_error("").message == "hook apply:1:1: error: expected an expression");
}

TEST_CASE("the second hook's errors are its own") {
  Plan plan = plan_with_hook("a + b");
  plan.hooks.push_back({"finish", DType::f32, {{DType::f32, "x"}}, "x * scale"});
  CHECK(error_of(plan).message == "hook finish:1:5: error: identifier \"scale\" is undefined");
}

TEST_CASE("a mistake in inline PTX is at the asm statement's line") {
  const Error error =
      error_of(plan_of("extern \"C\" __global__ void k(int* p) {\n"
                       "  p[0] = 1;\n"
                       "  asm volatile(\"bad.instr %0;\" :: \"r\"(p[1]));\n"
                       "}\n"));
  CHECK(error.message == "templates/kernels/k.cu:3:3: error: ptxas: Unknown modifier '.instr'");
  CHECK(error.detail.starts_with("PTX: bad.instr %r"));
  CHECK(error.detail.find("\n  asm volatile(\"bad.instr %0;\" :: \"r\"(p[1]));\n  ^\n") != std::string::npos);
}

TEST_CASE("a mistake in a primitive's inline PTX is in the primitive's header") {
  const Error error = error_of(plan_of("extern \"C\" __global__ void k(unsigned* p) { bad_primitive(p[0]); }\n"));
  CHECK(error.message == "device/types.cuh:5:3: error: ptxas: Unknown modifier '.instr'");
}

TEST_CASE("a file name with brackets, quotes and spaces is understood") {
  Plan plan = plan_of("extern \"C\" __global__ void k() { nosuch; }\n");
  plan.file = "/home/me/a \"b\" (3): c.cu";
  CHECK(error_of(plan).message == "/home/me/a \"b\" (3): c.cu:1:34: error: identifier \"nosuch\" is undefined");
}

TEST_CASE("many errors are cut at twenty") {
  std::string body = "extern \"C\" __global__ void k(int* p) {\n";
  for (int i = 0; i < 30; ++i) body += fmt::format("  p[{}] = nosuch{};\n", i, i);
  const Error error = error_of(plan_of(body + "}\n"));
  CHECK(error.detail.ends_with("and 10 more errors"));
}

TEST_CASE("a hook's body that ends without a return is an error at its last line") {
  for (const char* text : {"if (a > 0.0f) b = a;\nb *= 2.0f;", "if (a > 0.0f) return a;\nb *= 2.0f;"}) {
    const auto cubin = nvrtc().compile(source_of(plan_with_hook(text)));
    REQUIRE_FALSE(cubin);
    CHECK(cubin.error().code == ErrorCode::compile);
    CHECK_MESSAGE(cubin.error().message.starts_with("hook apply:2:11: error: missing return statement"),
                  cubin.error().message);
  }
  CHECK(nvrtc().compile(source_of(plan_with_hook("if (a > 0.0f) return a;\nreturn b;"))));
  CHECK(hook_error("if (a > 0.0f) return a;\nreturn;")
            .message.starts_with("hook apply:2:7: error: non-void function \"Hooks::apply\" should return a value"));
}

}  // namespace tma_jit::compile
