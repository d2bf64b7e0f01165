// What every verb prints, on templates of the tests' own so that tuning the library's kernels changes nothing here.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

CommandResult on_h100(std::vector<std::string> words) {
  for (const char* word : {"--device", "h100", "--templates"}) words.emplace_back(word);
  words.push_back(template_folder());
  return run_command(words, own_cache());
}

TEST_CASE("show") {
  check_golden("show", on_h100({"show", "scale"}));
  check_golden("show_json", on_h100({"show", "scale", "--json"}));
}

TEST_CASE("plan") {
  check_golden("plan", on_h100({"plan", "scale", "N=2000", "--fix", "N", "--scalar", "alpha=2"}));
  check_golden("plan_tensor_maps", on_h100({"plan", "tile", "M=100", "N=200", "T=f16", "ROWS=128"}));
  check_golden("plan_json", on_h100({"plan", "tile", "M=100", "N=200", "--json"}));
  check_golden("plan_all", on_h100({"plan", "scale", "N=100", "--all"}));
}

TEST_CASE("plan and emit with operands of a hook") {
  const std::vector<std::string> words = {"scale",     "N=2000",         "--operand", "w : f32[N]",
                                          "--operand", "beta : f32 = 2", "--hook",    "finish=x * beta + w[1]"};
  std::vector<std::string> plan = {"plan"}, emit = {"emit"};
  plan.insert(plan.end(), words.begin(), words.end());
  emit.insert(emit.end(), words.begin(), words.end());
  check_golden("plan_operands", on_h100(plan));
  CHECK(on_h100(emit).out.find("f32 beta;\n__device__ f32 finish(f32 x) const {\nreturn (\n#line 1 \"hook finish\"\n"
                               "x * beta + w(1)\n);}\n") != std::string::npos);
}

TEST_CASE("plan finds the parameter that makes a hook's argument exist") {
  check_golden("plan_optional", on_h100({"plan", "scale", "N=2000", "--hook", "finish=x * z"}));
}

TEST_CASE("emit") {
  check_golden("emit", on_h100({"emit", "scale", "N=2000", "--hook", "finish=x + z"}));
  const auto file = scratch_folder() / "scale.cu";
  const CommandResult written = on_h100({"emit", "scale", "N=2000", "--standalone", "-o", file.string()});
  CHECK(written.exit == 0);
  CHECK(written.out == "wrote " + file.string() + "\n");
  CHECK(std::filesystem::file_size(file) > 1000);
}

TEST_CASE("build") {
  if (!has_compiler()) return;
  check_golden("build", on_h100({"build", "scale", "N=2000"}));
  const nlohmann::json first = on_h100({"build", "scale", "N=2000", "THREADS=64", "--json"}).json();
  const nlohmann::json second = on_h100({"build", "scale", "N=4000", "THREADS=64", "--json"}).json();
  CHECK(first["compiled"] == true);
  CHECK(second["compiled"] == false);
  CHECK(first["key"] == second["key"]);
  for (const char* field : {"key", "compiled", "compile_ms", "registers", "spill_bytes", "shared_bytes"})
    CHECK(first.contains(field));
  const auto cubin = scratch_folder() / "scale.cubin";
  CHECK(on_h100({"build", "scale", "N=2000", "-q", "-o", cubin.string()}).out.empty());
  CHECK(std::filesystem::file_size(cubin) == first["bytes"].get<std::size_t>());
  const CommandResult ptx = on_h100({"build", "scale", "N=2000", "--ptx"});
  CHECK(ptx.out.find(".target sm_90a") != std::string::npos);
}

TEST_CASE("build says why the layout leads to a slower kernel") {
  if (!has_compiler()) return;
  const std::string line = "  because   S begins at 1 byte: VEC=1 instead of 16";
  CHECK(on_h100({"build", "copy", "N=1000", "--offset", "S=1"}).out.find(line) != std::string::npos);
  const auto file = scratch_folder() / "copy.ptx";
  const CommandResult ptx = on_h100({"build", "copy", "N=1000", "--offset", "S=1", "--ptx", "-o", file.string()});
  CHECK(ptx.out.starts_with(line));
  const nlohmann::json built = on_h100({"build", "copy", "N=1000", "--offset", "S=1", "--json"}).json();
  CHECK(built["reason"].get<std::string>().starts_with("S begins at 1 byte"));
}

TEST_CASE("check") {
  if (!has_compiler()) return;
  const CommandResult good = run_command({"check", template_folder() + "/scale.cu", "--json"});
  CHECK(good.exit == 0);
  CHECK(good.json()["faults"] == 0);
  CHECK(good.json()["archs"].size() == 5);
  if (kHasEmulator) {
    CHECK(good.json()["emulated"]["sm_90a"].size() > good.json()["archs"]["sm_90a"].size());
    CHECK(good.json()["runs"] > 10);
    CHECK(good.json()["emulated"]["sm_90a"][0]["fault"] == "");
  }
  const CommandResult one = run_command({"check", template_folder() + "/scale.cu", "--arch", "sm_90a", "N=4000"});
  CHECK(one.exit == 0);
  if (kHasEmulator) CHECK(one.out.find(" runs are right, of 1 problems on 4 processors") != std::string::npos);
  const CommandResult built =
      run_command({"check", template_folder() + "/scale.cu", "--arch", "sm_90a", "--no-emulator"});
  CHECK(built.out.find("emulated") == std::string::npos);
  CHECK(one.out.find("scale.cu: 0 failures: ") != std::string::npos);
  check_golden("check_no_compile", run_command({"check", faulty("no_compile.cu")}));
}

