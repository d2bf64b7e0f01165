// The machine's NVRTC, opened once, and small sources to give it.
#pragma once

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "compile/compiler.h"
#include "core/failure.h"
#include "source/emit.h"

namespace tma_jit::compile {

inline Compiler& nvrtc() {
  static const std::shared_ptr<Compiler> compiler = [] {
    const auto location = locate(std::filesystem::path());
    if (!location) throw std::runtime_error(location.error().text());
    auto opened = Compiler::open(*location);
    if (!opened) throw std::runtime_error(opened.error().text());
    return *opened;
  }();
  return *compiler;
}

inline constexpr std::string_view kTypes =
    "#pragma once\n"
    "using f32 = float;\n"
    "using u32 = unsigned int;\n"
    "__device__ inline void bad_primitive(u32 x) {\n"
    "  asm volatile(\"worse.instr %0;\" :: \"r\"(x));\n"
    "}\n";

inline source::EmitOptions test_headers() {
  source::EmitOptions options;
  options.header = [](std::string_view name) -> Result<std::string> {
    if (name == "device/types.cuh") return std::string(kTypes);
    return failure(ErrorCode::not_found, "known headers: device/types.cuh");
  };
  return options;
}

inline Plan plan_of(std::string body, std::string arch = "sm_90a") {
  Plan plan;
  plan.kernel = plan.entry = "k";
  plan.file = "templates/kernels/k.cu";
  plan.arch = std::move(arch);
  plan.body = std::move(body);
  return plan;
}

inline Plan plan_with_hook(std::string text) {
  Plan plan =
      plan_of("extern \"C\" __global__ void k(float* p, const Hooks hooks) { p[0] = hooks.apply(p[0], p[1]); }\n");
  plan.hooks = {{"apply", DType::f32, {{DType::f32, "a"}, {DType::f32, "b"}}, std::move(text)}};
  return plan;
}

inline Source source_of(const Plan& plan) {
  return source::emit(plan, test_headers()).value();
}

inline constexpr const char* kGoodBody = "extern \"C\" __global__ void k(float* p) { p[threadIdx.x] *= 2.0f; }\n";

}  // namespace tma_jit::compile
