// Pools of the tests' own worker, which fails as its sources ask it to.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "compile/worker_pool.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {

// The tests' worker, and the real one, as programs.
std::filesystem::path test_worker();
std::filesystem::path real_worker();

struct WorkerBench {
  TemporaryFolder folder;
  std::mutex mutex;
  std::vector<std::string> warnings;
  WorkerPool::Settings settings;

  explicit WorkerBench(std::vector<std::string> more = {}) {
    settings.worker.command.program = test_worker();
    settings.worker.command.environment = ProcessEnvironment::read().words;
    settings.worker.command.arguments = {"--slot-file", (folder.path() / "slots").string(), "--slots", "4"};
    for (std::string& word : more) settings.worker.command.arguments.push_back(std::move(word));
    settings.worker.compile_limit = std::chrono::seconds(60);
    settings.workers = 4;
    settings.warn = [this](const std::string& what) {
      const std::lock_guard lock(mutex);
      warnings.push_back(what);
    };
  }
  std::shared_ptr<WorkerPool> open() const { return WorkerPool::open(settings).value(); }
  // Directive words with which a job lasts until something was warned of.
  std::string release_when_told() {
    const std::filesystem::path file = folder.path() / "told";
    settings.warn = [warn = settings.warn, file](const std::string& what) {
      warn(what);
      std::ofstream(file).flush();
    };
    return "FAULT(wait, for, " + file.string() + ")";
  }
  // Directive words that hold the first time only.
  std::string once(const char* what, const char* name = "once") const {
    return std::string("FAULT(") + what + ", once, " + (folder.path() / name).string() + ")";
  }
};

inline Job job_of(std::string text) {
  Job job;
  job.source.kernel = "k";
  job.source.arch = "sm_90a";
  job.source.name = "k.cu";
  job.source.text = std::move(text);
  return job;
}

// The number in the line of an echo's log that begins with `name`.
inline std::string fact(const std::string& log, const std::string& name) {
  const std::size_t at = log.find(name + " ");
  if (at == std::string::npos) return {};
  return log.substr(at + name.size() + 1, log.find('\n', at) - at - name.size() - 1);
}

}  // namespace tma_jit::compile
