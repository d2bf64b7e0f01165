// tma-jit estimate: what it prints, with constants of the tests' own so that fitting the shipped ones changes nothing
// here; and what it refuses.
#include <fstream>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

CommandResult estimate(std::vector<std::string> words, const char* device = "h100") {
  words.insert(words.begin(), "estimate");
  for (const std::string& word :
       {std::string("--device"), std::string(device), std::string("--templates"), template_folder(),
        std::string("--constants"), std::string(TMA_JIT_CLI_TESTS "/constants.json")}) {
    words.push_back(word);
  }
  return run_command(words);
}

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("estimate prints time, bound, share and waves, and what it would take without TMA") {
  check_golden("estimate", estimate({"tile", "M=8192", "N=8192"}));
  check_golden("estimate_json", estimate({"tile", "M=8192", "N=8192", "--json"}));
  check_golden("estimate_candidates", estimate({"scale", "N=1000000", "--candidates", "3"}));
}

TEST_CASE("estimate needs no GPU on any known device, nor for the emulator's") {
  for (const char* device : {"a10", "a100", "b200", "b300", "gb10", "h100", "h200", "l4", "rtx4090", "rtx5090"}) {
    CAPTURE(device);
    const auto made = run_command({"estimate", "gemm", "M=4096", "N=4096", "K=4096", "--device", device, "--json"});
    REQUIRE_MESSAGE(made.exit == 0, made.err);
    const nlohmann::json object = made.json();
    CHECK(object["time_us"] > 0);
    CHECK(object["bound"] == "tensor cores");
    CHECK(object["share"] > 0.3);
    CHECK(object["share"] < 1);
    CHECK(object["waves"] >= 1);
    CHECK(object["terms"]["hbm_us"] > 0);
    CHECK(object["benefit"] > 0.99);
    CHECK_FALSE(object.contains("measured_us"));
  }
  if (!kHasEmulator) return;
  const auto emulated = run_command({"estimate", "copy", "N=1000000", "--device", "emulator:sm_121a", "--json"});
  REQUIRE_MESSAGE(emulated.exit == 0, emulated.err);
  CHECK(emulated.json()["time_us"] > 0);
  CHECK_FALSE(emulated.json().contains("measured_us"));
}

TEST_CASE("estimate compares with the same work without TMA") {
  const auto made = run_command(
      {"estimate", "attention", "HEADS=64", "KV_HEADS=64", "M=4096", "N=4096", "HD=128", "--device", "h200", "--json"});
  REQUIRE_MESSAGE(made.exit == 0, made.err);
  const nlohmann::json object = made.json();
  CHECK(object["without_tma"]["flops"] == object["flops"]);
  CHECK(object["without_tma"]["config"]["HD"] == 128);
  CHECK(object["benefit"] > 1.2);
}

TEST_CASE("estimate draws the roofline, readable in light and dark") {
  const std::filesystem::path file = scratch_folder() / "roofline.svg";
  for (const bool product : {true, false}) {
    std::vector<std::string> words = {"estimate", "gemm", "M=512", "N=512", "K=512"};
    if (!product) words = {"estimate", "copy", "N=1000000"};
    for (const std::string& word : {std::string("--plot"), file.string(), std::string("--device"), std::string("h200")})
      words.push_back(word);
    const auto drawn = run_command(words);
    REQUIRE_MESSAGE(drawn.exit == 0, drawn.err);
    const std::string svg = content_of(file);
    CHECK(svg.starts_with("<svg xmlns"));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
    CHECK(svg.find(product ? ">operations per byte of HBM</text>" : ">bytes moved</text>") != std::string::npos);
    CHECK(svg.find("class=\"chosen\"") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf\"") == std::string::npos);
  }
  const auto nowhere = run_command(
      {"estimate", "copy", "N=1000", "--device", "h200", "--plot", (scratch_folder() / "no/such.svg").string()});
  CHECK(nowhere.exit == 1);
  CHECK(nowhere.err.find("no/such.svg: No such file or directory") != std::string::npos);
}

TEST_CASE("estimate takes lists, and an error of one request is that one's") {
  const std::filesystem::path list = scratch_folder() / "requests.jsonl";
  std::ofstream(list) << R"({"kernel":"scale","dims":{"N":1000}})"
                      << "\n"
                      << R"({"kernel":"scale","dims":{"N":1001}})"
                      << "\n";
  const auto made = estimate({"--list", list.string(), "--json"});
  CHECK(made.exit == 1);
  const nlohmann::json estimates = made.json()["estimates"];
  REQUIRE(estimates.size() == 2);
  CHECK(estimates[0]["time_us"] > 0);
  CHECK(estimates[0]["kernel"] == "scale");
  CHECK(estimates[1]["error"]["code"] == "no_config");
  CHECK(estimates[1]["place"] == list.string() + ":2");
}

TEST_CASE("estimate says when a kernel states no work") {
  const std::filesystem::path folder = scratch_folder() / "silent";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "silent.cu") << "//! kernel silent\n//! arch sm_90a\n//! dim N\n//! tensor S : f32[N]\n"
                                         "//! tensor D : f32[N] out\n//! launch grid N block 32\n";
  const auto made =
      run_command({"estimate", "silent", "N=1000000", "--device", "h100", "--templates", folder.string(), "--json"});
  REQUIRE_MESSAGE(made.exit == 0, made.err);
  CHECK(made.json()["described"] == false);
  CHECK(made.json()["hbm_bytes"] == 8e6);
  const auto text =
      run_command({"estimate", "silent", "N=1000000", "--device", "h100", "--templates", folder.string()});
  CHECK(text.out.find("the kernel states no work: the time is that of moving its tensors once") != std::string::npos);
}

TEST_CASE("estimate refuses what it cannot do") {
  const auto check_refused = [](const CommandResult& result, int exit, const char* words) {
    CHECK(result.exit == exit);
    CHECK_MESSAGE(result.err.find(words) != std::string::npos, result.err);
  };
  check_refused(run_command({"estimate", "--device", "h100"}), 2, "estimate: name a kernel and its dims, or a list");
  check_refused(run_command({"estimate", "gem", "--device", "h100"}), 2, "did you mean \"gemm\"?");
  check_refused(run_command({"estimate", "gemm", "M=1", "N=1", "K=1", "--device", "h300"}), 2,
                "no device of that name is known; known are a10, a100");
  check_refused(run_command({"estimate", "gemm", "M=1", "--device", "h100"}), 1, "has no value");
  check_refused(estimate({"scale", "N=1001"}), 1, "elements come in pairs");
  check_refused(run_command({"estimate", "gemm", "--device", "h100", "--list", "x"}), 2,
                "estimate: name a kernel or a list, not both");
  const std::filesystem::path rotten = scratch_folder() / "rotten.json";
  std::ofstream(rotten) << "{}";
  check_refused(run_command({"estimate", "copy", "N=64", "--device", "h100", "--constants", rotten.string()}), 1,
                "constants of the estimate: \"base\" must be an object");
  check_refused(run_command({"estimate", "copy", "N=64", "--device", "h100", "--constants", missing_file("c.json")}), 1,
                "c.json");
}

}  // namespace tma_jit::cli
