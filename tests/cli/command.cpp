#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace tma_jit::cli {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// The test's environment with its cache and no other TMA_JIT_ variable, and the given ones. No name is there twice.
std::vector<std::string> environment_with(const Variables& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("TMA_JIT_")) all.emplace_back(*entry);
  const bool has_cache = std::any_of(more.begin(), more.end(),
                                     [](const std::string& entry) { return entry.starts_with("TMA_JIT_CACHE_DIR="); });
  const char* shared = std::getenv("TMA_JIT_CACHE_DIR");
  if (!has_cache) all.push_back(shared == nullptr ? own_cache().front() : std::string("TMA_JIT_CACHE_DIR=") + shared);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// A command that has started; its streams go to files whose names end in `suffix`.
class Running {
 public:
  Running(const std::vector<std::string>& words, const Variables& environment, const std::string& suffix)
      : out_(scratch_folder() / ("stdout" + suffix)), err_(scratch_folder() / ("stderr" + suffix)) {
    std::vector<std::string> all = {TMA_JIT_COMMAND};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<std::string> variables = environment_with(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(posix_spawn(&child_, TMA_JIT_COMMAND, &actions, nullptr, pointers(all).data(),
                        pointers(variables).data()) == 0);
    posix_spawn_file_actions_destroy(&actions);
  }

  // Waits for its end, which comes after so many seconds at the latest; 0: however long it takes.
  CommandResult ended(double seconds) {
    using namespace std::chrono;
    const auto until = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(seconds));
    int status = 0;
    pid_t found = ::waitpid(child_, &status, seconds > 0 ? WNOHANG : 0);
    for (; found == 0; found = ::waitpid(child_, &status, WNOHANG)) {
      if (steady_clock::now() >= until) ::kill(child_, SIGKILL);
      std::this_thread::sleep_for(milliseconds(1));
    }
    REQUIRE(found == child_);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out_), content_of(err_)};
  }

 private:
  std::filesystem::path out_, err_;
  pid_t child_ = 0;
};

nlohmann::json doctor_findings() {
  static const nlohmann::json findings = run_command({"doctor", "--json"}).json();
  return findings;
}

}  // namespace

nlohmann::json CommandResult::json() const {
  return nlohmann::json::parse(out, nullptr, false);
}

CommandResult run_command(const std::vector<std::string>& words, const Variables& environment, double seconds) {
  return Running(words, environment, "").ended(seconds);
}

std::vector<CommandResult> run_commands(std::size_t count, const std::vector<std::string>& words) {
  std::vector<Running> running;
  for (std::size_t i = 0; i < count; ++i) running.emplace_back(words, Variables(), "-" + std::to_string(i));
  std::vector<CommandResult> results;
  for (Running& one : running) results.push_back(one.ended(0));
  return results;
}

Variables own_cache() {
  return {"TMA_JIT_CACHE_DIR=" + (scratch_folder() / "cache").string()};
}

std::string template_folder() {
  return TMA_JIT_CLI_TESTS "/templates";
}

std::string faulty(const char* name) {
  return std::string(TMA_JIT_CLI_TESTS "/faulty/") + name;
}

std::filesystem::path scratch_folder() {
  static const TemporaryFolder scratch;
  return scratch.path();
}

std::string missing_file(const std::string& name) {
  return (scratch_folder() / "missing" / name).string();
}

bool has_compiler() {
  return !doctor_findings()["nvrtc"].contains("error");
}

bool has_device() {
  return !doctor_findings()["device"].contains("error");
}

std::string normalised(std::string text) {
  const auto replace = [&](const std::string& pattern, const char* by) {
    text = std::regex_replace(text, std::regex(pattern), by);
  };
  replace("[0-9a-f]{64}", "KEY");
  replace("compiled in [0-9]+ ms|from the cache", "COMPILED");
  replace("[0-9]+ bytes, COMPILED", "SIZE bytes, COMPILED");
  replace("[0-9]+ registers", "R registers");
  for (std::size_t at; (at = text.find(TMA_JIT_CLI_TESTS)) != std::string::npos;)
    text.replace(at, sizeof(TMA_JIT_CLI_TESTS) - 1, "TESTS");
  const std::string scratch = scratch_folder().string();
  for (std::size_t at; (at = text.find(scratch)) != std::string::npos;) text.replace(at, scratch.size(), "SCRATCH");
  return text;
}

void check_golden(const std::string& name, const CommandResult& result) {
  const std::string got = "exit " + std::to_string(result.exit) + "\n--- stdout\n" + normalised(result.out) +
                          "--- stderr\n" + normalised(result.err);
  const std::filesystem::path path = std::filesystem::path(TMA_JIT_CLI_TESTS) / "golden" / (name + ".txt");
  if (std::getenv("TMA_JIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << got;
    return;
  }
  INFO("golden file ", path.string(), "; TMA_JIT_UPDATE_GOLDEN=1 writes it anew");
  CHECK(got == content_of(path));
}

}  // namespace tma_jit::cli
