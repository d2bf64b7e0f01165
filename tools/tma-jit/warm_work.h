// What `warm` builds: each kernel of a list or of the command line, for each target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/engine.h>

#include "list_file.h"
#include "settings.h"

namespace tma_jit::cli {

// One kernel to build: a request of one target's engine.
struct Task {
  Engine* engine;
  Request request;
  std::string arch;
  std::string place;  // "warm.jsonl:12"; empty if the command line names the kernel
};

// A device to plan for, and the target instead of its own; either may be empty.
struct Target {
  std::string device;
  std::string arch;
};

// Engines by target, each created when the first line needs it.
class Targets {
 public:
  Targets(const Settings& settings, unsigned jobs) : settings_(settings), jobs_(jobs) {}
  Outcome<Engine*> engine(const Target& target);
  // Returns how many kernels were compiled that no cache folder could take.
  std::uint64_t not_kept() const;

 private:
  const Settings& settings_;
  const unsigned jobs_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Engine>> engines_;
};

class Work {
 public:
  Work(const Settings& settings, unsigned jobs) : settings_(settings), targets_(settings, jobs) {}

  // Each of the devices with each of the targets; a device alone has its own target.
  Outcome<void> choose_targets();
  Outcome<void> add(const ListEntry& entry);

  const std::vector<Task>& tasks() const { return tasks_; }
  // Lines for other targets, and kernels without a file for one.
  std::size_t skipped() const { return skipped_; }
  std::uint64_t not_kept() const { return targets_.not_kept(); }

 private:
  // Returns the target of a device; empty if --device is not given, or names the emulator without one.
  Outcome<std::string> own_arch(const std::string& device);
  Outcome<void> add_for(const ListEntry& entry, const Target& target);

  const Settings& settings_;
  Targets targets_;
  std::vector<Target> chosen_;
  std::vector<Task> tasks_;
  std::size_t skipped_ = 0;
};

}  // namespace tma_jit::cli