TEST_CASE("check emulates more processors where the presets need them") {
  if (!has_compiler() || !kHasEmulator) return;
  std::ifstream original(template_folder() + "/scale.cu");
  std::stringstream text;
  text << original.rdbuf();
  std::string kernel = text.str();
  kernel.insert(kernel.find("//! require"),
                "//! require device.sm_count >= 8  \"a cluster's blocks fill a processor each\"\n");
  const std::string file = (scratch_folder() / "scale_wide.cu").string();
  std::ofstream(file) << kernel;
  const CommandResult good = run_command({"check", file, "--arch", "sm_90a"});
  CHECK(good.exit == 0);
  CHECK(good.out.find(" on 8 processors") != std::string::npos);
  const CommandResult few = run_command({"check", file, "--arch", "sm_90a", "--processors", "4"});
  CHECK(few.exit == 1);
  CHECK(few.out.find(" on 4 processors") != std::string::npos);
}

TEST_CASE("list shows kernels or probes, never both") {
  for (const bool probes : {false, true}) {
    const CommandResult listed = probes ? on_h100({"list", "--json", "--probes"}) : on_h100({"list", "--json"});
    const nlohmann::json kernels = listed.json()["kernels"];
    CHECK(kernels.size() > 1);
    for (const nlohmann::json& kernel : kernels) CHECK(kernel["probe"] == probes);
  }
  const nlohmann::json of_elect = on_h100({"show", "elect", "--json"}).json();
  CHECK(of_elect["files"][0]["probe"] == true);
  CHECK(on_h100({"plan", "elect", "-q"}).exit == 0);  // its dims are fixed: no words are needed
}

TEST_CASE("a kernel for another architecture is refused with those that have it") {
  const auto folder = scratch_folder() / "lacking";
  std::filesystem::create_directories(folder / "probes");
  std::ofstream(folder / "probes/unit.cu")
      << "//! kernel unit\n//! arch sm_100a, sm_103a\n//! launch grid 1 block 32\n";
  const CommandResult refused =
      run_command({"run", "unit", "--arch", "sm_90a", "--templates", folder.string(), "--device", "h100"});
  CHECK(refused.exit == 1);
  CHECK(refused.err == "unsupported: unit: no template serves sm_90a; " + (folder / "probes/unit.cu").string() +
                           " serves sm_100a, sm_103a\n");
}

TEST_CASE("list") {
  const CommandResult all = on_h100({"list", "--json"});
  CHECK(all.exit == 0);
  std::size_t found = 0;
  const nlohmann::json object = all.json();
  for (const auto& kernel : object["kernels"])
    if (kernel["kernel"] == "scale" || kernel["kernel"] == "tile") ++found;
  CHECK(found == 2);
  const CommandResult blackwell = run_command({"list", "--arch", "sm_121", "--templates", template_folder()});
  CHECK(blackwell.out.find("scale") != std::string::npos);
  CHECK(blackwell.out.find("tile.cu") == std::string::npos);
}

TEST_CASE("cache") {
  const std::string dir = (scratch_folder() / "own_cache").string();
  check_golden("cache_stat_empty", run_command({"cache", "stat", "--cache-dir", dir}));
  if (!has_compiler()) return;
  CHECK(on_h100({"build", "scale", "N=2000", "--cache-dir", dir}).exit == 0);
  CHECK(run_command({"cache", "stat", "--json", "--cache-dir", dir}).json()["entries"] == 1);
  CHECK(run_command({"cache", "verify", "--cache-dir", dir}).out == "1 of 1 entries are sound\n");
  CHECK(run_command({"cache", "ls", "--json", "--cache-dir", dir}).json()["entries"][0]["kernel"] == "scale");

  const auto explain = [&](const char* threads) {
    return on_h100({"cache", "explain", "scale", "N=2000", threads, "--json", "--cache-dir", dir}).json();
  };
  const auto same = explain("THREADS=128"), other = explain("THREADS=256");
  CHECK(same["found"].get<bool>() != other["found"].get<bool>());
  const auto& missing = same["found"].get<bool>() ? other : same;
  const auto& present = same["found"].get<bool>() ? same : other;
  CHECK(missing["nearest"] == present["key"]);
  CHECK(missing["differences"][0]["field"] == "THREADS");

  const std::string key = present["key"].get<std::string>(), folder = scratch_folder().string();
  CHECK(run_command({"cache", "show", key.substr(0, 8), "--json", "--cache-dir", dir}).json()["metadata"]["kernel"] ==
        "scale");
  CHECK(run_command({"cache", "keygen", folder + "/builder"}).exit == 0);
  CHECK(run_command({"cache", "pack", folder + "/a.tmjpack", "--sign", folder + "/builder.key", "--cache-dir", dir})
            .exit == 0);
  CHECK(run_command({"cache", "verify", folder + "/a.tmjpack", "--pack-key", folder + "/builder.pub"}).out ==
        "1 of 1 entries are sound\n");
  CHECK(run_command({"cache", "extract", key, "--pack", folder + "/a.tmjpack", "-o", folder + "/k.cubin"}).exit == 0);
  CHECK(std::filesystem::file_size(folder + "/k.cubin") ==
        run_command({"cache", "show", key, "--json", "--cache-dir", dir}).json()["cubin_bytes"].get<std::uintmax_t>());
  const auto trimmed = run_command({"cache", "trim", "--max-size", "0", "--json", "--cache-dir", dir}).json();
  CHECK(trimmed["removed"] == 1);
  CHECK(run_command({"cache", "unpack", folder + "/a.tmjpack", "--cache-dir", dir}).exit == 0);
  // A signed pack alone serves a process that compiles nothing.
  const CommandResult packed =
      run_command({"build", "scale", "N=2000", "--device", "h100", "--json", "--cache-dir", folder + "/empty",
                   "--templates", template_folder()},
                  {"TMA_JIT_CACHE_RO=" + folder + "/a.tmjpack", "TMA_JIT_PACK_KEYS=" + folder + "/builder.pub"});
  CHECK(packed.json()["compiled"] == false);
  CHECK(run_command({"cache", "clear", "--json", "--cache-dir", dir}).json()["removed"].get<int>() >= 1);
  CHECK(run_command({"cache", "stat", "--json", "--cache-dir", dir}).json()["entries"] == 0);
}

