// The list of what an application asked for: a line of a warm list for each request that was prepared.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include <tma_jit/request.h>

#include "base/log.h"

namespace tma_jit::engine {

// Thread-safe. Several processes may write to the file: each line is a single write to its end.
class RequestRecord {
 public:
  // An empty path records nothing.
  RequestRecord(std::filesystem::path list, Logger log) : list_(std::move(list)), log_(std::move(log)) {}

  // Appends the request unless this engine has done so, or found it in the file when it added its first.
  void add(const Request& request);

 private:
  void read();

  const std::filesystem::path list_;
  const Logger log_;
  std::mutex mutex_;
  bool failed_ = false;
  bool read_ = false;
  std::set<std::string> lines_;  // those of the file, without newlines
};

}  // namespace tma_jit::engine
