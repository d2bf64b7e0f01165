// A kernel is added by one file: every verb finds it in the folder in which it lies, and nothing else names it.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

// A folder of templates with one kernel, `dropped`.
std::string folder_with_a_kernel() {
  std::ifstream original(template_folder() + "/scale.cu");
  std::stringstream text;
  text << original.rdbuf();
  std::string kernel = text.str();
  for (std::size_t at = kernel.find("scale"); at != std::string::npos; at = kernel.find("scale", at)) {
    kernel.replace(at, 5, "dropped");
  }
  const auto folder = scratch_folder() / "added";
  std::filesystem::create_directories(folder / "kernels");
  std::ofstream(folder / "kernels/dropped.cu") << kernel;
  return folder.string();
}

}  // namespace

TEST_CASE("a kernel is added by adding one file") {
  const std::string folder = folder_with_a_kernel();
  const std::string file = folder + "/kernels/dropped.cu";

  // The sanitizer's sweep runs the files that `list` prints for its device, each without dims.
  const nlohmann::json list = run_command({"list", "--arch", "sm_90a", "--json", "--templates", folder}).json();
  const auto found = std::ranges::find_if(
      list["kernels"], [&](const nlohmann::json& each) { return each["kernel"] == "dropped" && each["file"] == file; });
  CHECK(found != list["kernels"].end());
  CHECK(run_command({"show", "dropped", "--templates", folder}).exit == 0);
  const nlohmann::json doctor = run_command({"doctor", "--device", "h100", "--json", "--templates", folder}).json();
  CHECK(std::ranges::count(doctor["kernels"], "dropped") == 1);
  if (!has_compiler()) return;

  const CommandResult warmed = run_command({"warm", "dropped", "--arch", "sm_90a", "--json", "--templates", folder});
  CHECK_MESSAGE(warmed.exit == 0, warmed.err);
  CHECK(warmed.json()["kernels"].get<int>() > 0);
  CHECK(run_command({"check", file, "--arch", "sm_90a"}).exit == 0);
  if (!kHasEmulator) return;

  const CommandResult run = run_command({"run", "dropped", "--template-file", "dropped", "--check", "--device",
                                         "emulator:sm_90a", "--templates", folder});
  CHECK_MESSAGE(run.exit == 0, run.err);
}

}  // namespace tma_jit::cli
