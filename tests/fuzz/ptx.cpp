// PTX of any kind: parsed, every kernel decoded, and what decodes launched for a few hundred instructions.
#include <cstring>

#include "emulator/driver/launch.h"
#include "emulator/driver/library.h"
#include "emulator/fault.h"
#include "target.h"

namespace tma_jit::fuzz {
namespace {

using namespace emulator;
using namespace emulator::driver;

constexpr u64 kMemory = 4096;

struct Host {
  Host() : device(facts()), memory(device.memory.allocate(kMemory)) {
    device.settings.instruction_limit = 256;
    device.settings.polls_before_livelock = 10'000;
    device.settings.resident_blocks = 1;
    device.settings.print = [](std::string_view) {};
  }
  static DeviceInfo facts() {
    DeviceInfo info;
    info.name = "fuzzed";
    info.arch = "sm_100a";
    info.sm_count = 2;
    info.smem_per_block = info.smem_per_sm = 64 << 10;
    info.threads_per_block = 1024;
    info.threads_per_sm = 2048;
    info.registers_per_sm = 65536;
    info.cluster_max = 2;
    return info;
  }
  Device device;
  const u64 memory;
};

// Pointers for the first words of every parameter, whatever its type.
void launch_kernel(Host& host, Kernel& kernel) {
  if (kernel.program->shared_bytes > 64 << 10 || kernel.program->register_bytes > 256 << 10) return;
  const std::vector<u64> values(1024 + kernel.program->parameter_bytes / 8, host.memory);
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < kernel.program->parameters.size(); ++i)
    arguments.push_back(const_cast<u64*>(values.data()));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 64;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = kernel.most_dynamic_shared < 4096 ? 0 : 4096;
  std::memset(reinterpret_cast<void*>(host.memory), 0, kMemory);
  if (kernel.program->parameters.size() % 2 == 0) host.device.memory.mark_written(host.memory, kMemory);
  launch(kernel, config, arguments.data());
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  Host host;  // what one input's kernels allocate is no other's
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    u64 globals = 0;
    const auto module = ptx::parse(text);
    for (const auto& variable : module->variables) globals += variable.bytes();
    if (globals > 1 << 20) return;  // they would be allocated
    host.device.settings.checks = bytes.size() % 2 == 0;
    Library library(host.device, text);
    std::size_t left = 4;
    for (const auto& function : library.module->functions) {
      if (!function->entry || left-- == 0) continue;
      try {
        if (Kernel* kernel = library.kernel(function->name)) launch_kernel(host, *kernel);
      } catch (const Fault& fault) {
        FUZZ_EXPECT(!fault.text().empty());
      }
    }
  } catch (const Fault& fault) {
    FUZZ_EXPECT(!fault.text().empty());
  }
}

namespace {

std::string module_of(const std::string& before, const std::string& body, const std::string& arch = "sm_100a") {
  return ".version 9.0\n.target " + arch + "\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p, .param .align 64 .b8 m[128])\n.maxntid 128, 1, 1\n{\n"
         ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<20>;\n.reg .b64 %d<8>;\n.reg .f32 %f<8>;\n"
         "ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\n" +
         body + "ret;\n}\n";
}

const char kArithmetic[] =
    "mad.lo.s32 %r1, %r0, 3, -7;\nsetp.lt.u32 %p1, %r1, 0x40;\n@%p1 add.rn.ftz.f32 %f1, 0f3F800000, 0f40000000;\n"
    "cvt.rn.bf16x2.f32 %r2, %f1, %f1;\nlop3.b32 %r3, %r1, %r2, 0xff, 0x96;\nshf.l.wrap.b32 %r4, %r1, %r2, 5;\n"
    "prmt.b32 %r5, %r1, %r2, 0x5410;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d2, %d0, %d1;\nst.global.u32 [%d2], %r5;\n"
    "ld.global.v2.u32 {%r6, %r7}, [%d0+8];\nshfl.sync.bfly.b32 %r8|%p2, %r5, 1, 31, -1;\n"
    "atom.global.add.u32 %r9, [%d0], 1;\nmov.b64 {%r1, %r2}, %d2;\nselp.b32 %r1, %r2, 5, %p1;\n";
const char kControl[] =
    "mov.u32 %r1, 0;\n$L1:\n.loc 1 7 3\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, %r0;\n@%p1 bra $L1;\n"
    "{ .reg .b32 t; mov.b32 t, 1; @!%p1 bra.uni $L2; }\n$L2: bar.sync 0;\nbar.warp.sync 0xffffffff;\n"
    "tb: .branchtargets $L1, $L2;\n";
const char kShared[] = ".shared .align 128 .b8 tile[1024];\n.extern .shared .align 16 .b8 dynamic[];\n";
const char kAsync[] =
    "mov.u32 %r1, tile;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra $L;\nmbarrier.init.shared::cta.b64 [%r1], 1;\n"
    "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], 256;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+128], [%d0], 256, [%r1];\n"
    "$W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;\n@!%p2 bra $W;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+128], [m, {%r2, %r3}], "
    "[%r1];"
    "\ncp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1+128], 64;\ncp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\n$L: bar.sync 0;\nfence.proxy.async.shared::cta;\nst.shared.b32 [dynamic], "
    "%r0;\n";
const char kTensor[] =
    "mov.u32 %r1, tile;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;\nbar.sync 0;\n"
    "ld.shared.u32 %r2, [%r1];\ntcgen05.st.sync.aligned.32x32b.x2.b32 [%r2], {%r3, %r4};\n"
    "tcgen05.wait::st.sync.aligned;\nmov.b64 %d1, 0x4000404000010000;\nsetp.eq.u32 %p1, %r0, 0;\n"
    "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r2], %d1, %d1, 0x8080490, %p1;\n"
    "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+8];\n"
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r2];\ntcgen05.wait::ld.sync.aligned;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;\n";
const char kMatrix[] =
    "mov.u32 %r1, tile;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, "
    "{%f0, %f1, %f2, %f3};\nelect.sync %r9|%p1, 0xffffffff;\nredux.sync.add.s32 %r8, %r2, 0xffffffff;\n";
