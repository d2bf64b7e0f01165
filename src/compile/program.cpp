#include "compile/program.h"

#include <chrono>

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

  // Text NVRTC counts with its terminator; empty where there is none.
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

}  // namespace

Outcome run_program(const NvrtcApi& api, const Source& source, const std::vector<std::string>& options) {
  Outcome outcome;
  Program program(api, source);
  outcome.result = program.created();
  if (outcome.result != NVRTC_SUCCESS) return outcome;
  const auto start = std::chrono::steady_clock::now();
  outcome.result = program.compile(options);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  outcome.milliseconds = wall.count();
  outcome.log = program.text(api.log_size, api.log);
  outcome.ptx = program.text(api.ptx_size, api.ptx);
  if (outcome.result == NVRTC_SUCCESS) outcome.cubin = program.cubin();
  return outcome;
}

}  // namespace tma_jit::compile
