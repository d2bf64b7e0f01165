#include "compile/compiler.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/failure.h"
#include "base/text.h"
#include "compile/cubin_check.h"
#include "compile/report.h"
#include "compile/resources.h"
#include "compile/source_map.h"

namespace tma_jit::compile {
namespace {

// Warnings that a specialised template causes by being specialised: unused variable (177, 550), statement or loop that
// a constant makes unreachable (111, 128), unsigned compared with a zero constant (186).
constexpr std::string_view kSuppress = "-diag-suppress=177,550,111,128,186";

Source trivial_source() {
  Source source;
  source.kernel = source.entry = "probe";
  source.name = "probe.cu";
  source.text = "extern \"C\" __global__ void probe() {}\n";
  return source;
}

bool is_real(std::string_view arch) {
  return arch.starts_with("sm_");
}

}  // namespace

std::string virtual_of(std::string_view arch) {
  return is_real(arch) ? fmt::format("compute_{}", arch.substr(3)) : std::string(arch);
}

struct Compiler::State {
  Location location;
  std::shared_ptr<Runner> runner;
  std::once_flag version_once, archs_once;
  std::string version;
  std::vector<std::string> archs;

  const Release& release() const { return runner->facts().release; }
  std::vector<std::string> options(const Source& source, const std::string& arch) const;
  Result<Outcome> run(const Source& source, const std::string& arch, std::vector<std::string> extra = {}) const;
  Result<Cubin> compile_to_ptx(const Source& source) const;
  tl::unexpected<Error> explain(const Source& source, const Outcome& outcome) const;
  Error refused_options(const Source& source, const Outcome& outcome) const;
  std::vector<Diagnostic> placed(const Source& source, const Outcome& outcome) const;
  bool compiles_for(const std::string& arch) const;
  void probe_archs();
  void probe_version();
};

std::vector<std::string> Compiler::State::options(const Source& source, const std::string& arch) const {
  std::vector<std::string> options = {"--gpu-architecture=" + arch, std::string(kSuppress)};
  // A hit in NVRTC's own cache would hide the resource report and the time.
  if (release() >= kCachingRelease) options.emplace_back("--no-cache");
  options.insert(options.end(), source.options.begin(), source.options.end());
  return options;
}

Result<Outcome> Compiler::State::run(const Source& source, const std::string& arch,
                                     std::vector<std::string> extra) const {
  Job job{source, options(source, arch), !is_real(arch)};
  std::ranges::move(extra, std::back_inserter(job.options));
  auto outcome = runner->run(job);
  if (!outcome) outcome.error().message = fmt::format("{} for {}: {}", source.kernel, arch, outcome.error().message);
  return outcome;
}

Error Compiler::State::refused_options(const Source& source, const Outcome& outcome) const {
  if (outcome.log.find("--gpu-architecture") == std::string::npos &&
      outcome.log.find("--nv_arch") == std::string::npos) {
    return {ErrorCode::nvrtc, fmt::format("NVRTC {} refuses its options", release().text()),
            std::string(trimmed(outcome.log))};
  }
  Error error{ErrorCode::unsupported,
              fmt::format("{}: NVRTC {} does not compile for \"{}\"", source.kernel, release().text(), source.arch),
              fmt::format("it knows {}", joined(runner->facts().archs))};
  if (const Release first = first_release_for(source.arch); first > release()) {
    error.detail += fmt::format("\n{} needs NVRTC {} or newer", source.arch, first.text());
  }
  return error;
}

// ptxas counts lines of the PTX. Compiled again with line information, the PTX says which line of the template each
// came from; the second log's numbers fit the second PTX.
std::vector<Diagnostic> Compiler::State::placed(const Source& source, const Outcome& outcome) const {
  std::vector<Diagnostic> diagnostics = parse_log(outcome.log);
  if (std::ranges::none_of(diagnostics, [](const Diagnostic& d) { return d.assembler && d.line > 0; }))
    return diagnostics;
  const auto traced = run(source, source.arch, {"-lineinfo"});
  if (!traced) return diagnostics;
  const SourceMap map(source);
  diagnostics = parse_log(traced->log);
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.assembler) map.place(diagnostic, traced->ptx);
  }
  return diagnostics;
}

tl::unexpected<Error> Compiler::State::explain(const Source& source, const Outcome& outcome) const {
  if (outcome.verdict == Verdict::invalid_option || outcome.log.find("--nv_arch flag") != std::string::npos) {
    return tl::make_unexpected(refused_options(source, outcome));
  }
  if (outcome.verdict == Verdict::refused) {
    return tl::make_unexpected(compile_error(source, placed(source, outcome), outcome.log));
  }
  Error error{ErrorCode::nvrtc, fmt::format("{}: NVRTC {} failed: {}", source.kernel, release().text(), outcome.words),
              std::string(trimmed(outcome.log))};
  if (outcome.verdict == Verdict::missing_builtins) {
    error.detail += fmt::format("{}libnvrtc-builtins.so.{} belongs beside {}", error.detail.empty() ? "" : "\n",
                                release().text(), location.path.string());
  }
  return tl::make_unexpected(std::move(error));
}

