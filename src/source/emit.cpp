#include "source/emit.h"

#include "core/failure.h"
#include "source/form.h"
#include "source/hook_check.h"
#include "source/preamble.h"

namespace tma_jit::source {
namespace {

// A source without its headers.
struct Outline {
  Source source;
  std::size_t preamble_bytes = 0;

  // Returns the texts that include headers.
  std::vector<Root> roots(const Plan& plan) const {
    return {{kPreambleName, std::string_view(source.text).substr(0, preamble_bytes)}, {plan.file, plan.body}};
  }
};

// Uses C++17, nvcc's default, so that the standalone file and the text for NVRTC are the same program. NVRTC compiles
// C++17 and C++20 equally fast.
Result<Outline> outline_of(const Plan& plan, const EmitOptions& options) {
  const std::vector<Operand> operands = operands_of(plan);
  for (const Hook& hook : plan.hooks) TMA_JIT_CHECK(check_hook(hook, operands));
  Outline outline;
  Source& source = outline.source;
  source.kernel = plan.kernel;
  source.entry = plan.entry;
  const bool ptx = options.form == Artifact::Form::ptx;
  source.arch = ptx ? virtual_of(plan.arch) : plan.arch;
  source.name = plan.file;
  source.text = preamble(plan);
  outline.preamble_bytes = source.text.size();
  source.text += plan.body;
  source.options = {"-std=c++17"};
  if (options.line_info || ptx) source.options.emplace_back("-lineinfo");
  return outline;
}

Result<Source> with_headers(Outline outline, const Plan& plan, const EmitOptions& options) {
  TMA_JIT_ASSIGN(outline.source.headers, reachable_headers(outline.roots(plan), options.header));
  return std::move(outline.source);
}

}  // namespace

Result<Source> emit(const Plan& plan, const EmitOptions& options) {
  TMA_JIT_ASSIGN(Outline outline, outline_of(plan, options));
  return with_headers(std::move(outline), plan, options);
}

Result<Draft> draft(const Plan& plan, const EmitOptions& options) {
  TMA_JIT_ASSIGN(Outline outline, outline_of(plan, options));
  auto headers = options.shipped ? shipped_reach(outline.roots(plan)) : std::nullopt;
  if (headers) return Draft(std::move(outline.source), *std::move(headers));
  TMA_JIT_ASSIGN(Source whole, with_headers(std::move(outline), plan, options));
  return Draft(std::move(whole));
}

}  // namespace tma_jit::source
