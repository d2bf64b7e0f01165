// Wrong words, broken files and missing parts: the exit code, and an error that says what to do.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

struct Case {
  std::vector<std::string> words;
  int exit;
  std::string error;  // the first line of stderr, or its beginning
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const CommandResult result = run_command(one.words);
    CAPTURE(one.words);
    CHECK(result.exit == one.exit);
    CHECK(result.out.empty());
    const std::string text = normalised(result.err);
    CHECK(text.substr(0, one.error.size()) == one.error);
  }
}

constexpr const char* kHugeOffset[] = {"--offset", "S=9223372036854775807"};
constexpr const char* kHugePitch[] = {"--pitch", "S=9223372036854775807"};
constexpr const char* kLargePitch[] = {"--pitch", "S=1152921504606846976"};  // 2^60 f32 a row

std::vector<std::string> scale(std::vector<std::string> more, const char* verb = "plan") {
  std::vector<std::string> words = {verb, "scale", "--device", "h100", "--templates", template_folder()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("unknown verbs, kernels, names and options") {
  check_all({
      {{}, 2, "invalid_argument: no verb was given; verbs are doctor, list, show"},
      {{"buid"},
       2,
       "invalid_argument: no verb is named \"buid\"; verbs are doctor, list, show, plan, emit, build, run, bench, "
       "estimate, check, tune, report, warm, manifest, cache, completion, help; did you mean \"build\"?\n"},
      {{"plan", "scal", "--templates", template_folder()}, 2, "not_found: no kernel is named \"scal\"; known are "},
      {{"help", "bech"}, 2, "invalid_argument: no verb is named \"bech\"; verbs are doctor, list, show"},
      {{"plan"}, 2, "invalid_argument: plan: kernel is required\n"},
      {{"plan", "gemm", "--device", "emulator:polcy=lazy"},
       2,
       "invalid_argument: --device emulator:polcy=lazy: emulator: there is no setting \"polcy\"; it has policy, seed, "
       "checks, references, instructions, processors, trace; did you mean \"policy\"?\n"},
      {{"plan", "gemm", "--device", "emulator:sm_90a", "--arch", "sm_100a"},
       2,
       "invalid_argument: --device emulator:sm_90a: the emulated device is sm_90a and the target wanted is sm_100a, "
       "whose "
       "code it does not run: name one of them\n"},
      {{"plan", "gemm", "--bogus"}, 2, "invalid_argument: plan: there is no option --bogus\n"},
      {{"plan", "gemm", "--devise=h100"},
       2,
       "invalid_argument: plan: there is no option --devise; did you mean \"--device\"?\n  tma-jit plan --help says "
       "what "
       "it takes\n"},
      {{"--quiet", "lst"}, 2, "invalid_argument: --quiet stands before the verb; options stand behind it\n"},
      {{"cache"}, 2, "invalid_argument: cache: no verb was given; verbs are stat, verify, explain, ls"},
      {{"cache", "--quiet", "stat"},
       2,
       "invalid_argument: cache: --quiet stands before the verb; options stand behind it\n"},
      {{"cache", "stta"}, 2, "invalid_argument: cache: no verb is named \"stta\"; verbs are stat, verify, explain, ls"},
      {{"cache", "show"},
       2,
       "invalid_argument: cache show: key is required\n  tma-jit cache show --help says what it takes\n"},
      {{"cache", "stat", "a"}, 2, "invalid_argument: cache stat: the word \"a\" is one too many\n"},
      {{"warm", "copi", "--arch", "sm_90a"}, 2, "not_found: no kernel is named \"copi\"; did you mean \"copy\"?\n"},
      {scale({"TREADS=64"}), 2,
       "invalid_argument: TREADS=64: scale has no dim, param or type \"TREADS\"; it has N, THREADS, "
       "WITH_Z, T; did you mean \"THREADS\"?\n"},
      {scale({"--fix", "THREADS"}), 2, "invalid_argument: --fix THREADS: scale declares none of that name; it has N\n"},
      {scale({"--hook", "finnish=x"}), 2,
       "invalid_argument: --hook finnish: scale declares none of that name; it has finish; "
       "did you mean \"finish\"?\n"},
      {scale({"--scalar", "beta=1"}), 2,
       "invalid_argument: --scalar beta: scale declares none of that name; it has alpha\n"},
      {scale({"--template-file", "scales"}), 2,
       "invalid_argument: --template-file \"scales\": no file of scale is named so; its "
       "files are scale; did you mean \"scale\"?\n"},
      {{"plan", "gemm", "--device", "h1000"},
       2,
       "invalid_argument: --device \"h1000\": no device of that name is known; known are "},
      {{"plan", "gemm", "--limits", "gb11"},
       2,
       "invalid_argument: --limits \"gb11\": no device of that name is known; known are "},
      {{"plan", "gemm", "--arch", "hopper"}, 2, "invalid_argument: --arch: \"hopper\" is not a target"},
      {{"list", "--log-level", "loud"},
       2,
       "invalid_argument: --log-level \"loud\": expected one of trace, debug, info, warning"},
  });
}

TEST_CASE("malformed values") {
  check_all({
      {scale({"N"}), 2, "invalid_argument: word \"N\": expected NAME=VALUE\n"},
      {scale({"N="}), 2, "invalid_argument: word \"N=\": expected NAME=VALUE\n"},
      {scale({"=3"}), 2, "invalid_argument: word \"=3\": expected NAME=VALUE\n"},
      {scale({"N=4k"}), 2, "invalid_argument: N=4k: \"4k\" is not an integer\n"},
      {scale({"N=99999999999999999999"}), 2,
       "invalid_argument: N=99999999999999999999: \"99999999999999999999\" is not an integer\n"},
      {scale({"T=float"}), 2, "invalid_argument: T=float: \"float\" is not an element type; these are u8 "},
      {scale({"--scalar", "alpha=two"}), 2, "invalid_argument: --scalar alpha=two: \"two\" is not a number\n"},
      {scale({"N=2000", "--operand", "w : f32[K]"}), 1,
       "parse: operand:1:9: unknown name K\n  w : f32[K]\n          ^\n"},
      {scale({"N=2000", "--operand", "X : f32[N]"}), 1,
       "parse: operand:1:1: X is a tensor already; an operand has a name of its own\n  X : f32[N]\n  ^\n"},
      {scale({"--hook", "finish"}), 2, "invalid_argument: --hook \"finish\": expected NAME=VALUE\n"},
      {{"warm", "copy", "--arch", "sm_90a,"},
       2,
       "invalid_argument: --arch sm_90a,: \"\" is not a target; write sm_ and a number, e.g. sm_90a\n"},
      {{"list", "--arch", "sm_77"},
       1,
       "unsupported: --arch sm_77: no kernel serves it; there are some for sm_80, sm_86, "},
  });
}

TEST_CASE("scalars of 64 bits are whole numbers up to the greatest") {
  const auto sample = [](const char* seed) {
    return run_command({"plan", "sample", "M=2", "N=50", "--device", "h100", "--scalar", seed, "--json"});
  };
  for (const char* seed : {"seed=18446744073709551615", "seed=0xffffffffffffffff"})
    CHECK(sample(seed).out.find("\"image\": \"ffffffffffffffff\"") != std::string::npos);
  const CommandResult refused = sample("seed=18446744073709551616");
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("is not a value of u64") != std::string::npos);
}

TEST_CASE("values that an option does not take") {
  check_all({
      {scale({"--sm-budget", "few"}), 2,
       "invalid_argument: plan: --sm-budget: \"few\" is not a whole number from -2147483648 to 2147483647\n"},
      {scale({"--seed", "-1"}, "run"), 2,
       "invalid_argument: run: --seed: \"-1\" is not a whole number from 0 to 18446744073709551615\n"},
      {scale({"--repeat", "0"}, "bench"), 2,
       "invalid_argument: bench: --repeat: \"0\" is not a whole number from 1 to 1000000\n"},
      {{"warm", "copy", "--arch", "sm_90a", "--jobs", "2000"},
       2,
       "invalid_argument: warm: --jobs: \"2000\" is not a whole number from 1 to 1024\n"},
      {scale({"--check=maybe"}, "run"), 2, "invalid_argument: run: --check takes no value\n"},
      {scale({"--data"}, "run"), 2, "invalid_argument: run: --data needs a value\n"},
      {scale({"--data", "normal", "--data", "integers"}, "run"), 2, "invalid_argument: run: --data is given twice\n"},
      {{"cache", "clear", "--cache-dir", ""}, 2, "invalid_argument: cache clear: --cache-dir: the value is empty\n"},
  });
  for (const char* size : {"few", "-1", "1Q", "K", "5 M", "99999999999999999999"}) {
    const CommandResult refused = run_command({"cache", "trim", "--max-size", size}, own_cache());
    CHECK(refused.exit == 2);
    CHECK(refused.err.starts_with("invalid_argument: cache trim: --max-size: \"" + std::string(size) +
                                  "\" is not a size; write bytes, or a number with a unit: 500M, 2G\n"));
  }
  CHECK(run_command({"cache", "trim", "--max-size", "16E"}, own_cache())
            .err.find("is more bytes than fit into 64 bits") != std::string::npos);
  for (const char* size : {"0", "500M", "2g", "3KiB", "15EB"})
    CHECK(run_command({"cache", "trim", "--max-size", size}, own_cache()).exit == 0);
}

TEST_CASE("a pack that does not exist is not an empty one, and a folder has no signature") {
  const std::string pack = (scratch_folder() / "no.tmjpack").string(), folder = scratch_folder().string();
  for (const char* verb : {"verify", "ls"}) check_all({{{"cache", verb, pack}, 1, "io: pack "}});
  check_all({
      {{"cache", "verify", "--pack-key", "k"},
       2,
       "invalid_argument: --pack-key k: name the pack that it must have signed\n"},
      {{"cache", "verify", folder, "--pack-key", "k"}, 2, "invalid_argument: --pack-key k: "},
  });
}

TEST_CASE("words that contradict each other") {
  check_all({
      {scale({"N=4", "N=5"}), 2, "invalid_argument: N is given twice\n"},
      {scale({"N=4", "THREADS=64", "THREADS=64"}), 2, "invalid_argument: THREADS is given twice\n"},
      {scale({"N=4", "T=f32", "T=f32"}), 2, "invalid_argument: T is given twice\n"},
      {scale({"N=4", "--hook", "finish=x", "--hook", "finish=x + 1"}), 2,
       "invalid_argument: --hook finish is given twice\n"},
      {scale({"N=4", "--scalar", "alpha=1", "--scalar", "alpha=2.5"}), 2,
       "invalid_argument: --scalar alpha is given twice\n"},
      {scale({"N=4", "--pitch", "X=8", "--pitch", "X=8"}, "run"), 2, "invalid_argument: --pitch X is given twice\n"},
      {scale({"N=4", "--out", "Y=a", "--out", "Y=b"}, "run"), 2, "invalid_argument: --out Y is given twice\n"},
      {scale({"N=4", "--no-cache", "--cache-dir", "c"}), 2,
       "invalid_argument: --no-cache and --cache-dir c contradict each other"},
      {{"warm", "copy", "--no-cache", "--pack", "p"},
       2,
       "invalid_argument: --no-cache and --pack p contradict each other"},
  });
}

TEST_CASE("what planning refuses") {
  check_all({
      {scale({}), 1, "invalid_argument: scale: dim N has no value"},
      {scale({"N=0"}), 1, "invalid_argument: scale: N = 0 "},
      {scale({"N=-2"}), 1, "invalid_argument: scale: N = -2 "},
      {scale({"N=2000", "THREADS=100"}), 1, "invalid_argument: scale: THREADS = 100 is not among {64, 128, 256}"},
      {scale({"N=2000", "T=bf16"}), 1, "invalid_argument: scale: T = bf16 is not among {f32}"},
  });
  check_golden("no_config", run_command(scale({"N=2001"})));
  check_golden("no_config_json", run_command(scale({"N=2001", "--json"})));
  check_golden("no_config_all_json", run_command(scale({"N=2001", "--all", "--json"})));
  check_golden("usage_json", run_command(scale({"M=2001", "--json"})));
}

TEST_CASE("templates that are missing or broken") {
  check_all({
      {{"list", "--templates", missing_file("t")}, 1, "io: --templates SCRATCH/missing/t: no such folder\n"},
      {{"check", missing_file("a.cu")}, 1, "io: "},
      {{"check", "gemm"}, 2, "invalid_argument: check gemm: expected a template file, which ends in .cu\n"},
      {{"plan", missing_file("a.cu")}, 1, "io: "},
  });
  check_golden("broken_manifest", run_command({"check", faulty("broken.cu")}));
  const auto unreadable = scratch_folder() / "folder.cu";
  std::filesystem::create_directories(unreadable);
  CHECK(run_command({"plan", unreadable.string(), "N=1"}).exit == 1);
  const CommandResult listed = run_command({"list", "--templates", TMA_JIT_CLI_TESTS "/faulty"});
  CHECK(listed.exit == 1);
  CHECK(listed.err.find("broken.cu:4:") != std::string::npos);
  CHECK(listed.out.find("gemm") != std::string::npos);
}

TEST_CASE("without NVRTC a build fails with every place it looked in, and everything before it works") {
  const std::string nowhere = missing_file("libnvrtc.so");
  for (const CommandResult& result :
       {run_command(scale({"N=2000", "--no-cache", "--nvrtc", nowhere}, "build")),
        run_command(scale({"N=2000", "--no-cache"}, "build"), {"TMA_JIT_NVRTC=" + nowhere})}) {
    CHECK(result.exit == 1);
    CHECK(result.err.starts_with("nvrtc: "));
    CHECK(result.err.find(nowhere) != std::string::npos);
  }
  CHECK(run_command(scale({"N=2000", "--nvrtc", nowhere}, "emit")).exit == 0);
  if (!has_compiler()) return;
  REQUIRE(run_command(scale({"N=2000", "THREADS=256"}, "build")).exit == 0);
  CHECK(run_command(scale({"N=2000", "THREADS=256", "--nvrtc", nowhere}, "build")).exit == 0);  // from the cache
}

TEST_CASE("without a device a launch fails and says how to go on") {
  if (has_device()) return;
  for (const char* verb : {"bench", "tune"}) {
    const CommandResult result = run_command({verb, "scale", "N=2000", "--templates", template_folder()});
    CHECK(result.exit == 1);
    CHECK(result.err.starts_with("driver: "));
  }
  for (const char* verb : {"run", "bench"}) {
    const CommandResult named = run_command(scale({"N=2000"}, verb));
    CHECK(named.exit == 1);
    CHECK(named.err.find("plans for the device \"h100\" by name") != std::string::npos);
  }
}

TEST_CASE("without a device run uses the emulator and says so") {
  if (has_device() || !has_compiler() || !kHasEmulator) return;
  const CommandResult result = run_command({"run", "scale", "N=2000", "--check", "--templates", template_folder()});
  CHECK_MESSAGE(result.exit == 0, result.err);
  CHECK(result.err.find("note: there is no GPU here, so this runs on the emulator, as sm_90a") != std::string::npos);
}

TEST_CASE("without the emulator its device is an error that says what to install") {
  if (kHasEmulator) return;
  const CommandResult result = run_command({"plan", "copy", "N=5", "--device", "emulator:sm_90a"});
  CHECK(result.exit == 1);
  CHECK(result.err.find("driver: the emulator's library libtma_jit_emulator.so could not be opened") == 0);
  CHECK(result.err.find("TMA_JIT_BUILD_EMULATOR=ON") != std::string::npos);
}

TEST_CASE("the emulator is a device for every target it knows") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* target : {"sm_90a", "sm_121"}) {
    const CommandResult result = run_command({"run", "gemm", "M=70", "N=72", "K=64", "--check", "--device",
                                              std::string("emulator:") + target + ":policy=lazy,seed=7"});
    CHECK_MESSAGE(result.exit == 0, result.err);
    CHECK(result.out.find("passed") != std::string::npos);
  }
  for (const char* device : {"emulator:polcy=lazy", "emulator:sm_90a:policy=lzy", "emulator:seed=x",
                             "emulator:sm_90a:7", "emulator:policy=lazy,policy=eager"}) {
    const CommandResult refused = run_command({"run", "copy", "N=5", "--device", device});
    CHECK(refused.exit == 2);
    CHECK(refused.err.find("--device " + std::string(device) + ": emulator: ") != std::string::npos);
  }
  const CommandResult unknown = run_command({"run", "copy", "N=5", "--device", "emulator:sm_42"});
  CHECK(unknown.exit == 1);
  CHECK(unknown.err.find("the emulator has no device for sm_42; it has sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, "
                         "sm_120a, sm_121a") != std::string::npos);
}

