#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include "command.h"
#include "progress.h"

namespace tma_jit::cli {
namespace {

std::string cache_named(const char* name) {
  return (scratch_folder() / name).string();
}

std::string list_of(const char* name, const std::string& text) {
  const auto path = scratch_folder() / name;
  std::ofstream(path) << text;
  return path.string();
}

}  // namespace

TEST_CASE("warm builds all presets of a kernel for several targets, and a second time finds them all") {
  if (!has_compiler()) return;
  const std::string cache = cache_named("warm_presets");
  const auto first =
      run_command({"warm", "reduce_scatter", "--arch", "sm_90a,sm_120", "--jobs", "2", "--json", "--cache-dir", cache});
  CHECK_MESSAGE(first.exit == 0, first.err);
  const auto made = first.json();
  CHECK(made["kernels"].get<int>() > 1);
  CHECK(made["compiled"] == made["kernels"]);
  CHECK(made["failed"] == 0);
  const auto second = run_command({"warm", "reduce_scatter", "--arch", "sm_90a,sm_120a", "--cache-dir", cache});
  CHECK(second.exit == 0);
  CHECK(second.out.find("0 compiled") != std::string::npos);
  CHECK(second.err.empty());  // progress is for terminals
}

TEST_CASE("a list may be a pipe of the shell's; a pipe that nobody writes to is an error at once") {
  const std::string pipe = (scratch_folder() / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto silent = run_command({"warm", "--list", pipe});
  CHECK(silent.exit == 1);
  CHECK(silent.err.find("io: cannot read " + pipe + ": it is a pipe that nobody writes to") == 0);
  CHECK(run_command({"warm", "--list", "/dev/zero"}).err.find("io: cannot read /dev/zero: it is neither a file") == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);  // keeps what was written before the command reads it
  const int writing = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(writing >= 0);
  std::thread writer([writing] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    constexpr std::string_view kWords = "not a line\n";
    CHECK(::write(writing, kWords.data(), kWords.size()) == static_cast<ssize_t>(kWords.size()));
    ::close(writing);
  });
  const auto spoken = run_command({"warm", "--list", pipe});
  writer.join();
  ::close(reader);
  CHECK(spoken.err.find("parse: " + pipe + ":1: ") == 0);
}

TEST_CASE("what was warmed can be had as one pack") {
  if (!has_compiler()) return;
  const std::string pack = (scratch_folder() / "warm.tmjpack").string();
  const auto made =
      run_command({"warm", "reduce_scatter", "--arch", "sm_90a", "--cache-dir", cache_named("packed"), "--pack", pack});
  CHECK_MESSAGE(made.exit == 0, made.err);
  CHECK(made.out.find("packed ") != std::string::npos);
  CHECK(run_command({"cache", "verify", pack}).exit == 0);
}

TEST_CASE("a list's lines are built for their own targets or those asked for; --arch leaves the others out") {
  if (!has_compiler()) return;
  const std::string list = list_of("some.jsonl",
                                   "# what the service needs\n\n"
                                   "{\"kernel\": \"copy\", \"arch\": \"sm_90a\", \"dims\": {\"N\": 4096}}\n"
                                   "{\"kernel\": \"copy\", \"arch\": \"sm_120a\", \"dims\": {\"N\": 4096}}\n"
                                   "{\"kernel\": \"copy\", \"dims\": {\"N\": 4096}, \"params\": {\"UNROLL\": 2}}\n");
  const auto result = run_command(
      {"warm", "--list", list, "--arch", "sm_90a,sm_100a", "--json", "--cache-dir", cache_named("warm_list")});
  CHECK_MESSAGE(result.exit == 0, result.err);
  CHECK(result.json()["kernels"] == 3);
  CHECK(result.json()["skipped"] == 1);
  const auto own = run_command({"warm", "--list", list, "--cache-dir", cache_named("warm_list")});
  CHECK(own.exit == 2);
  CHECK(own.err.find("some.jsonl:5: no target") != std::string::npos);
}

TEST_CASE("what cannot be built is told, the rest is built, and warm fails") {
  if (!has_compiler()) return;
  const std::string list = list_of("faulty.jsonl",
                                   "{\"kernel\": \"map\", \"dims\": {\"N\": 64}, \"hooks\": {\"apply\": \"a +* 1\"}}\n"
                                   "{\"kernel\": \"copy\", \"dims\": {\"N\": 4096}}\n"
                                   "{\"kernel\": \"none\", \"dims\": {}}\n");
  const auto result =
      run_command({"warm", "--list", list, "--arch", "sm_90a", "--json", "--cache-dir", cache_named("warm_faulty")});
  CHECK(result.exit == 1);
  CHECK(result.json()["compiled"] == 1);
  CHECK(result.json()["failed"] == 2);
  CHECK(result.err.find("none") != std::string::npos);
}

TEST_CASE("a faulty list, and words that name nothing, are refused") {
  const std::string list = list_of("broken.jsonl", "# fine\n{\"kernel\": \"copy\", \"dims\": 7}\n");
  const auto broken = run_command({"warm", "--list", list, "--arch", "sm_90a"});
  CHECK(broken.exit == 1);
  CHECK(broken.err.find("broken.jsonl:2: dims is not an object") != std::string::npos);
  CHECK(run_command({"warm", "--list", missing_file("list.jsonl")}).exit == 1);
  const auto bare = run_command({"warm", list, "--arch", "sm_90a"});
  CHECK(bare.exit == 2);
  CHECK(bare.err.find("a list is given with --list " + list) != std::string::npos);
  CHECK(run_command({"warm"}).exit == 2);
  CHECK(run_command({"warm", "copy"}).exit == 2);
  CHECK(run_command({"warm", "copy", "--arch", "sm_ninety"}).exit == 2);
  CHECK(run_command({"warm", "coppy", "--arch", "sm_90a"}).exit != 0);
}

TEST_CASE("an emulated device is warmed as any other, and explained") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string cache = cache_named("warm_emulator"), device = "emulator:sm_90a";
  const auto warmed = run_command({"warm", "reduce_scatter", "--device", device, "--json", "--cache-dir", cache});
  CHECK_MESSAGE(warmed.exit == 0, warmed.err);
  CHECK(warmed.json()["compiled"] == warmed.json()["kernels"]);
  const std::vector<std::string> problem = {"reduce_scatter", "PARTS=2", "M=16",        "N=64", "--device",
                                            device,           "--json",  "--cache-dir", cache};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), problem.begin(), problem.end());
    return run_command(words).json();
  };
  CHECK(with({"run"})["compiled"] == false);
  CHECK(with({"cache", "explain"})["found"] == true);
  CHECK(with({"build"})["form"] == "ptx");
  CHECK(with({"build"})["key"] == with({"run"})["key"]);
}

