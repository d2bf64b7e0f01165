#include "compile/compiler.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "compile/cubin_check.h"
#include "compile/entry_check.h"
#include "compile/report.h"
#include "compile/resources.h"
#include "compile/source_map.h"
#include "core/failure.h"
#include "source/form.h"
#include "source/key.h"

namespace tma_jit::compile {
namespace {

// Warnings that are expected in a specialised template: unused variable (177, 550), statement or loop that a constant
// makes unreachable (111, 128), unsigned compared with a zero constant (186).
constexpr std::string_view kSuppress = "-diag-suppress=177,550,111,128,186";

// Without this option NVRTC searches the folder of the source's name and the working folder.
constexpr std::string_view kNoSearch = "--no-source-include";

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

struct Compiler::State {
  Location location;
  std::shared_ptr<Runner> runner;
  std::once_flag version_once, archs_once;
  std::string version;
  std::vector<std::string> archs;
  mutable std::mutex replacement_mutex;
  mutable std::optional<std::string> replacement;

  const Release& release() const { return runner->facts().release; }
  std::vector<std::string> options(const Source& source, const std::string& arch) const;
  Result<Outcome> run(const Source& source, const std::string& arch, std::vector<std::string> extra = {}) const;
  Result<Artifact> compile_to_ptx(const Source& source) const;
  tl::unexpected<Error> explain(const Source& source, const Outcome& outcome) const;
  tl::unexpected<Error> replaced(const Outcome& outcome) const;
  Error refused_options(const Source& source, const Outcome& outcome) const;
  std::vector<Diagnostic> diagnostics_of(const Source& source, const Outcome& outcome) const;
  std::vector<Diagnostic> placed(const Source& source, const Outcome& outcome) const;
  bool compiles_for(const std::string& arch) const;
  // Returns whether NVRTC answers that it has no such target: it compiles not even an empty kernel for it.
  bool refuses_target(const std::string& arch) const;
  void probe_archs();
  void probe_version();
};

std::vector<std::string> Compiler::State::options(const Source& source, const std::string& arch) const {
  std::vector<std::string> options = {"--gpu-architecture=" + arch, std::string(kSuppress), std::string(kNoSearch)};
  // A hit in NVRTC's own cache would suppress the resource report and falsify the compile time.
  if (release() >= kCachingRelease) options.emplace_back("--no-cache");
  options.insert(options.end(), source.options.begin(), source.options.end());
  return options;
}

Result<Outcome> Compiler::State::run(const Source& source, const std::string& arch,
                                     std::vector<std::string> extra) const {
  Job job{source, options(source, arch), !is_real(arch)};
  auto [name, text] = source::as_compiled(source);
  job.source.name = std::move(name);
  job.source.text = std::move(text);
  std::ranges::move(extra, std::back_inserter(job.options));
  auto outcome = runner->run(job);
  if (outcome && !outcome->identity.empty() && outcome->identity != location.identity) return replaced(*outcome);
  if (!outcome) outcome.error().message = fmt::format("{} for {}: {}", source.kernel, arch, outcome.error().message);
  return outcome;
}

tl::unexpected<Error> Compiler::State::replaced(const Outcome& outcome) const {
  const std::lock_guard lock(replacement_mutex);
  replacement = outcome.identity;
  return failure(ErrorCode::nvrtc, ErrorReason::library_replaced,
                 "{} is another NVRTC than before: it was {}, and {} was loaded from there", location.path.string(),
                 location.identity, outcome.identity);
}

Error Compiler::State::refused_options(const Source& source, const Outcome& outcome) const {
  if (!refuses_target(source.arch)) {
    return {ErrorCode::nvrtc, fmt::format("NVRTC {} refuses its options", release().text()),
            std::string(trimmed(outcome.log))};
  }
  Error error{ErrorCode::unsupported,
              fmt::format("{}: NVRTC {} does not compile for \"{}\"", source.kernel, release().text(), source.arch),
              fmt::format("it knows {}", joined(runner->facts().archs)), ErrorReason::target_unknown};
  if (const Release first = first_release_for(source.arch); first > release()) {
    error.detail += fmt::format("\n{} needs NVRTC {} or newer", source.arch, first.text());
  }
  return error;
}

// Returns the diagnostics of a compile, positioned in the source's own file names.
std::vector<Diagnostic> Compiler::State::diagnostics_of(const Source& source, const Outcome& outcome) const {
  const std::string name = source::as_compiled(source).name;
  std::vector<Diagnostic> diagnostics = parse_log(outcome.log);
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.file == name) diagnostic.file = source.name;
  }
  return diagnostics;
}