TEST_CASE("offsets and pitches that no memory has are errors") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::string> words = {"run", "copy", "M=4", "N=64", "T=f32", "--device", "emulator:sm_90a"};
  for (const char* const* option : {kHugeOffset, kHugePitch, kLargePitch}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), option, option + 2);
    const CommandResult result = run_command(all);
    CAPTURE(option[1]);
    CHECK(result.exit != 0);
    CHECK(result.err.find("more bytes than can be addressed") != std::string::npos);
  }
}

TEST_CASE("the emulator writes a timeline and says what it sums up to; nothing else does") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string file = (scratch_folder() / "copy.json").string();
  const std::vector<std::string> words = {"run",        "copy",    "M=40", "N=64", "T=f32", "--template-file",
                                          "copy_tiled", "--device"};
  std::vector<std::string> traced = words;
  traced.insert(traced.end(), {"emulator:sm_90a", "--trace", file, "--check"});
  const CommandResult result = run_command(traced);
  CHECK_MESSAGE(result.exit == 0, result.err);
  CHECK(result.out.find("trace     " + file) != std::string::npos);
  CHECK(result.out.find("a tensor copy reads global") != std::string::npos);
  traced.emplace_back("--json");
  const nlohmann::json summary = run_command(traced).json()["trace"]["summary"];
  CHECK(summary["bytes"]["a tensor copy reads global"] == 40 * 64 * 4);
  std::vector<std::string> planned = words;
  planned.insert(planned.end(), {"h100", "--trace", file});
  const CommandResult refused = run_command(planned);
  CHECK(refused.exit == 2);
  CHECK(refused.err.find("only the emulator writes one") != std::string::npos);
}

