// The command as a user runs it: words in, exit code and both streams out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tma_jit::cli {

struct CommandResult {
  int exit = -1;
  std::string out;
  std::string err;

  nlohmann::json json() const;  // stdout as JSON; discarded if it is not
};

using Variables = std::vector<std::string>;  // NAME=VALUE, beside the test's own

// The cache is the one that CTest gives all tests, in which kernels may be compiled already, or without CTest
// own_cache(); unless the words or the environment name another. After so many seconds the command is killed (SIGKILL);
// 0: never.
CommandResult run_command(const std::vector<std::string>& words, const Variables& environment = {}, double seconds = 0);
// The same command so many times at once.
std::vector<CommandResult> run_commands(std::size_t count, const std::vector<std::string>& words);

// Names a cache of this test run, for what depends on which kernels are cached.
Variables own_cache();

std::string template_folder();                      // tests/cli/templates
std::string faulty(const char* name);               // a file of tests/cli/faulty
std::filesystem::path scratch_folder();             // removed when the tests end
std::string missing_file(const std::string& name);  // the path of a file that does not exist, in a folder that does not

// What this machine offers, asked once.
bool has_compiler();
bool has_device();

// Whether the emulator was built with the command.
#ifdef TMA_JIT_TEST_EMULATOR
inline constexpr bool kHasEmulator = true;
#else
inline constexpr bool kHasEmulator = false;
#endif

// Text with what changes from run to run replaced: keys, times, whether a cubin came from the cache, source paths.
std::string normalised(std::string text);
// Compares with tests/cli/golden/NAME.txt; with TMA_JIT_UPDATE_GOLDEN set, writes it.
void check_golden(const std::string& name, const CommandResult& result);

}  // namespace tma_jit::cli