TEST_CASE("misses recorded through the environment are a list that warm takes") {
  if (!has_compiler()) return;
  const std::string list = (scratch_folder() / "misses.jsonl").string();
  const auto built =
      run_command({"build", "copy", "N=8192", "--device", "h100", "--cache-dir", cache_named("recorded")},
                  {"TMA_JIT_RECORD_MISSES=" + list});
  CHECK_MESSAGE(built.exit == 0, built.err);
  const auto warmed = run_command({"warm", "--list", list, "--json", "--cache-dir", cache_named("recorded")});
  CHECK_MESSAGE(warmed.exit == 0, warmed.err);
  CHECK(warmed.json()["there"] == 1);
}

TEST_CASE("a list is built for several devices, by name, and devices without a target of a line leave it out") {
  if (!has_compiler()) return;
  const std::string list = list_of("devices.jsonl",
                                   "{\"kernel\": \"copy\", \"dims\": {\"N\": 4096}}\n"
                                   "{\"kernel\": \"copy\", \"arch\": \"sm_90a\", \"dims\": {\"N\": 4096}}\n");
  for (const std::vector<std::string>& devices :
       {std::vector<std::string>{"--device", "h200", "--device", "b200"}, {"--device", "h200,b200"}}) {
    std::vector<std::string> words = {"warm", "--manifest", list, "--json", "--cache-dir", cache_named("warm_devices")};
    words.insert(words.end(), devices.begin(), devices.end());
    const auto result = run_command(words);
    CHECK_MESSAGE(result.exit == 0, result.err);
    CHECK(result.json()["kernels"] == 3);
  }
  const auto unknown = run_command({"warm", "--manifest", list, "--device", "h2000", "--device", "b200"});
  CHECK(unknown.exit == 2);
  CHECK(unknown.err.find("h2000") != std::string::npos);
}

TEST_CASE("a bar shows how much is done and keeps to its line") {
  CHECK(Progress::bar(0, 10, 0, "a", 80) == "[........................]  0/10  a");
  CHECK(Progress::bar(5, 10, 2, "a", 80) == "[############............]  5/10  2.5/s  0:02 left  a");
  CHECK(Progress::bar(10, 10, 5, "a", 80) == "[########################] 10/10  2.0/s  0:00 left  a");
  CHECK(Progress::bar(1, 101, 60, "a", 80) == "[........................]   1/101  0.0/s  100:00 left  a");
  CHECK(Progress::bar(1, 2, 1, std::string(200, 'x'), 60).size() == 59);
}

