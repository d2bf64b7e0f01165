#include "compile/compiler.h"

#include <cstring>
#include <future>

#include "compile/cubin_check.h"
#include "nvrtc_fixture.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {

TEST_CASE("a good source becomes a checked cubin with its resources") {
  const Plan plan = plan_of(
      "extern \"C\" __global__ void k(float* p) {\n"
      "  __shared__ float tile[64];\n"
      "  tile[threadIdx.x] = p[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  p[threadIdx.x] = tile[63 - threadIdx.x];\n"
      "}\n");
  const Artifact cubin = nvrtc().compile(source_of(plan)).value();
  CHECK(cubin.compiled);
  CHECK(cubin.entry == "k");
  CHECK(cubin.arch == "sm_90a");
  CHECK(check_cubin(cubin.bytes, "sm_90a").has_value());
  CHECK(cubin.resources.registers > 0);
  CHECK(cubin.resources.static_shared_bytes == 256);
  CHECK(cubin.resources.spill_store_bytes == 0);
  CHECK(cubin.resources.warnings.empty());
  CHECK(cubin.compile_ms > 0);
}

TEST_CASE("the same source gives the same bytes") {
  const Source source = source_of(plan_of(kGoodBody));
  CHECK(nvrtc().compile(source)->bytes == nvrtc().compile(source)->bytes);
}

TEST_CASE("threads compile beside each other") {
  std::vector<std::future<Result<Artifact>>> compiles;
  for (const char* arch : {"sm_90a", "sm_100a", "sm_120a", "sm_80"}) {
    compiles.push_back(
        std::async(std::launch::async, [arch] { return nvrtc().compile(source_of(plan_of(kGoodBody, arch))); }));
  }
  for (auto& compile : compiles) {
    const auto cubin = compile.get();
    REQUIRE(cubin);
    CHECK(check_cubin(cubin->bytes, cubin->arch).has_value());
  }
}

TEST_CASE("a cubin for another architecture does not pass for this one") {
  const Artifact cubin = nvrtc().compile(source_of(plan_of(kGoodBody))).value();
  CHECK(check_cubin(cubin.bytes, "sm_100a").error().message ==
        "NVRTC reported success, but its cubin is for sm_90, not sm_100a");
}

TEST_CASE("spills and a stack are reported") {
  const Plan plan = plan_of(
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) k(float* p, int n) {\n"
      "  float x[64];\n"
      "  for (int i = 0; i < 64; ++i) x[i] = p[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "  for (int i = 0; i < 64; ++i) p[i * 1024 + threadIdx.x] = x[i] * x[63 - i];\n"
      "}\n");
  const Resources resources = nvrtc().compile(source_of(plan))->resources;
  CHECK(resources.spill_store_bytes > 0);
  CHECK(resources.spill_load_bytes > 0);
  CHECK(resources.stack_bytes > 0);
}

TEST_CASE("warnings that specialising causes are quiet; real ones and ptxas advisories are kept") {
  const Plan plan = plan_of(
      "constexpr int ZERO = 0;\n"
      "extern \"C\" __global__ void k(float* p, unsigned n) {\n"
      "  const int unused = 3;\n"
      "  if (n >= ZERO) p[0] = 1;\n"
      "  unsigned u = -1;\n"
      "  p[1] = u;\n"
      "  asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n"
      "}\n");
  const std::vector<std::string> warnings = nvrtc().compile(source_of(plan))->resources.warnings;
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == "templates/kernels/k.cu:5:16: warning #68-D: integer conversion resulted in a change of sign");
  CHECK(warnings[1].starts_with("ptxas: C7508 Potential Performance Loss: 'setmaxnreg' ignored"));
}

TEST_CASE("a failed compile is an error and no bytes") {
  for (const char* body :
       {"nonsense", "extern \"C\" __global__ void k() { asm volatile(\"bad.instr;\"); }", "#error no\n"}) {
    const auto cubin = nvrtc().compile(source_of(plan_of(body)));
    REQUIRE_FALSE(cubin);
    CHECK(cubin.error().code == ErrorCode::compile);
    CHECK_FALSE(cubin.error().message.empty());
  }
}

TEST_CASE("an architecture NVRTC does not know is unsupported, with those it knows") {
  for (const char* arch : {"sm_95a", "sm_90f", "hopper", ""}) {
    const auto cubin = nvrtc().compile(source_of(plan_of(kGoodBody, arch)));
    REQUIRE_FALSE(cubin);
    CHECK(cubin.error().code == ErrorCode::unsupported);
    CHECK(cubin.error().message.find(fmt::format("does not compile for \"{}\"", arch)) != std::string::npos);
    CHECK(cubin.error().detail.starts_with("it knows sm_"));
  }
}

