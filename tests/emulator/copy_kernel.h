// Kernels that execute one copy into or out of shared memory.
#pragma once

#include <array>

#include "emulator/ptx_kernel.h"
#include "emulator/tensor/encode.h"

namespace tma_jit::testing::copies {

constexpr u32 kRoom = 4096;    // bytes of shared memory per block, from %r1 on
constexpr u32 kMaps = 512;     // bytes of global memory for tensor maps
constexpr u32 kTensor = 4096;  // offset of the tensor
constexpr u32 kOut = 32768;    // offset to which blocks store their shared memory
constexpr u32 kCopyBytes = kOut + 2 * kRoom;

inline const char* const kShared =
    ".shared .align 1024 .b8 room[4096];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 gate;\n";

// Returns a kernel in which one thread of each block waits for `bytes` on [bar] and that of block 0 executes `copy`.
// Every block then stores its shared memory, which is initialised to filler(). Tensor maps are at %base, 128 bytes
// each, and %d8 is the tensor.
inline std::string load_text(const std::string& copy, u32 bytes) {
  return "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, room; mov.u32 %r9, %cluster_ctarank; add.u64 %d8, %base, 4096;\n"
         "@!%p1 mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
         "shl.b32 %r2, %t, 2; fill: add.u32 %r3, %r1, %r2; mul.lo.u32 %r4, %r2, 40503; st.shared.u32 [%r3], %r4;\n"
         "add.u32 %r2, %r2, 128; setp.lt.u32 %p2, %r2, 4096; @%p2 bra fill; fence.proxy.async.shared::cta;\n"
         "bar.warp.sync -1; barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
         "@%p1 bra issued; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
         std::to_string(bytes) + ";\nsetp.ne.u32 %p3, %r9, 0; @%p3 bra issued;\n" + copy +
         "\nissued: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra issued;\n"
         "mad.lo.u32 %r8, %r9, 4096, 32768; cvt.u64.u32 %d7, %r8; add.u64 %d7, %d7, %base; shl.b32 %r2, %t, 2;\n"
         "keep: add.u32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3]; cvt.u64.u32 %d6, %r2; add.u64 %d6, %d6, %d7;\n"
         "st.global.u32 [%d6], %r4; add.u32 %r2, %r2, 128; setp.lt.u32 %p2, %r2, 4096; @%p2 bra keep;\n"
         "bar.warp.sync -1; barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";
}

// Returns word `i` of shared memory before the copy.
inline u32 filler(u32 i) {
  return 4 * i * 40503;
}

// Returns a kernel in which one thread executes `copy` and waits for its bulk group.
inline std::string store_text(const std::string& copy) {
  return "mov.u32 %r1, room; add.u64 %d8, %base, 4096; shl.b32 %r2, %t, 2;\n"
         "fill: add.u32 %r3, %r1, %r2; mul.lo.u32 %r4, %r2, 40503; st.shared.u32 [%r3], %r4;\n"
         "add.u32 %r2, %r2, 128; setp.lt.u32 %p2, %r2, 4096; @%p2 bra fill; fence.proxy.async.shared::cta;\n"
         "bar.warp.sync -1; setp.ne.u32 %p1, %t, 0; @%p1 bra stored;\n" +
         copy + "\ncp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\nstored:";
}

inline std::string coordinates(const std::vector<s32>& at) {
  std::string text;
  for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(at[i]);
  return "{" + text + "}";
}

}  // namespace tma_jit::testing::copies
