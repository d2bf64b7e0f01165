// Small templates for tests of what is around a kernel.
#pragma once

#include <string>

namespace tma_jit::testing {

// Y = hooks.apply(alpha * X); counts its blocks in a workspace that must be clear at first.
inline const std::string kScale = R"cu(//! kernel  scale  "Y[i] = hooks.apply(alpha * X[i])"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N
//! param   THREADS = 128 in {64, 128, 256}
//! tensor  X : f32[N]
//! tensor  Y : f32[N] out
//! workspace counter 64 zero
//! scalar  alpha : f32 = 1
//! hook    apply(f32 a) : f32 = a
//! launch  grid ceil_div(N, THREADS)  block THREADS
#include "device/types.cuh"

extern "C" __global__ void scale(View<const f32, 1> X, View<f32, 1> Y, unsigned char* counter, f32 alpha, const Dims dims, const __grid_constant__ Hooks hooks) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < dims.N) Y.data[i] = hooks.apply(alpha * X.data[i]);
  if (threadIdx.x == 0) atomicAdd(reinterpret_cast<unsigned*>(counter), 1u);
}
)cu";

// Y = X of f32 matrices, a 32 by 32 tile a block through one TMA load and one TMA store.
inline const std::string kTile = R"cu(//! kernel  tile  "Y = X, by tiles"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     M, N in 0..2147483647
//! param   ROWS = 32 in {32, 64}
//! tensor  X : f32[M, N]  box [ROWS, 32]
//! tensor  Y : f32[M, N]  box [ROWS, 32]  out
//! launch  grid ceil_div(N, 32), ceil_div(M, ROWS)  block 32
#include "device/ptx/tma.cuh"

extern "C" __global__ void tile(const __grid_constant__ CUtensorMap X, const __grid_constant__ CUtensorMap Y, const Dims dims) {
  __shared__ alignas(128) f32 strip[ROWS * 32];
  __shared__ Barrier full;
  if (threadIdx.x != 0) return;
  const int column = blockIdx.x * 32, row = blockIdx.y * ROWS;
  full.init(1);
  fence_barrier_init();
  full.expect(sizeof strip);
  tma::load(strip, X, full, column, row);
  full.wait(0);
  tma::fence();
  tma::store(Y, strip, column, row);
  tma::commit();
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
)cu";

// Y[i] = the rank of its block in the cluster; a programmatic launch.
inline const std::string kRank = R"cu(//! kernel  rank  "Y[i] = rank of the block in its cluster"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N
//! param   CLUSTER = 2 in {1, 2, 4, 8, 16}
//! tensor  Y : s32[N] out
//! cluster CLUSTER
//! launch  grid N  block 32  pdl
#include "device/types.cuh"

extern "C" __global__ void rank(View<s32, 1> Y, const Dims dims) {
  u32 rank;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) Y.data[blockIdx.x] = static_cast<s32>(rank);
}
)cu";

}  // namespace tma_jit::testing
