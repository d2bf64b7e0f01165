// What only a terminal gets: colours, which NO_COLOR turns off, and bars of progress with a rate and the time left.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

// Runs the command on a terminal of its own, and returns all that it writes there.
std::string on_terminal(std::vector<std::string> words, const std::vector<std::string>& environment) {
  words.insert(words.begin(), TMA_JIT_COMMAND);
  int terminal = -1;
  const winsize size{24, 100, 0, 0};
  const pid_t process = ::forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(process >= 0);
  if (process == 0) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    for (const std::string& entry : environment) ::putenv(::strdup(entry.c_str()));
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(terminal, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  ::close(terminal);
  ::waitpid(process, nullptr, 0);
  return text;
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("errors are coloured on a terminal, unless NO_COLOR has a value or the terminal has no colours") {
  const std::vector<std::string> words = {"plan", "gem", "M=4", "--device", "h100"};
  CHECK(has(on_terminal(words, {}), "\x1b[1;31mnot_found\x1b[0m: "));
  CHECK(has(on_terminal(words, {"NO_COLOR="}), "\x1b["));
  for (const char* plain : {"NO_COLOR=1", "TERM=dumb"}) {
    const std::string text = on_terminal(words, {plain});
    CHECK(has(text, "not_found: "));
    CHECK(!has(text, "\x1b"));
  }
  CHECK(!has(run_command(words).err, "\x1b"));
}

TEST_CASE("what takes long draws a bar with its rate and the time left, on a terminal only") {
  if (!has_compiler()) return;
  const std::string list = (scratch_folder() / "bars.jsonl").string();
  std::ofstream file(list);
  for (const char* n : {"1", "2", "3"}) {
    file << R"({"kernel":"map","dims":{"N":1000},"hooks":{"apply":"a + )" << n << R"("}})" << '\n';
  }
  file.close();
  const std::vector<std::string> warm = {"warm", "--manifest", list, "--device", "h100", "-j", "1", "--no-cache"};
  const std::string text = on_terminal(warm, {});
  CHECK(has(text, "] 3/3  "));
  CHECK(has(text, "/s  0:00 left"));
  const std::string check =
      on_terminal({"check", template_folder() + "/scale.cu", "--arch", "sm_90a", "--no-emulator"}, {});
  INFO(check);
  CHECK(has(check, "left  sm_90a, built"));
  CHECK(!has(run_command(warm).err, "/s"));
  std::vector<std::string> quiet = warm;
  quiet.emplace_back("--quiet");
  CHECK(!has(on_terminal(quiet, {}), "left"));
}

}  // namespace tma_jit::cli
