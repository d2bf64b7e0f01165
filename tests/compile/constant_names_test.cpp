// A template's constants may have any names, also those of symbols that the assembler makes itself.
#include <elf.h>

#include <cstring>

#include "nvrtc_fixture.h"

namespace tma_jit::compile {
namespace {

// Returns the number of places in the cubin's code to which the driver adds addresses.
std::size_t relocations_of_code(const Artifact& cubin) {
  const auto read = [&](auto& value, std::uint64_t at) {
    REQUIRE(at + sizeof value <= cubin.bytes.size());
    std::memcpy(&value, cubin.bytes.data() + at, sizeof value);
  };
  Elf64_Ehdr header{};
  read(header, 0);
  const auto section = [&](std::uint64_t index) {
    Elf64_Shdr found{};
    read(found, header.e_shoff + index * header.e_shentsize);
    return found;
  };
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr relocations = section(i);
    if (relocations.sh_type != SHT_RELA || (section(relocations.sh_info).sh_flags & SHF_EXECINSTR) == 0) continue;
    count += relocations.sh_size / relocations.sh_entsize;
  }
  return count;
}

// Two kernels that store to shared memory 16 bytes at a time.
constexpr const char* kTwoKernels = R"(struct alignas(16) Pair { double a, b; };
extern "C" __global__ void k(Pair* p, int n) {
  __shared__ Pair x[256];
  x[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < n; ++i) p[i * 256 + threadIdx.x].a += x[i].a * x[i].b;
}
extern "C" __global__ void other(Pair* p) {
  __shared__ Pair x[256];
  x[threadIdx.x] = p[threadIdx.x + 1];
  __syncthreads();
  p[threadIdx.x] = x[255 - threadIdx.x];
}
)";

}  // namespace

TEST_CASE("the address of no constant is added to those of shared memory") {
  for (const bool is_dim : {false, true}) {
    CAPTURE(is_dim);
    Plan plan = plan_of(kTwoKernels);
    if (is_dim) {
      plan.dims = {{.name = "SMEM", .value = 5, .fixed = true}};
    } else {
      plan.constants = {{.name = "SMEM", .value = 5}};
    }
    const auto cubin = nvrtc().compile(source_of(plan));
    REQUIRE(cubin);
    CHECK(relocations_of_code(*cubin) == 0);
  }
}

}  // namespace tma_jit::compile