TEST_CASE("a cache that cannot be written is a warning, and the build is done") {
  if (!has_compiler()) return;
  const auto file = scratch_folder() / "not_a_folder";
  std::ofstream(file) << "a file";
  const CommandResult result = run_command(scale({"N=2000", "--cache-dir", (file / "cache").string()}, "build"));
  CHECK(result.exit == 0);
  CHECK(result.out.find("compiled in") != std::string::npos);
  CHECK(result.err.find("cache") != std::string::npos);
}

TEST_CASE("an output that does not fit is an error, not a signal's death") {
  const std::string err = (scratch_folder() / "limit_err").string();
  for (const std::string& out : {(scratch_folder() / "limit_out").string(), std::string("/dev/full")}) {
    const std::string command = "ulimit -f 1; exec " TMA_JIT_COMMAND " list --json > " + out + " 2> " + err;
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    std::ifstream said(err);
    std::string line;
    std::getline(said, line);
    CHECK(line.find("tma-jit: cannot write the output: ") == 0);
  }
}

TEST_CASE("data options") {
  const auto text = scratch_folder() / "text.npy";
  std::ofstream(text) << "hello";
  check_all({
      {scale({"N=2000", "--in", "W=a.npy"}, "run"), 2,
       "invalid_argument: --in W=a.npy: scale has no tensor \"W\"; it has X, Z, Y\n"},
      {scale({"N=2000", "--in", "X=" + missing_file("x.npy")}, "run"), 1, "io: SCRATCH/missing/x.npy: no such file\n"},
      {scale({"N=2000", "--in", "X=" + text.string()}, "run"), 1,
       "invalid_argument: SCRATCH/text.npy: not a .npy file"},
      {scale({"N=2000", "--pitch", "X=wide"}, "run"), 2,
       "invalid_argument: --pitch X=wide: \"wide\" is not a number of elements\n"},
      {scale({"N=2000", "--offset", "X=-1"}, "run"), 2,
       "invalid_argument: --offset X=-1: \"-1\" is not a number of elements\n"},
      {scale({"N=2000", "--data", "zeros"}, "run"), 2,
       "invalid_argument: --data \"zeros\": expected normal or integers\n"},
  });
}

}  // namespace
TEST_CASE("a folder of templates that cannot be looked at is an error with its reason") {
  const auto loop = scratch_folder() / "templates.loop";
  std::filesystem::create_symlink(loop.filename(), loop);
  const auto result = run_command({"list", "--templates", loop.string(), "--json"});
  CHECK(result.exit == 1);
  CHECK(result.json()["error"]["message"] == "--templates " + loop.string() + ": Too many levels of symbolic links");
}

