// The main function of a worker: parses its arguments, then serves jobs; or compiles one file, to reproduce a crash.
#include <tma_jit/compile_worker.h>

#include <malloc.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "base/file.h"
#include "compile/confinement.h"
#include "compile/find_worker.h"
#include "compile/serve.h"

namespace tma_jit {
namespace {

constexpr int kUsage = 2;

struct Words {
  compile::ServeSettings serve;
  std::filesystem::path nvrtc;
  std::string file, output;
  std::vector<std::string> options;  // NVRTC's options, to compile one file
  bool understood = true;
};

template <class T> bool parse(std::string_view text, T& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size();
}

// Returns false if the worker has no setting of this name.
bool take(Words& words, std::string_view name, std::string_view value) {
  std::int64_t milliseconds = 0;
  bool good = true;
  if (name == "--nvrtc") {
    words.nvrtc = value;
  } else if (name == "--file") {
    words.file = value;
  } else if (name == "-o") {
    words.output = value;
  } else if (name == "--slot-file") {
    words.serve.slots.file = value;
  } else if (name == "--slots") {
    good = parse(value, words.serve.slots.count);
  } else if (name == "--memory") {
    good = parse(value, words.serve.memory_bytes);
  } else if (name == "--idle-ms") {
    good = parse(value, milliseconds);
    words.serve.idle = std::chrono::milliseconds(milliseconds);
  } else {
    return false;
  }
  words.understood = words.understood && good;
  return true;
}

Words words_of(int argc, char** argv) {
  Words words;
  for (int i = 2; i < argc; ++i) {
    if (i + 1 < argc && take(words, argv[i], argv[i + 1])) {
      ++i;
    } else {
      words.options.emplace_back(argv[i]);
    }
  }
  words.understood = words.understood && !words.nvrtc.empty() && (words.options.empty() || !words.file.empty());
  return words;
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

int compile_file(const Words& words) {
  const auto runner = compile::run_in_process(words.nvrtc);
  if (!runner) return fail(runner.error());
  auto text = read_file(words.file);
  if (!text) return fail(text.error());
  compile::Job job;
  job.source.name = words.file;
  job.source.text = std::move(*text);
  job.options = words.options;
  const auto outcome = (*runner)->run(job);
  if (!outcome) return fail(outcome.error());
  std::fprintf(stderr, "%s%s, %zu bytes of cubin\n", outcome->log.c_str(), outcome->words.c_str(),
               outcome->cubin.size());
  if (!words.output.empty()) {
    const auto written =
        write_file(words.output, {reinterpret_cast<const char*>(outcome->cubin.data()), outcome->cubin.size()});
    if (!written) return fail(written.error());
  }
  return outcome->verdict == compile::Verdict::success ? 0 : 1;
}

// Has the allocator keep what a compile frees for the next one. NVRTC allocates and frees tens of megabytes a compile:
// given back to the system each time, their pages cost a twentieth of the compile to get again.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMegabyte = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMegabyte);  // the most that glibc takes
  ::mallopt(M_TRIM_THRESHOLD, 512 * kMegabyte);
  ::mallopt(M_TOP_PAD, 16 * kMegabyte);
#endif
}

}  // namespace

std::optional<int> run_compile_worker(int argc, char** argv) {
  if (argc < 2 || argv[1] != compile::kWorkerFlag) {
    compile::offer_self();
    return std::nullopt;
  }
  const Words words = words_of(argc, argv);
  if (!words.understood) {
    std::fprintf(stderr, "%s: a compile worker of tma-jit, started with words it does not know\n", argv[0]);
    return kUsage;
  }
  if (!words.file.empty()) return compile_file(words);
  keep_freed_memory();
  // _exit skips NVRTC's destructors, which are known to crash.
  ::_exit(compile::serve(words.serve, [&] {
    compile::Service service = compile::nvrtc_service(words.nvrtc);
    compile::confine();
    return service;
  }));
}

}  // namespace tma_jit
