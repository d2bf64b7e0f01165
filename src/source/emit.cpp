#include "source/emit.h"

#include "core/failure.h"
#include "source/form.h"
#include "source/hook_check.h"
#include "source/preamble.h"

namespace tma_jit::source {

// Uses C++17, nvcc's default, so that the standalone file and the text for NVRTC are the same program. NVRTC compiles
// C++17 and C++20 equally fast.
Result<Source> emit(const Plan& plan, const EmitOptions& options) {
  const std::vector<Operand> operands = operands_of(plan);
  for (const Hook& hook : plan.hooks) TMA_JIT_CHECK(check_hook(hook, operands));
  Source source;
  source.kernel = plan.kernel;
  source.entry = plan.entry;
  const bool ptx = options.form == Artifact::Form::ptx;
  source.arch = ptx ? virtual_of(plan.arch) : plan.arch;
  source.name = plan.file;
  source.text = preamble(plan);
  const std::size_t preamble_bytes = source.text.size();
  source.text += plan.body;
  source.options = {"-std=c++17"};
  if (options.line_info || ptx) source.options.emplace_back("-lineinfo");
  const std::string_view written = std::string_view(source.text).substr(0, preamble_bytes);
  TMA_JIT_ASSIGN(source.headers, reachable_headers({{kPreambleName, written}, {plan.file, plan.body}}, options.header));
  return source;
}

}  // namespace tma_jit::source
