// An NVRTC whose files are replaced, or reached by another link, while a program uses it: what it compiles is never
// kept under the identity of the one before.
#include <filesystem>

#include <doctest/doctest.h>

#include "base/environment.h"
#include "base/file.h"
#include "base/library.h"
#include "compile/find_worker.h"
#include "nvrtc_fixture.h"
#include "support/engines.h"
#include "support/templates.h"
#include "worker_fixture.h"

namespace tma_jit {
namespace {

using namespace testing;
namespace fs = std::filesystem;

// `current` links to `a`, which holds the machine's NVRTC; `b` has a copy of it with another build id.
struct Toolkits {
  TemporaryFolder folder;
  fs::path real = fs::canonical(compile::nvrtc().location().path);

  Toolkits() {
    for (const char* name : {"a", "b"}) fs::create_directory(folder.path() / name);
    for (const fs::directory_entry& entry : fs::directory_iterator(real.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("libnvrtc-builtins")) continue;
      for (const char* place : {"a", "b"}) fs::create_symlink(entry.path(), folder.path() / place / name);
    }
    fs::create_symlink(real, folder.path() / "a/libnvrtc.so.13");
    REQUIRE(write_file(folder.path() / "b/libnvrtc.so.13", with_other_id()));
    switch_to("a");
  }
  void switch_to(const char* name) const {
    fs::remove(folder.path() / "current");
    fs::create_directory_symlink(folder.path() / name, folder.path() / "current");
  }
  fs::path library() const { return folder.path() / "current/libnvrtc.so.13"; }

 private:
  std::string with_other_id() const {
    std::string bytes = read_file(real, std::size_t{1} << 30).value();
    std::string id;
    const std::string hex = build_id(real).value();
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      id.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    const std::size_t at = bytes.find(id);
    REQUIRE(at != std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  }
};

Options options_with(const Toolkits& toolkits, TestLog& log) {
  Options options;
  options.device = Device::known("h100");
  options.cache_dir = toolkits.folder.path() / "cache";
  options.nvrtc = toolkits.library();
  options.log = log.callback();
  options.compiler.place = CompilerOptions::Place::worker;
  options.compiler.worker = compile::real_worker();
  return options;
}

Engine engine_of(const Options& options) {
  Engine made = engine_with(options, no_driver());
  REQUIRE(made.add_template("scale.cu", kScale));
  return made;
}

}  // namespace

TEST_CASE("what is loaded has the identity that its files have") {
  CHECK(compile::run_in_process(compile::nvrtc().location().path).value()->facts().identity ==
        compile::nvrtc().location().identity);
}

TEST_CASE("a kernel compiled by an NVRTC that took another's place has the key of the one that compiled it") {
  Toolkits toolkits;
  TestLog log;
  const Options options = options_with(toolkits, log);
  Engine engine = engine_of(options);
  const Plan plan = engine.plan({.kernel = "scale", .dims = {{"N", 1000}}, .hooks = {{"apply", "a"}}}).value();
  const Key before = engine.key(plan).value();
  toolkits.switch_to("b");
  const Artifact cubin = engine.build(plan).value();
  CHECK(cubin.key != before);
  CHECK(cubin.compiled);
  CHECK(log.warnings().size() == 1);
  CHECK(engine.key(plan).value() == cubin.key);

  Engine fresh = engine_of(options);
  CHECK(fresh.key(plan).value() == cubin.key);
  CHECK_FALSE(fresh.build(plan)->compiled);
  toolkits.switch_to("a");
  Engine back = engine_of(options);
  CHECK(back.key(plan).value() == before);
  CHECK(back.build(plan)->compiled);
}

TEST_CASE("a later worker that loads another NVRTC is noticed by its first outcome") {
  Toolkits toolkits;
  compile::WorkerPool::Settings settings;
  settings.worker.command = {compile::real_worker(),
                             {std::string(compile::kWorkerFlag), "--nvrtc", toolkits.library().string()},
                             ProcessEnvironment::read().words};
  settings.workers = 2;
  settings.jobs_per_worker = 1;
  const auto location = compile::locate(toolkits.library()).value();
  const auto compiler = compile::Compiler::over(location, compile::WorkerPool::open(std::move(settings)).value());
  const Source source = compile::source_of(compile::plan_of(compile::kGoodBody));
  CHECK(compiler->compile(source));
  CHECK_FALSE(compiler->replacement());
  toolkits.switch_to("b");
  const auto cubin = compiler->compile(source);
  REQUIRE_FALSE(cubin);
  CHECK(cubin.error().code == ErrorCode::nvrtc);
  CHECK(compiler->replacement() == compile::locate(toolkits.library())->identity);
}

}  // namespace tma_jit