const char kWarpgroup[] =
    "mov.b64 %d1, 0x4000004000010040;\nwgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d1, 1, 1, 1, 0, 0;\n"
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
const char kFunctions[] =
    ".func (.param .b32 r) f(.param .b32 a, .param .b64 b)\n{\n.reg .b32 %x<4>;\n.local .align 8 .b8 s[16];\n"
    "ld.param.b32 %x1, [a];\nst.local.b32 [s], %x1;\nld.local.b32 %x2, [s];\nst.param.b32 [r], %x2;\nret;\n}\n"
    ".global .align 8 .u64 table[2] = {generic(table), 7};\n.const .align 4 .f32 c[2] = {0f3F800000, 2.5};\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.global .align 1 .b8 $str[4] = {37, 100, "
    "10};\n";
const char kCall[] =
    "{ .param .b32 q0; st.param.b32 [q0], %r0; .param .b64 q1; st.param.b64 [q1], %d0; .param .b32 v;\n"
    "call.uni (v), f, (q0, q1);\nld.param.b32 %r1, [v]; }\nld.const.f32 %f1, [c+4];\nmov.u64 %d1, table;\n"
    "ld.global.u64 %d2, [%d1];\n";
const char kCallables[] =
    ".func (.param .b32 r) add(.param .b32 a)\n{\n.reg .b32 %x<3>;\nld.param.b32 %x1, [a];\nadd.u32 %x2, %x1, 5;\n"
    "st.param.b32 [r], %x2;\nret;\n}\n"
    ".func (.param .b32 r) down(.param .b32 a)\n{\n.reg .b32 %x<3>;\n.reg .pred %q;\n.param .b32 n;\n.param .b32 m;\n"
    "ld.param.b32 %x1, [a];\nst.param.b32 [r], %x1;\nsetp.eq.u32 %q, %x1, 0;\n@%q ret;\nsub.u32 %x1, %x1, 1;\n"
    "st.param.b32 [n], %x1;\ncall.uni (m), down, (n);\nret;\n}\n"
    ".global .align 8 .u64 ways[2] = {add, down};\n";
const char kIndirect[] =
    "{ .param .b32 v; .param .b32 w;\nand.b32 %r1, %r0, 1;\nst.param.b32 [v], %r1;\nmov.u64 %d1, ways;\n"
    "mul.wide.u32 %d2, %r1, 8;\nadd.s64 %d1, %d1, %d2;\nld.global.u64 %d3, [%d1];\n"
    "p: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (w), %d3, (v), p;\nmov.u64 %d1, add;\n"
    "q: .calltargets add, down;\ncall (w), %d1, (v), q;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 call.uni (w), add, (v);\n"
    "ld.param.b32 %r2, [w]; }\n";
// The text is "%d %5.2f %s\n".
const char kRuntime[] =
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.extern .func (.param .b64 r) malloc(.param "
    ".b64 a);\n.extern .func free(.param .b64 a);\n.extern .func __assertfail(.param .b64 a, .param .b64 b, .param "
    ".b32 "
    "c, .param .b64 d, .param .b64 e);\n"
    ".global .align 1 .b8 text[16] = {37, 100, 32, 37, 53, 46, 50, 102, 32, 37, 115, 10};\n";
const char kHeap[] =
    "{ .local .align 8 .b8 s[24]; .param .b64 a; .param .b64 b; .param .b32 c; .param .b32 r; .param .b64 g;\n"
    "setp.gt.u32 %p1, %r0, 1;\n@%p1 bra $L;\nmov.u64 %d1, s;\ncvta.local.u64 %d2, %d1;\nst.local.b32 [s], %r0;\n"
    "mov.u64 %d3, 0x3ff8000000000000;\nst.local.b64 [s+8], %d3;\nmov.u64 %d4, text;\ncvta.global.u64 %d4, %d4;\n"
    "st.local.b64 [s+16], %d4;\nst.param.b64 [a], %d4;\nst.param.b64 [b], %d2;\ncall.uni (r), vprintf, (a, b);\n"
    "st.param.b64 [a], 48;\ncall.uni (g), malloc, (a);\nld.param.b64 %d5, [g];\nst.b64 [%d5+40], %d3;\n"
    "st.param.b64 [a], %d5;\ncall.uni free, (a);\n$L: setp.ne.u32 %p2, %r0, 40;\n@%p2 bra $E;\n"
    "st.param.b64 [a], %d4;\nst.param.b64 [b], %d4;\nst.param.b32 [c], 7;\nst.param.b64 [g], 0;\n"
    "call.uni __assertfail, (a, b, c, g, g);\n$E: }\n";

}  // namespace

std::vector<std::string> seeds() {
  return {
      module_of("", kArithmetic),   module_of(".file 1 \"k.cu\"\n", kControl), module_of(kShared, kAsync),
      module_of(kShared, kTensor),  module_of(kShared, kMatrix, "sm_121a"),    module_of(kShared, kWarpgroup, "sm_90a"),
      module_of(kFunctions, kCall), module_of(kCallables, kIndirect),          module_of(kRuntime, kHeap)};
}

}  // namespace tma_jit::fuzz