// ptxas reports lines of the PTX. Compiles again with line information, so that the PTX tells the template line of each
// of its lines; the line numbers in the second log refer to the second PTX.
std::vector<Diagnostic> Compiler::State::placed(const Source& source, const Outcome& outcome) const {
  std::vector<Diagnostic> diagnostics = diagnostics_of(source, outcome);
  if (std::ranges::none_of(diagnostics, [](const Diagnostic& d) { return d.assembler && d.line > 0; }))
    return diagnostics;
  Source with_lines = source;
  with_lines.options.emplace_back("-lineinfo");
  const auto traced = run(with_lines, source.arch);
  if (!traced) return diagnostics;
  const SourceMap map(source);
  diagnostics = diagnostics_of(with_lines, *traced);
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.assembler) map.place(diagnostic, traced->ptx);
  }
  return diagnostics;
}

tl::unexpected<Error> Compiler::State::explain(const Source& source, const Outcome& outcome) const {
  if (outcome.verdict == Verdict::invalid_option) return tl::make_unexpected(refused_options(source, outcome));
  if (outcome.verdict == Verdict::refused) {
    std::vector<Diagnostic> diagnostics = placed(source, outcome);
    const bool positioned = std::ranges::any_of(diagnostics, [](const Diagnostic& found) { return found.line > 0; });
    if (!positioned && refuses_target(source.arch)) return tl::make_unexpected(refused_options(source, outcome));
    return tl::make_unexpected(compile_error(source, std::move(diagnostics), outcome.log));
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

bool Compiler::State::refuses_target(const std::string& arch) const {
  const auto outcome = run(trivial_source(), arch);
  return outcome && outcome->verdict != Verdict::success;
}

// NVRTC lists only targets without suffix. Suffixes exist from sm_90a and sm_100f on.
void Compiler::State::probe_archs() {
  for (const std::string& base : runner->facts().archs) {
    archs.push_back(base);
    if (Release::in(base).major < 90) continue;
    for (const char* suffix : {"a", "f"}) {
      if (compiles_for(base + suffix)) archs.push_back(base + suffix);
    }
  }
}

// Reads the PTX's header "// Cuda compilation tools, release 13.0, V13.0.88".
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

Result<Artifact> Compiler::compile(const Source& source) {
  if (source::form_of(source.arch) == Artifact::Form::ptx) return state_->compile_to_ptx(source);
  TMA_JIT_ASSIGN(Outcome outcome, state_->run(source, source.arch, {"--ptxas-options=-v"}));
  if (outcome.verdict != Verdict::success) return state_->explain(source, outcome);
  TMA_JIT_CHECK(check_cubin(outcome.cubin, source.arch));
  if (const auto functions = functions_of_cubin(outcome.cubin)) TMA_JIT_CHECK(check_entry(source, *functions));
  Artifact artifact;
  artifact.bytes = std::move(outcome.cubin);
  artifact.entry = source.entry;
  artifact.arch = source.arch;
  artifact.resources = parse_resources(outcome.log, source.entry, state_->diagnostics_of(source, outcome));
  artifact.compile_ms = outcome.milliseconds;
  artifact.compiled = true;
  return artifact;
}

Result<Artifact> Compiler::State::compile_to_ptx(const Source& source) const {
  TMA_JIT_ASSIGN(Outcome outcome, run(source, source.arch));
  if (outcome.verdict != Verdict::success) return explain(source, outcome);
  if (outcome.ptx.empty())
    return failure(ErrorCode::nvrtc, "{}: NVRTC reported success, but gave no PTX", source.kernel);
  TMA_JIT_CHECK(check_entry(source, kernels_of_ptx(outcome.ptx)));
  Artifact artifact;
  artifact.form = Artifact::Form::ptx;
  const std::string ptx = SourceMap(source).with_own_names(std::move(outcome.ptx));
  const auto* text = reinterpret_cast<const std::byte*>(ptx.c_str());
  artifact.bytes.assign(text, text + ptx.size() + 1);
  artifact.entry = source.entry;
  artifact.arch = source.arch;
  artifact.compile_ms = outcome.milliseconds;
  artifact.compiled = true;
  return artifact;
}

Result<std::string> Compiler::ptx(const Source& source) {
  TMA_JIT_ASSIGN(Outcome outcome, state_->run(source, source::virtual_of(source.arch)));
  if (outcome.verdict != Verdict::success) return state_->explain(source, outcome);
  if (outcome.ptx.empty())
    return failure(ErrorCode::nvrtc, "{}: NVRTC reported success, but gave no PTX", source.kernel);
  TMA_JIT_CHECK(check_entry(source, kernels_of_ptx(outcome.ptx)));
  return SourceMap(source).with_own_names(std::move(outcome.ptx));
}

std::vector<std::string> Compiler::options(const Source& source) const {
  return state_->options(source, source.arch);
}

const Location& Compiler::location() const {
  return state_->location;
}

std::optional<std::string> Compiler::replacement() const {
  const std::lock_guard lock(state_->replacement_mutex);
  return state_->replacement;
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

std::vector<std::string> Compiler::missing_features() const {
  return compile::missing_features(state_->runner->facts().release);
}

}  // namespace tma_jit::compile