bool Compiler::State::compiles_for(const std::string& arch) const {
  const auto outcome = run(trivial_source(), arch);
  return outcome && outcome->verdict == Verdict::success;
}

// NVRTC lists plain targets only. Suffixes begin with sm_90a and sm_100f.
void Compiler::State::probe_archs() {
  for (const std::string& base : runner->facts().archs) {
    archs.push_back(base);
    if (Release::in(base).major < 90) continue;
    for (const char* suffix : {"a", "f"}) {
      if (compiles_for(base + suffix)) archs.push_back(base + suffix);
    }
  }
}

// The PTX opens with "// Cuda compilation tools, release 13.0, V13.0.88".
void Compiler::State::probe_version() {
  version = release().text();
  const auto outcome = run(trivial_source(), "compute_90");
  if (!outcome) return;
  const std::string& ptx = outcome->ptx;
  const std::size_t at = ptx.find(", V");
  if (at == std::string::npos) return;
  const std::size_t end = ptx.find_first_not_of("0123456789.", at + 3);
  const std::string full = ptx.substr(at + 3, end - at - 3);
  if (full.starts_with(version + ".")) version = full;
}

Compiler::Compiler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Compiler::~Compiler() = default;

Result<std::shared_ptr<Compiler>> Compiler::open(const Location& location) {
  TMA_JIT_ASSIGN(auto runner, run_in_process(location.path));
  return over(location, std::move(runner));
}

std::shared_ptr<Compiler> Compiler::over(const Location& location, std::shared_ptr<Runner> runner) {
  auto state = std::make_unique<State>();
  state->location = location;
  state->runner = std::move(runner);
  return std::make_shared<Compiler>(std::move(state));
}

Result<Cubin> Compiler::compile(const Source& source) {
  if (source.arch.starts_with("compute_")) return state_->compile_to_ptx(source);
  TMA_JIT_ASSIGN(Outcome outcome, state_->run(source, source.arch, {"--ptxas-options=-v"}));
  if (outcome.verdict != Verdict::success) return state_->explain(source, outcome);
  TMA_JIT_CHECK(check_cubin(outcome.cubin, source.arch));
  Cubin cubin;
  cubin.bytes = std::move(outcome.cubin);
  cubin.entry = source.entry;
  cubin.arch = source.arch;
  cubin.resources = parse_resources(outcome.log, source.entry, parse_log(outcome.log));
  cubin.compile_ms = outcome.milliseconds;
  cubin.compiled = true;
  return cubin;
}

Result<Cubin> Compiler::State::compile_to_ptx(const Source& source) const {
  TMA_JIT_ASSIGN(const Outcome outcome, run(source, source.arch));
  if (outcome.verdict != Verdict::success) return explain(source, outcome);
  if (outcome.ptx.empty())
    return failure(ErrorCode::nvrtc, "{}: NVRTC reported success, but gave no PTX", source.kernel);
  Cubin cubin;
  const auto* text = reinterpret_cast<const std::byte*>(outcome.ptx.c_str());
  cubin.bytes.assign(text, text + outcome.ptx.size() + 1);
  cubin.entry = source.entry;
  cubin.arch = source.arch;
  cubin.compile_ms = outcome.milliseconds;
  cubin.compiled = true;
  return cubin;
}

Result<std::string> Compiler::ptx(const Source& source) {
  TMA_JIT_ASSIGN(Outcome outcome, state_->run(source, virtual_of(source.arch)));
  if (outcome.verdict != Verdict::success) return state_->explain(source, outcome);
  if (outcome.ptx.empty())
    return failure(ErrorCode::nvrtc, "{}: NVRTC reported success, but gave no PTX", source.kernel);
  return std::move(outcome.ptx);
}

std::vector<std::string> Compiler::options(const Source& source) const {
  return state_->options(source, source.arch);
}

const Location& Compiler::location() const {
  return state_->location;
}

std::string Compiler::place() const {
  return state_->runner->place();
}

std::string Compiler::version() {
  std::call_once(state_->version_once, [this] { state_->probe_version(); });
  return state_->version;
}

std::vector<std::string> Compiler::archs() {
  std::call_once(state_->archs_once, [this] { state_->probe_archs(); });
  return state_->archs;
}

std::vector<std::string> Compiler::lacks() const {
  return compile::lacks(state_->runner->facts().release);
}

}  // namespace tma_jit::compile