TEST_CASE("words that name nothing or the wrong thing are refused before any work") {
  const std::string layout = (scratch_folder() / "layout").string();
  std::filesystem::create_directories(layout);
  std::ofstream(layout + "/oci-layout") << "{}";
  const std::string constants = (scratch_folder() / "constants.txt").string();
  std::ofstream(constants) << "none";
  check_all({
      {{"warm", "--list", "", "--arch", "sm_90a"}, 2, "invalid_argument: warm: --list: the value is empty\n"},
      {{"cache", "keygen", layout + "/"}, 2, "invalid_argument: cache keygen SCRATCH/layout/: it names a folder"},
      {{"cache", "verify", layout}, 2, "invalid_argument: pack SCRATCH/layout: it is an OCI layout"},
      {{"cache", "unpack", layout}, 2, "invalid_argument: pack SCRATCH/layout: it is an OCI layout"},
      {{"cache", "push", "--remote", "nowhere"}, 2, "invalid_argument: the URL of the remote cache has no scheme"},
      {{"cache", "stat", "--remote", "http://"}, 2, "invalid_argument: the URL of the remote cache names no host"},
      {{"estimate", "copy", "N=64", "--device", "h100", "--constants", constants},
       1,
       "parse: --constants SCRATCH/constants.txt: "},
  });
}

}  // namespace tma_jit::cli
