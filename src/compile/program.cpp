#include "compile/program.h"

#include <pthread.h>

#include <atomic>
#include <chrono>

#include "core/failure.h"

namespace tma_jit::compile {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> list;
  list.reserve(strings.size());
  for (const std::string& string : strings) list.push_back(string.c_str());
  return list;
}

class Program {
 public:
  Program(const NvrtcApi& api, const Source& source) : api_(api) {
    std::vector<const char*> names, texts;
    for (const Header& header : source.headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    created_ = api.create(&program_, source.text.c_str(), source.name.c_str(), static_cast<int>(names.size()),
                          texts.data(), names.data());
  }
  ~Program() {
    if (created_ == NVRTC_SUCCESS) api_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult created() const { return created_; }

  nvrtcResult compile(const std::vector<std::string>& options) {
    const std::vector<const char*> list = pointers(options);
    return api_.compile(program_, static_cast<int>(list.size()), list.data());
  }

  // Returns a text whose size NVRTC counts with its terminator; empty if there is none.
  std::string text(decltype(&nvrtcGetPTXSize) size_of, decltype(&nvrtcGetPTX) get) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != NVRTC_SUCCESS || size < 2) return {};
    std::string text(size, '\0');
    if (get(program_, text.data()) != NVRTC_SUCCESS) return {};
    text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
    return text;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    if (api_.cubin_size(program_, &size) != NVRTC_SUCCESS) return {};
    std::vector<std::byte> bytes(size);
    if (size > 0 && api_.cubin(program_, reinterpret_cast<char*>(bytes.data())) != NVRTC_SUCCESS) bytes.clear();
    return bytes;
  }

 private:
  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult created_;
};

Verdict verdict_of(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS: return Verdict::success;
    case NVRTC_ERROR_COMPILATION: return Verdict::refused;
    case NVRTC_ERROR_INVALID_OPTION: return Verdict::invalid_option;
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: return Verdict::missing_builtins;
    case NVRTC_ERROR_OUT_OF_MEMORY: return Verdict::out_of_memory;
    default: return Verdict::failed;
  }
}

}  // namespace

Outcome run_program(const NvrtcApi& api, const Job& job) {
  Outcome outcome;
  Program program(api, job.source);
  nvrtcResult result = program.created();
  if (result == NVRTC_SUCCESS) {
    const auto start = std::chrono::steady_clock::now();
    result = program.compile(job.options);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    outcome.milliseconds = wall.count();
    outcome.log = program.text(api.log_size, api.log);
    if (job.wants_ptx || result != NVRTC_SUCCESS) outcome.ptx = program.text(api.ptx_size, api.ptx);
    if (result == NVRTC_SUCCESS) outcome.cubin = program.cubin();
  }
  outcome.verdict = verdict_of(result);
  outcome.words = api.error_string(result);
  outcome.identity = api.identity;
  return outcome;
}

NvrtcFacts facts_of(const NvrtcApi& api) {
  NvrtcFacts facts{api.release, {}, api.identity};
  int count = 0;
  if (api.count_archs(&count) != NVRTC_SUCCESS || count <= 0) return facts;
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (api.list_archs(numbers.data()) != NVRTC_SUCCESS) return facts;
  for (const int number : numbers) facts.archs.push_back("sm_" + std::to_string(number));
  return facts;
}

namespace {

// Runs in progress, and in the child of a fork those that continue only in its parent. NVRTC holds locks of its own
// during a run.
std::atomic<int> runs = 0, lost_runs = 0;

[[maybe_unused]] const int kRegistered = ::pthread_atfork(nullptr, nullptr, [] { lost_runs += runs.exchange(0); });

struct UnderWay {
  UnderWay() { ++runs; }
  ~UnderWay() { --runs; }
};

class InProcess final : public Runner {
 public:
  explicit InProcess(NvrtcApi api) : api_(std::move(api)), facts_(facts_of(api_)) {}
  Result<Outcome> run(const Job& job) override {
    if (lost_runs > 0) {
      return failure(
          ErrorCode::nvrtc,
          "this process was forked while NVRTC compiled in its parent, so that its locks are never released: "
          "compile in a worker process, as is the default, or start a program in the child");
    }
    const UnderWay under_way;
    return run_program(api_, job);
  }
  const NvrtcFacts& facts() const override { return facts_; }
  std::string place() const override { return "this process"; }

 private:
  const NvrtcApi api_;
  const NvrtcFacts facts_;
};

}  // namespace

Result<std::shared_ptr<Runner>> run_in_process(const std::filesystem::path& nvrtc) {
  TMA_JIT_ASSIGN(NvrtcApi api, NvrtcApi::load(nvrtc));
  return std::make_shared<InProcess>(std::move(api));
}

}  // namespace tma_jit::compile
