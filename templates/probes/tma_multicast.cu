//! kernel  tma_multicast  "D[block] = boxes of S, each block of a cluster loading one for all"
//! arch    sm_90a, sm_100a, sm_103a
//!
//! dim     A       = 2
//! dim     B       = 3
//! dim     C       = 2
//! dim     R       = 12
//! param   RANK    = 2  in 1..5
//! param   CLUSTER = 4  in {2, 4, 8}
//! param   HINT    = 0  in {0, 1}                   "1: with an L2 policy"
//!
//! let     X       = 16 * CLUSTER
//! let     B1      = RANK >= 2 ? 8 : 1
//! let     B2      = RANK >= 3 ? 2 : 1
//! let     B3      = RANK >= 4 ? 2 : 1
//! let     B4      = RANK >= 5 ? 2 : 1
//! let     BOX     = 16 * B1 * B2 * B3 * B4
//! let     SLOT    = align_up(BOX, 32)              "a box begins at a multiple of 128 bytes"
//!
//! tensor  S1 : s32[X]              box [16]                  when RANK == 1
//! tensor  S2 : s32[R, X]           box [B1, 16]              when RANK == 2
//! tensor  S3 : s32[C, R, X]        box [B2, B1, 16]          when RANK == 3
//! tensor  S4 : s32[B, C, R, X]     box [B3, B2, B1, 16]      when RANK == 4
//! tensor  S5 : s32[A, B, C, R, X]  box [B4, B3, B2, B1, 16]  when RANK == 5
//! tensor  D  : s32[CLUSTER, CLUSTER, BOX]  out
//!
//! cluster CLUSTER
//! launch  grid CLUSTER  block 128  smem 128 + CLUSTER * SLOT * 4 + 16
//! work    flops 0  bytes 4 * (CLUSTER + 1) * CLUSTER * BOX
//! reference tma_multicast_reference  grid CLUSTER  block 256
//!
//! preset  RANK = 2, CLUSTER = 2            "tensor multicast: to 2 blocks"
//! preset  RANK = 2, CLUSTER = 4            "tensor multicast: to 4 blocks"
//! preset  RANK = 5, CLUSTER = 2            "tensor multicast: 5 dimensions"
//! preset  RANK = 2, CLUSTER = 2, HINT = 1  "tensor multicast: with an L2 policy"

#include "device/probe/box.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/tma.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_multicast(const __grid_constant__ CUtensorMap S1,
                                                                const __grid_constant__ CUtensorMap S2,
                                                                const __grid_constant__ CUtensorMap S3,
                                                                const __grid_constant__ CUtensorMap S4,
                                                                const __grid_constant__ CUtensorMap S5, View<s32, 3> D,
                                                                const Dims) {
  extern __shared__ u8 raw[];
  u8* const base = raw + (-smem_address(raw) & 127);
  s32* const boxes = reinterpret_cast<s32*>(base);
  Barrier& full = *reinterpret_cast<Barrier*>(base + CLUSTER * SLOT * 4);
  const int rank = cluster::rank();
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(CLUSTER * BOX * 4);  // the bytes of every block's box
  }
  cluster::sync();
  if (threadIdx.x == 0) {
    int at[RANK] = {};
    at[0] = rank * 16;
    const CUtensorMap& map = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
    if constexpr (HINT == 1)
      tma::load_multicast(boxes + rank * SLOT, map, full, (1 << CLUSTER) - 1, at, l2::kEvictLast);
    else
      tma::load_multicast(boxes + rank * SLOT, map, full, (1 << CLUSTER) - 1, at);
  }
  full.wait(0);
  for (int i = threadIdx.x; i < CLUSTER * BOX; i += 128)
    D.data[rank * D.stride[0] + i / BOX * D.stride[1] + i % BOX * D.stride[2]] = boxes[i / BOX * SLOT + i % BOX];
  cluster::arrive_relaxed();  // no block may exit while its box may be in transit; orders no memory
  cluster::wait();
}

#else

extern "C" __global__ void tma_multicast_reference(View<const s32, 1> S1, View<const s32, 2> S2, View<const s32, 3> S3,
                                                   View<const s32, 4> S4, View<const s32, 5> S5, View<f64, 3> D,
                                                   const Dims) {
  const auto& S = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
  const int box[5] = {16, B1, B2, B3, B4};
  for (int i = threadIdx.x; i < CLUSTER * BOX; i += blockDim.x) {
    auto p = probe::position<RANK>(i % BOX, box);
    p.at[0] += i / BOX * 16;
    D.data[blockIdx.x * D.stride[0] + i / BOX * D.stride[1] + i % BOX * D.stride[2]] = to_f64(probe::element(S, p));
  }
}

#endif
