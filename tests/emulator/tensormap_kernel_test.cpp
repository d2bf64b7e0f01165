// Tensor maps that a kernel builds field by field.
#include "emulator/ptx_kernel.h"
#include "emulator/tensor/tensor_map.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// One thread zeroes 128 bytes of shared memory, replaces every field and copies the map to %base.
std::string builder(std::string_view stride, const char* arch = "sm_90a") {
  std::string body = "mov.u32 %r1, map;\nsetp.ne.u32 %p1, %t, 0;\n@%p1 bra built;\nmov.u32 %r2, 0;\n";
  for (int i = 0; i < 128; i += 4) body += "st.shared.u32 [%r1+" + std::to_string(i) + "], %r2;\n";
  const std::string map = "shared::cta.b1024.";
  body += "tensormap.replace.tile.global_address." + map + "b64 [%r1], %base;\n";
  body += "tensormap.replace.tile.rank." + map + "b32 [%r1], 1;\n";
  for (int d = 0; d < 2; ++d) {
    const std::string ordinal = std::to_string(d);
    body += "tensormap.replace.tile.box_dim." + map + "b32 [%r1], " + ordinal + ", " + (d == 0 ? "64" : "8") + ";\n";
    body += "mov.u32 %r3, " + std::string(d == 0 ? "100" : "40") + ";\n";
    body += "tensormap.replace.tile.global_dim." + map + "b32 [%r1], " + ordinal + ", %r3;\n";
    body += "tensormap.replace.tile.element_stride." + map + "b32 [%r1], " + ordinal + ", 1;\n";
  }
  body += "mov.u64 %d1, " + std::string(stride) + ";\n";
  body += "tensormap.replace.tile.global_stride." + map + "b64 [%r1], 0, %d1;\n";
  body += "tensormap.replace.tile.elemtype." + map + "b32 [%r1], 10;\n";
  body += "tensormap.replace.tile.interleave_layout." + map + "b32 [%r1], 0;\n";
  body += "tensormap.replace.tile.swizzle_mode." + map + "b32 [%r1], 3;\n";
  body += "tensormap.replace.tile.fill_mode." + map + "b32 [%r1], 0;\n";
  body +=
      "built:\nbar.warp.sync 0xffffffff;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%base], [%r1], 128;\n";
  return kernel_text(body, arch, ".shared .align 128 .b8 map[128];\n");
}

}  // namespace

TEST_CASE("Forms: a kernel builds a tensor map in shared memory and publishes it") {
  TestMemory memory(device_of("sm_90a"), 4096);
  run_ptx(builder("208"), memory);
  const emulator::tensor::TensorMap map = emulator::tensor::read_map(memory.as<void>());
  CHECK(map.address == memory.address());
  CHECK(map.rank == 2);
  CHECK(map.box[0] == 64);
  CHECK(map.box[1] == 8);
  CHECK(map.dims[0] == 100);
  CHECK(map.dims[1] == 40);
  CHECK(map.strides[0] == 208);
  CHECK(map.element == emulator::tensor::ElementType::bf16);
  CHECK(map.swizzle == emulator::tensor::SwizzleMode::b128);
}

TEST_CASE("Forms: a kernel changes fields of a tensor map in global memory") {
  const char* const arch = "sm_100a";  // required by .swizzle_atomicity
  TestMemory memory(device_of(arch), 4096);
  run_ptx(builder("208", arch), memory, {}, arch);
  std::string body =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra E; add.u64 %d2, %base, 256; mov.u64 %d3, 416; mov.u32 %r3, 90;\n";
  for (const char* replace :
       {"global_address.global.b1024.b64 [%base], %d2;", "global_dim.global.b1024.b32 [%base], 0, %r3;",
        "global_stride.global.b1024.b64 [%base], 0, %d3;", "rank.global.b1024.b32 [%base], 1;",
        "swizzle_atomicity.global.b1024.b32 [%base], 1;"})
    body += std::string("tensormap.replace.tile.") + replace + "\n";
  run_ptx(kernel_text(body + "E:", arch), memory, {}, arch);
  const emulator::tensor::TensorMap map = emulator::tensor::read_map(memory.as<void>());
  CHECK(map.address == memory.address() + 256);
  CHECK(map.dims[0] == 90);
  CHECK(map.strides[0] == 416);
  CHECK(map.rank == 2);
  CHECK(map.atomicity == emulator::tensor::Atomicity::b32);
  for (const std::string scope : {"cta", "cluster", "sys"}) {
    const std::string copy = ".shared .align 128 .b8 map[128];\n";
    run_ptx(kernel_text(
                "mov.u32 %r1, map; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2; mul.wide.u32 %d1, %t, 4; add.u64 %d1, "
                "%d1, %base; ld.global.u32 %r3, [%d1]; st.shared.u32 [%r2], %r3; bar.warp.sync -1; add.u64 %d2, "
                "%base, 1024;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." +
                    scope + ".sync.aligned [%d2], [%r1], 128;",
                arch, copy),
            memory, {}, arch);
    CHECK(std::memcmp(memory.as<char>(), memory.as<char>() + 1024, 128) == 0);
  }
}

TEST_CASE("a map that breaks a rule is refused where it is used") {
  TestMemory memory(device_of("sm_90a"), 4096);
  run_ptx(builder("200"), memory);
  CHECK_THROWS_AS(emulator::tensor::read_map(memory.as<void>()), emulator::Fault);
}
