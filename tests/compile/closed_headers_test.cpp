// What NVRTC can open: nothing but the headers of the closed set, however an #include is spelt, here and in a worker.
#include <sys/syscall.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/file.h"
#include "compile/find_worker.h"
#include "nvrtc_fixture.h"
#include "worker_fixture.h"

namespace tma_jit::compile {
namespace {

// A header of the machine's, beside the working folder's own name for it.
struct HostHeader {
  TemporaryFolder folder;
  std::filesystem::path before = std::filesystem::current_path();
  HostHeader() {
    REQUIRE(write_file(folder.path() / "host.h", "#define FROM_HOST 1\n"));
    std::filesystem::current_path(folder.path());
  }
  ~HostHeader() { std::filesystem::current_path(before); }
  std::string path() const { return (folder.path() / "host.h").string(); }
};

std::string with_path(std::string text, const std::string& path) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, path);
  return text;
}

// Spellings by which NVRTC, as it is by default, reads the file @, each with FROM_HOST or READ_HOST defined then.
const std::vector<std::string> kSpellings = {
    "#include \"@\"\n",
    "#include <@>\n",
    "#inc\\\nlude \"@\"\n",
    "#inc\\\r\nlude \"@\"\r\n",
    "/* a\n b */ # /* c */ include/**/\"@\"\n",
    "\v#\finclude\v\"@\"\n",
    "%:include \"@\"\n",
    "#define H \"@\"\n#include H\n",
    "#define H <@>\n#include H\n",
    "#include_next \"@\"\n",
    "#if __has_include(\"@\")\n#define READ_HOST\n#endif\n",
    "#if __has_include(<@>)\n#define READ_HOST\n#endif\n",
    "#define N \"@\"\n#if __has_include(N)\n#define READ_HOST\n#endif\n",
    "#define H __has_include\n#if H(\"@\")\n#define READ_HOST\n#endif\n",
    "#define P(a, b) a##b\n#if P(__has_, include)(\"@\")\n#define READ_HOST\n#endif\n",
    "#define P(a, b) a%:%:b\n#if P(__has_, include)(\"@\")\n#define READ_HOST\n#endif\n",
    "#if 0\ndon't /*\n#endif\n#include \"@\"\n/* */\n",
    "#if 0\n1'000 /*\n#endif\n#include \"@\"\n// */\n",
    "#if 0\nR\"(\"/*)\"\n#endif\n#include \"@\"\n/* */\n",
    "#if 0\n#elif __has_include(\"@\")\n#define READ_HOST\n#endif\n",
};
// Those that name a file of the working folder.
const std::vector<std::string> kRelative = {"#include \"host.h\"\n", "#include \"./host.h\"\n",
                                            "#if __has_include(\"host.h\")\n#define READ_HOST\n#endif\n",
                                            "#line 1 \"@\"\n#include \"host.h\"\n"};

// A kernel that compiles only where the file was read.
std::string kernel_after(const std::string& lines) {
  return lines +
         "#if !defined(FROM_HOST) && !defined(READ_HOST)\n#error \"not read\"\n#endif\n"
         "extern \"C\" __global__ void k() {}\n";
}

// NVRTC's own answer, without what emission and the options of a Compiler keep from it.
Outcome bare(Runner& runner, const std::string& text) {
  Job job = job_of(text);
  job.options = {"--gpu-architecture=sm_90a", "--no-cache", "-std=c++17"};
  return runner.run(job).value();
}

std::shared_ptr<Runner> here() {
  static const std::shared_ptr<Runner> runner = run_in_process(nvrtc().location().path).value();
  return runner;
}

std::shared_ptr<WorkerPool> workers() {
  WorkerPool::Settings settings;
  settings.worker.command = {real_worker(),
                             {std::string(kWorkerFlag), "--nvrtc", nvrtc().location().path.string()},
                             ProcessEnvironment::read().words};
  settings.workers = 1;
  return WorkerPool::open(std::move(settings)).value();
}

bool has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) > 0;
}

}  // namespace

TEST_CASE("every spelling that lets NVRTC read a file of the machine is refused before it is compiled") {
  const HostHeader host;
  for (const std::string& spelling : kSpellings) {
    const std::string text = kernel_after(with_path(spelling, host.path()));
    INFO(text);
    CHECK(bare(*here(), text).verdict == Verdict::success);
    const auto source = source::emit(plan_of(text), test_headers());
    REQUIRE_FALSE(source);
    CHECK(source.error().code == ErrorCode::parse);
    CHECK(source.error().message.find("refused") != std::string::npos);
  }
}

TEST_CASE("a worker's NVRTC reads no file of the machine, whatever it is given") {
  if (!has_landlock()) {
    MESSAGE("the kernel has no Landlock: not tried");
    return;
  }
  const HostHeader host;
  const auto pool = workers();
  CHECK(bare(*pool, "extern \"C\" __global__ void k() {}\n").verdict == Verdict::success);
  for (const std::string& spelling : kSpellings) {
    const std::string text = kernel_after(with_path(spelling, host.path()));
    INFO(text);
    CHECK(bare(*pool, text).verdict == Verdict::refused);
  }
}

TEST_CASE("the folder of the program and that of the source are not searched, here and in a worker") {
  const HostHeader host;
  const auto pool = workers();
  const auto in_worker = Compiler::over(nvrtc().location(), pool);
  CHECK(bare(*here(), kernel_after(kRelative[0])).verdict == Verdict::success);
  for (const std::string& spelling : kRelative) {
    Source source = source_of(plan_of("", "sm_90a"));
    source.name = host.folder.path() / "k.cu";
    source.text = kernel_after(with_path(spelling, host.path()));
    INFO(source.text);
    for (Compiler* compiler : {&nvrtc(), in_worker.get()}) {
      const auto cubin = compiler->compile(source);
      REQUIRE_FALSE(cubin);
      CHECK(cubin.error().code == ErrorCode::compile);
    }
  }
}

TEST_CASE("the name that the compiler gives a template is the one in the key") {
  Plan plan = plan_of("#error here\n");
  plan.file = "/somewhere/else/k.cu";
  const auto failed = nvrtc().compile(source_of(plan));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.starts_with("/somewhere/else/k.cu:1:"));
  plan.body =
      "#define P(a, b) a##b\n"
      "__device__ const char file[] = P(__FI, LE__);\n"
      "extern \"C\" __global__ void k(const char** p) { *p = file; }\n";
  Plan moved = plan;
  moved.file = "/another/place/k.cu";
  CHECK(nvrtc().compile(source_of(plan))->bytes == nvrtc().compile(source_of(moved))->bytes);
}

TEST_CASE("line information of a worker does not depend on the folder it was started in") {
  const auto in_worker = Compiler::over(nvrtc().location(), workers());
  Source source = source_of(plan_of(kGoodBody));
  source.options.emplace_back("-lineinfo");
  const std::string ptx = in_worker->ptx(source).value();
  CHECK(ptx.find("\"templates/kernels/k.cu\"") != std::string::npos);
}

}  // namespace tma_jit::compile