TEST_CASE("doctor says what it found and what it proved") {
  const CommandResult result = run_command({"doctor"});
  CHECK(result.out.find("kernels     ") != std::string::npos);
  if (!has_compiler()) return;
  CHECK(result.exit == 0);
  const char* proof = has_device() ? "agrees with the float64 reference" : "nothing was launched: there is no device";
  CHECK(result.out.find(proof) != std::string::npos);
}

TEST_CASE("doctor runs a feature of each probe on the emulator, and lists the others as left") {
  if (!has_compiler() || !kHasEmulator) return;
  const CommandResult result = run_command({"doctor", "--device", "emulator:sm_90a", "--json"});
  CHECK(result.exit == 0);
  std::map<std::string, std::map<std::string, int>> files;  // statuses of each file's features
  const nlohmann::json findings = result.json();
  for (const nlohmann::json& feature : findings["features"])
    ++files[feature["file"].get<std::string>()][feature["status"].get<std::string>()];
  CHECK(files.size() > 30);
  CHECK(files["tma_load"] == std::map<std::string, int>{{"passed", 1}, {"left", 8}});
  for (auto& [file, statuses] : files) CHECK_MESSAGE(statuses["passed"] == (statuses.contains("absent") ? 0 : 1), file);
  for (const nlohmann::json& proof : findings["proofs"]) CHECK(proof["launched"] == true);
}

TEST_CASE("the version, as text and as an object") {
  const CommandResult text = run_command({"--version"});
  CHECK(text.exit == 0);
  CHECK(text.out.starts_with("tma-jit "));
  CHECK(text.out.find("\nNVRTC ") != std::string::npos);
  CHECK(text.out.find("\ncache format 1\n") != std::string::npos);
  const CommandResult object = run_command({"--version", "--json"});
  CHECK(object.exit == 0);
  const nlohmann::json version = object.json();
  CHECK(text.out.starts_with("tma-jit " + version["version"].get<std::string>()));
  CHECK(version["cache_format"] == 1);
  CHECK(version.contains("commit"));
  CHECK(version["nvrtc"].is_null() != has_compiler());
}

TEST_CASE("on the emulator a time is called meaningless, and one launch is enough") {
  if (!has_compiler()) return;
  const std::vector<std::string> words = {"bench", "copy", "N=4096", "--device", "emulator:sm_90a", "--no-cache"};
  const CommandResult text = run_command(words);
  CHECK(text.exit == 0);
  CHECK(text.out.find("the emulator's time, which does not predict a device's") != std::string::npos);
  CHECK(text.out.find("share") == std::string::npos);
  std::vector<std::string> more = words;
  more.emplace_back("--json");
  const nlohmann::json object = run_command(more).json();
  CHECK(object["emulated"] == true);
  CHECK_FALSE(object.contains("tflops"));
}

TEST_CASE("help") {
  const CommandResult all = run_command({"help"});
  CHECK(all.exit == 0);
  CHECK(all.out == run_command({"--help"}).out);
  CHECK(run_command({"help", "bench"}).out == run_command({"bench", "--help"}).out);
  for (const char* verb :
       {"doctor", "list", "show", "plan", "emit", "build", "run", "bench", "estimate", "check", "cache"}) {
    const CommandResult result = run_command({verb, "--help"});
    CHECK(result.exit == 0);
    if (std::string_view(verb) != "cache") CHECK(result.out.find("--json") != std::string::npos);
  }
}

}  // namespace
}  // namespace tma_jit::cli
