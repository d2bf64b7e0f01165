// Chrome's trace event format, which Perfetto reads: "X" events are slices, "b" and "e" events the ends of an
// operation, "M" events names. One microsecond in the file is one instruction.
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "emulator/machine/machine.h"
#include "emulator/observe/trace.h"

namespace tma_jit::emulator::observe {
namespace {

constexpr u32 kBlocksOfLaunch = 100'000;  // range of process numbers of one launch

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string events_of(const Trace& trace, const std::string& kernel, u32 launch) {
  std::string text;
  const u32 base = launch * kBlocksOfLaunch;
  u64 id = u64{launch} << 32;
  for (const Event& e : trace.events()) {
    const u32 process = base + e.block % kBlocksOfLaunch;
    const std::string name = e.name.empty() ? fmt::format("\"phase {}\"", e.detail) : json_text(e.name);
    if (e.kind == Event::Kind::slice) {
      text += fmt::format(
          R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"{}","name":{},"args":{{"ptx_line":{}}}}},)"
          "\n",
          process, e.track, e.begin, e.end - e.begin, e.category, name, e.line);
      continue;
    }
    ++id;
    const std::string common =
        fmt::format(R"("pid":{},"tid":{},"id":{},"cat":"operation","name":{})", process, e.track, id, name);
    text += fmt::format(R"({{"ph":"b","ts":{},{},"args":{{"ptx_line":{}}}}},)"
                        "\n",
                        e.begin, common, e.line);
    text += fmt::format(R"({{"ph":"e","ts":{},{}}},)"
                        "\n",
                        e.end, common);
  }
  for (const auto& [block, tracks] : trace.tracks()) {
    const u32 process = base + block % kBlocksOfLaunch;
    text += fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)"
                        "\n",
                        process, json_text(fmt::format("{} block {}", kernel, block)));
    for (const auto& [track, name] : tracks) {
      text += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}},)"
                          "\n",
                          process, track, json_text(name));
    }
  }
  return text;
}

template <class Map> std::string object_of(const Map& counts) {
  std::string text = "{";
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", json_text(name), count);
  return text + "}";
}

std::string summary_of(const Machine& machine, const Trace& trace, const std::string& kernel) {
  std::map<std::string_view, u64> mix;
  for (std::size_t i = 0; i < kClasses; ++i) mix[name_of(static_cast<Class>(i))] = trace.mix()[i];
  std::string shared = "{";
  for (const auto& [name, use] : trace.shared()) {
    shared += fmt::format(R"({}{}:{{"instructions":{},"wavefronts":{},"conflicts":{}}})", shared.size() > 1 ? "," : "",
                          json_text(name), use.instructions, use.wavefronts, use.wavefronts - use.least);
  }
  const Dim3& grid = machine.shape().grid;
  return fmt::format(R"({{"kernel":{},"arch":{},"policy":{},"seed":{},"grid":[{},{},{}],"instructions":{},"mix":{},)"
                     R"("opcodes":{},"shared":{}}},"bytes":{},"events_dropped":{}}})",
                     json_text(kernel), json_text(machine.device().arch),
                     json_text(policy_name(machine.settings().policy)), machine.settings().seed, grid[0], grid[1],
                     grid[2], trace.time(), object_of(mix), object_of(trace.opcodes()), shared,
                     object_of(trace.bytes()), trace.dropped());
}

// Ignores SIGXFSZ, so that a write beyond the file size limit (RLIMIT_FSIZE) fails instead of ending the process.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const timespec at_once{};
    if (::sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t signal_{}, before_{};
};

// The part of a file written so far; the next launch is inserted before its end.
struct Written {
  std::streamoff end = 0;
  u32 launches = 0;
  std::string summaries;
};

}  // namespace

bool write_timeline(const std::string& file, const Machine& machine, const Trace& trace) {
  static std::mutex mutex;
  static std::map<std::string, Written> files;
  const std::lock_guard lock(mutex);
  Written& written = files[file];
  const std::string kernel(machine.program().function->name);
  const auto mode = std::ios::binary | std::ios::out | (written.launches == 0 ? std::ios::trunc : std::ios::in);
  const NoSizeSignal no_signal;
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  std::fstream out(file, mode);
  if (!out) return false;
  out.seekp(written.end);
  if (written.launches == 0) out << "{\"traceEvents\":[\n";
  out << events_of(trace, kernel, written.launches);
  written.end = out.tellp();
  written.summaries += (written.launches == 0 ? "" : ",\n") + summary_of(machine, trace, kernel);
  ++written.launches;
  out << "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"time is in "
         "instructions\"}}\n],\n\"launches\":["
      << written.summaries << "]}\n";
  return static_cast<bool>(out.flush());
}

}  // namespace tma_jit::emulator::observe
