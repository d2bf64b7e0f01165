// Files that verbs write: regular ones, whole or not at all.
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {

TEST_CASE("no output takes the place of a pipe or device") {
  const std::string pipe = (scratch_folder() / "output.pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string refused = "io: cannot write " + pipe + ": it is not a regular file\n";
  const auto emitted = run_command({"emit", "copy", "N=64", "--device", "h100", "-o", pipe});
  CHECK(emitted.exit == 1);
  CHECK(emitted.err == refused);
  const auto drawn = run_command({"estimate", "copy", "N=64", "--device", "h100", "--plot", pipe});
  CHECK(drawn.exit == 1);
  CHECK(drawn.err == refused);
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("an output that cannot be made is named as it was given, not as the file beside it") {
  const std::string list = (scratch_folder() / "outputs.jsonl").string(), missing = missing_file("all.jsonl");
  std::ofstream(list) << R"({"kernel":"copy","dims":{"N":8}})";
  const auto merged = run_command({"manifest", list, "-o", missing});
  CHECK(merged.exit == 1);
  CHECK(merged.err == "io: cannot write " + missing + ": No such file or directory\n");
}

TEST_CASE("an output that does not fit leaves no part of it") {
  const std::string out = (scratch_folder() / "cut.cu").string();
  const std::string command = "ulimit -f 1; exec " TMA_JIT_COMMAND
                              " emit gemm M=64 N=64 K=64 --device h100 --standalone --output " +
                              out + " 2> /dev/null";
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
  CHECK(WEXITSTATUS(status) == 1);
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a timeline that cannot be written is refused before the launch") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::string missing = missing_file("timeline.json");
  const auto result = run_command({"run", "copy", "N=64", "--device", "emulator", "--trace", missing});
  CHECK(result.exit == 1);
  CHECK(result.err == "io: cannot write " + missing + ": No such file or directory\n");
}

}  // namespace tma_jit::cli
