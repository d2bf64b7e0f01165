// A fleet in small: processes with empty folders of their own and one server that has everything. And the command's
// verbs on a server.
#ifdef TMA_JIT_COMMAND
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "remote/faulty_server.h"
#include "remote/programs.h"
#include "support/temporary_folder.h"

namespace tma_jit {

using namespace testing;

namespace {

namespace fs = std::filesystem;

constexpr const char* kBuild = " build copy N=1048576 --device h100 --json";

constexpr int kFleet = 50;

struct Ran {
  int exit = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Starts the command with no environment but what is given, and its streams in files of the folder.
pid_t start(const std::string& words, const fs::path& folder, const std::string& environment) {
  fs::create_directories(folder);
  const std::string cuda =
      std::getenv("CUDA_HOME") != nullptr ? "CUDA_HOME=" + std::string(std::getenv("CUDA_HOME")) : "";
  const std::string line = "exec env -i HOME=" + folder.string() + " PATH=/usr/bin:/bin " + cuda + " " + environment +
                           " " TMA_JIT_COMMAND " " + words + " --cache-dir " + (folder / "cache").string() + " > " +
                           (folder / "out").string() + " 2> " + (folder / "err").string();
  const pid_t process = ::fork();
  if (process == 0) {
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  return process;
}

Ran finish(pid_t process, const fs::path& folder) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "out"), content_of(folder / "err")};
}

Ran run(const std::string& words, const fs::path& folder, const std::string& environment = {}) {
  return finish(start(words, folder, environment), folder);
}

// Warms the server with one kernel, then has many processes take it.
void check_fleet(const std::string& url, const std::string& environment = {}) {
  const TemporaryFolder folder{"/dev/shm"};
  const Ran built = run(std::string(kBuild) + " --remote '" + url + "'", folder.path() / "builder", environment);
  INFO(built.err);
  if (built.exit != 0 && built.err.find("nvrtc") != std::string::npos) {
    MESSAGE("skipped: there is no NVRTC");
    return;
  }
  REQUIRE(built.exit == 0);
  REQUIRE(run("cache push --json --remote '" + url + "'", folder.path() / "builder", environment).json()["failed"] ==
          0);
  std::vector<pid_t> processes;
  const auto place = [&](int i) { return folder.path() / std::to_string(i); };
  for (int i = 0; i < kFleet; ++i)
    processes.push_back(
        start(kBuild, place(i), environment + " TMA_JIT_REMOTE='" + url + "' TMA_JIT_REMOTE_ROLE=read-only"));
  int compiled = 0, failed = 0;
  for (int i = 0; i < kFleet; ++i) {
    const Ran ran = finish(processes[static_cast<std::size_t>(i)], place(i));
    INFO(ran.err);
    CHECK(ran.err.empty());
    failed += ran.exit == 0 ? 0 : 1;
    compiled += ran.exit == 0 && ran.json()["compiled"] != false ? 1 : 0;
  }
  CHECK(failed == 0);
  CHECK(compiled == 0);
  // A machine without a compiler takes what was pushed, by the catalogue.
  const Ran bare = run(std::string(kBuild) + " --nvrtc /none/libnvrtc.so --remote '" + url + "'",
                       folder.path() / "bare", environment);
  INFO(bare.err);
  CHECK(bare.exit == 0);
  const Ran pulled = run("cache pull --json --remote '" + url + "'", folder.path() / "copy", environment);
  CHECK(pulled.exit == 0);
  CHECK(pulled.json()["moved"].get<int>() > 0);
  const Ran stat = run("cache stat --json --remote '" + url + "'", folder.path() / "copy", environment);
  CHECK(stat.json()["entries"] == pulled.json()["entries"]);
}

}  // namespace

TEST_CASE("50 processes with empty folders compile nothing that nginx has") {
  const Nginx nginx;
  if (!nginx.server) {
    MESSAGE("skipped: nginx is not installed");
    return;
  }
  check_fleet(nginx.url());
}

TEST_CASE("50 processes with empty folders compile nothing that Redis has") {
  const RedisServer redis({"--requirepass", "s3cret"});
  if (!redis.server) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  check_fleet(redis.url(), "TMA_JIT_REMOTE_PASSWORD=s3cret");
}

TEST_CASE("50 processes with empty folders compile nothing that an S3 server has") {
  const S3Server s3;
  if (!s3.server) {
    MESSAGE("skipped: rclone 1.65 or newer is not installed");
    return;
  }
  const std::string url = "s3://kernels?endpoint=http://127.0.0.1:" + std::to_string(s3.port);
  check_fleet(url, "AWS_ACCESS_KEY_ID=access AWS_SECRET_ACCESS_KEY=secret");
}

TEST_CASE("a command whose server is hung works, and warns once without a secret") {
  FaultyServer server([](FaultyServer& self, int, const HttpRequest&) { return self.pause(60'000); });
  const TemporaryFolder folder{"/dev/shm"};
  const std::string url = "http://me:s3cret@127.0.0.1:" + std::to_string(server.port());
  const Ran ran = run(kBuild, folder.path() / "a", "TMA_JIT_REMOTE='" + url + "'");
  INFO(ran.err);
  if (ran.exit != 0) return;  // no NVRTC
  CHECK(ran.json()["compiled"] == true);
  CHECK(ran.err.find("remote cache") != std::string::npos);
  CHECK(ran.err.find("s3cret") == std::string::npos);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

TEST_CASE("tools say what is wrong with a server") {
  const TemporaryFolder folder{"/dev/shm"};
  const int port = free_port();
  const std::string url = "http://me:s3cret@127.0.0.1:" + std::to_string(port);
  for (const char* verb : {"cache push", "cache pull", "cache stat"}) {
    const Ran ran = run(std::string(verb) + " --remote " + url, folder.path() / "a");
    CHECK(ran.exit == 1);
    CHECK(ran.err.find("127.0.0.1:" + std::to_string(port)) != std::string::npos);
    CHECK(ran.err.find("s3cret") == std::string::npos);
  }
  const Ran both = run(std::string("plan copy N=4 --device h100 --no-cache --remote ") + url, folder.path() / "b");
  CHECK(both.exit == 2);
}

}  // namespace tma_jit
#endif
