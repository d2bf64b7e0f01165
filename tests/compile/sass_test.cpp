// The instructions that must be there, in the machine code of the gemms and of attention's gradients for tcgen05. Needs
// NVRTC and nvdisasm: the one that NVDISASM names, or that of the path or the CUDA toolkit; without one there is
// nothing to check.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include "support/shared_cache.h"
#include "support/temporary_folder.h"

namespace tma_jit {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, count);
  return ::pclose(pipe) == 0 ? text : std::string();
}

std::string disassembler() {
  std::vector<std::string> candidates = {"nvdisasm", "/usr/local/cuda/bin/nvdisasm"};
  if (const char* named = std::getenv("NVDISASM")) candidates.insert(candidates.begin(), named);
  for (const std::string& candidate : candidates) {
    if (!output_of("'" + candidate + "' --version 2> /dev/null").empty()) return candidate;
  }
  return {};
}

std::string machine_code(const std::string& tool, const std::string& arch, Request request) {
  Options options;
  options.device = Device::known(arch == "sm_103a" ? "b300" : "b200");
  options.use_cache = testing::has_shared_cache();
  Engine engine(options);
  const auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().text()));
  const auto cubin = engine.build(*plan);
  REQUIRE_MESSAGE(cubin, (cubin ? "" : cubin.error().text()));
  CHECK(cubin->resources.spill_store_bytes == 0);
  CHECK(cubin->resources.warnings.empty());
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "kernel.cubin";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(cubin->bytes.data()), static_cast<std::streamsize>(cubin->bytes.size()));
  return output_of("'" + tool + "' '" + file.string() + "'");
}

bool has(const std::string& code, const std::string& instruction) {
  return code.find(' ' + instruction) != std::string::npos;
}

}  // namespace

TEST_CASE("The gemm of sm_100a is made of the tensor core's and the copy engine's instructions") {
  const std::string tool = disassembler();
  if (tool.empty()) {
    MESSAGE("skipped: no nvdisasm");
    return;
  }
  for (const char* arch : {"sm_100a", "sm_103a"}) {
    for (const DType type : {DType::bf16, DType::f16, DType::e4m3, DType::e5m2}) {
      for (const std::int64_t pair : {1, 2}) {
        CAPTURE(arch);
        CAPTURE(name_of(type));
        CAPTURE(pair);
        const std::string code = machine_code(tool, arch,
                                              {.kernel = "gemm",
                                               .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}},
                                               .types = {{"T", type}},
                                               .params = {{"PAIR", pair}, {"BN", 128}, {"STAGES", 4}}});
        const bool narrow = type == DType::e4m3 || type == DType::e5m2;
        const std::string suffix = pair == 2 ? ".2CTA" : "";
        CHECK(has(code, (narrow ? "UTCQMMA" : "UTCHMMA") + suffix));
        CHECK_FALSE(has(code, narrow ? "UTCHMMA" : "UTCQMMA"));
        CHECK(has(code, "UTMALDG.2D" + suffix));
        CHECK(has(code, "UTMASTG.2D"));
        CHECK(has(code, "LDTM."));
        CHECK(has(code, "UTCBAR" + suffix));
        if (pair == 2) CHECK(has(code, "UTCBAR.2CTA.MULTICAST"));
        CHECK_FALSE(has(code, "HMMA."));  // nothing fell back to the warp's tensor core instructions
      }
    }
  }
}

TEST_CASE("Attention's gradients of sm_100a are made by the tensor core, of heads of every size") {
  const std::string tool = disassembler();
  if (tool.empty()) {
    MESSAGE("skipped: no nvdisasm");
    return;
  }
  for (const std::int64_t size : {64, 128, 192, 256}) {
    CAPTURE(size);
    const std::string code = machine_code(tool, "sm_100a",
                                          {.kernel = "attention_backward",
                                           .dims = {{"HEADS", 8}, {"KV_HEADS", 8}, {"M", 4096}, {"N", 4096}},
                                           .params = {{"HD", size}, {"CAUSAL", 1}}});
    CHECK(has(code, "UTCHMMA"));
    CHECK(has(code, "UTMALDG.3D"));
    CHECK(has(code, "LDTM."));
    CHECK(has(code, "STTM.") == (size <= 128));  // weights of wide heads are in shared memory
    CHECK_FALSE(has(code, "HMMA."));
  }
}

}  // namespace tma_jit