TEST_CASE("what warm could not keep, upload or pack makes it fail, with one object that has the counts and the error") {
  if (!has_compiler()) return;
  const std::string list = list_of("one.jsonl", R"({"kernel":"copy","arch":"sm_90a","dims":{"N":4096}})"
                                                "\n");
  const auto file = scratch_folder() / "no_folder";
  std::ofstream(file) << "a file";
  const auto lost = run_command({"warm", "--list", list, "--json", "--cache-dir", (file / "cache").string()});
  CHECK(lost.exit == 1);
  CHECK(lost.json()["compiled"] == 1);
  CHECK(lost.json()["not_kept"] == 1);
  CHECK(lost.json()["error"]["message"].get<std::string>().find("could not be kept in the cache folder") !=
        std::string::npos);
  const std::string cache = cache_named("warm_delivered");
  const auto no_key = run_command({"warm", "--list", list, "--json", "--cache-dir", cache, "--pack",
                                   (scratch_folder() / "unsigned").string(), "--sign", missing_file("a.key")});
  CHECK(no_key.exit == 1);
  CHECK(no_key.json()["not_kept"] == 0);
  CHECK(no_key.json()["error"]["code"] == "io");
  const auto no_url = run_command({"warm", "--list", list, "--json", "--cache-dir", cache, "--remote", "nowhere"});
  CHECK(no_url.exit == 2);
  CHECK(no_url.json()["error"]["message"].get<std::string>().find("has no scheme") != std::string::npos);
}

TEST_CASE("a failure names its line and target, and what asks for nothing that there is fails") {
  if (!has_compiler()) return;
  const std::string list = list_of("places.jsonl",
                                   "# the second kernel has no such dim\n"
                                   R"({"kernel":"copy","arch":"sm_90a","dims":{"N":4096}})"
                                   "\n"
                                   R"({"kernel":"copy","arch":"sm_90a","dims":{"Q":4096}})"
                                   "\n");
  const std::string cache = cache_named("warm_places");
  const auto built = run_command({"warm", "--list", list, "--json", "--cache-dir", cache});
  CHECK(built.exit == 1);
  REQUIRE(built.json()["failures"].size() == 1);
  CHECK(built.json()["failures"][0]["place"] == list + ":3");
  CHECK(built.json()["failures"][0]["arch"] == "sm_90a");
  CHECK(built.err.find(list + ":3: sm_90a copy\n") == 0);
  const auto proved = run_command({"warm", "--list", list, "--prove", "--cache-dir", cache});
  CHECK(proved.err.find("missing: " + list + ":3: sm_90a {") == 0);
  const auto other = run_command({"warm", "--list", list, "--arch", "sm_100a", "--prove", "--cache-dir", cache});
  CHECK(other.exit == 1);
  CHECK(other.err.find("nothing is proved: all 2 lines are for other targets") != std::string::npos);
  const auto unknown = run_command({"warm", "copy", "--arch", "sm_99", "--quiet", "--cache-dir", cache});
  CHECK(unknown.exit == 1);
  CHECK(unknown.err.find("unsupported: copy: it has no file for sm_99") == 0);
  const std::string target = list_of("target.jsonl", R"({"kernel":"copy","arch":"sm90","dims":{"N":4096}})");
  const auto faulty = run_command({"warm", "--list", target});
  CHECK(faulty.exit == 1);
  CHECK(faulty.err.find(target + ":1: \"sm90\" is not a target") != std::string::npos);
}

TEST_CASE("a list may have a byte order mark and lines that end in CRLF") {
  const std::string line = R"({"kernel":"copy","arch":"sm_90a","dims":{"N":4096}})";
  const std::string list = list_of("marked.jsonl", "\xEF\xBB\xBF# from an editor\r\n\r\n" + line + "\r\n" + line);
  const auto merged = run_command({"manifest", list});
  CHECK_MESSAGE(merged.exit == 0, merged.err);
  CHECK(merged.out == line + "\n");
  const std::string first = list_of("marked_first.jsonl", "\xEF\xBB\xBF" + line + "\r\n" + line);
  CHECK(run_command({"manifest", first}).out == line + "\n");
}

TEST_CASE("devices that are malformed are words that are wrong") {
  for (const char* devices : {"h100,", ",h100", "emulator:sm_90a,emulator:sm_100a"}) {
    const auto refused = run_command({"warm", "copy", "--device", devices});
    CHECK(refused.exit == 2);
    CHECK(refused.err.find(std::string("--device ") + devices) != std::string::npos);
  }
}

}  // namespace tma_jit::cli