TEST_CASE("an option NVRTC does not know is NVRTC's error, with its words") {
  Source source = source_of(plan_of(kGoodBody));
  source.options.emplace_back("--no-such-option");
  const auto cubin = nvrtc().compile(source);
  REQUIRE_FALSE(cubin);
  CHECK(cubin.error().code == ErrorCode::nvrtc);
  CHECK(cubin.error().detail.find("--no-such-option") != std::string::npos);
}

TEST_CASE("PTX is for the same target") {
  const std::string ptx = nvrtc().ptx(source_of(plan_of(kGoodBody))).value();
  CHECK(ptx.find(".target sm_90a") != std::string::npos);
  CHECK(ptx.find(".visible .entry k(") != std::string::npos);
  CHECK(nvrtc().ptx(source_of(plan_of("nonsense"))).error().code == ErrorCode::compile);
}

TEST_CASE("the version has a build number and the targets their suffixes") {
  const std::string version = nvrtc().version();
  CHECK(std::count(version.begin(), version.end(), '.') == 2);
  const std::vector<std::string> archs = nvrtc().archs();
  const auto knows = [&](std::string_view arch) { return std::count(archs.begin(), archs.end(), arch) == 1; };
  CHECK(knows("sm_80"));
  CHECK(knows("sm_90a"));
  CHECK(knows("sm_100a"));
  CHECK(knows("sm_120a"));
  CHECK_FALSE(knows("sm_80a"));
  CHECK_FALSE(knows("sm_90f"));
}

TEST_CASE("a text without the kernel that the manifest names does not compile") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a", "sm_121a", "compute_90a"}) {
    const auto mangled = nvrtc().compile(source_of(plan_of("__global__ void k(float* p) { p[0] = 1; }\n", arch)));
    REQUIRE_FALSE(mangled);
    CHECK(mangled.error().message == "templates/kernels/k.cu: the kernel k is not extern \"C\"");
    const auto other =
        nvrtc().compile(source_of(plan_of("extern \"C\" __global__ void m(float* p) { p[0] = 1; }\n", arch)));
    REQUIRE_FALSE(other);
    CHECK(other.error().code == ErrorCode::compile);
    CHECK(other.error().message == "templates/kernels/k.cu: there is no kernel k, which the manifest names");
    CHECK(other.error().detail == "write it as  extern \"C\" __global__ void k(...); there is m");
  }
  CHECK_FALSE(nvrtc().ptx(source_of(plan_of("__device__ int x;\n"))).has_value());
}

TEST_CASE("line information is in the cubin only when asked for") {
  source::EmitOptions options = test_headers();
  options.line_info = true;
  const auto holds_name = [](const Artifact& cubin) {
    const std::string_view bytes(reinterpret_cast<const char*>(cubin.bytes.data()), cubin.bytes.size());
    return bytes.find("k.cu") != std::string_view::npos;
  };
  CHECK(holds_name(nvrtc().compile(source::emit(plan_of(kGoodBody), options).value()).value()));
  CHECK_FALSE(holds_name(nvrtc().compile(source_of(plan_of(kGoodBody))).value()));
}

TEST_CASE("a file that is not NVRTC is refused in words") {
  const TemporaryFolder folder;
  const Location location{folder.path() / "libnvrtc.so", ""};
  const auto missing = Compiler::open(location);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::nvrtc);
  CHECK(missing.error().message.find(location.path.string()) != std::string::npos);
  const auto other = Compiler::open({"libm.so.6", ""});
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "libm.so.6 is not NVRTC 12.8 or newer: functions are missing from it");
}

TEST_CASE("PTX names files as the source does, wherever the compiler stands") {
  Plan plan = plan_of("#include \"device/types.cuh\"\nextern \"C\" __global__ void k(u32 x) { bad_primitive(x); }\n");
  source::EmitOptions options = test_headers();
  options.line_info = true;
  const auto ptx = nvrtc().ptx(source::emit(plan, options).value());
  REQUIRE_MESSAGE(ptx, ptx.error().text());
  CHECK(ptx->find("\"templates/kernels/k.cu\"") != std::string::npos);
  CHECK(ptx->find("\"device/types.cuh\"") != std::string::npos);
}

}  // namespace tma_jit::compile
