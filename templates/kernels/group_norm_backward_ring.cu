//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; clusters walk over groups, and load some while they work on others"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/group_norm_backward.cuh"
//! use     "device/reduce/group_gradient.cuh"
//!
//! param   THREADS = 416   in {160, 224, 320, 384, 416} "of a block that have elements of a group; 96 others load and join"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a group"
//! param   PACKS   = 2     in {2, 4, 5}            "packs of a group that a thread has"
//! param   STAGES  = 3     in {3, 4}          "groups of which a block has its part in shared memory"
//! param   BLOCKS  = 1     in {1, 2, 3}          "blocks of an SM"
//!
//! let     EACH    = ceil_div(GROUP_PACKS, CLUSTER) "packs of a block's part of a group"
//! let     ROOM    = STAGES * EACH * 32             "bytes of the ring"
//! let     SMEM    = ROOM + (AFFINE > 0) * (EACH + min(CHANNELS, EACH * COUNT)) * 8
//! let     TEAMS   = max(1, min(N * G, CLUSTER <= 2 ? device.sm_count * BLOCKS / CLUSTER : device.sm_count * BLOCKS * 15 / (16 * CLUSTER))) "clusters that run at once: some SMs lack neighbours for a large one"
//!
//! require NARROW == 0                              "a pack has elements of two channels at most"
//! require RAGGED == 0 || N <= 1 || stride(X, 0) % COUNT == 0 "a thread's packs stay in their channels from one batch to the next"
//! require CLUSTER <= min(device.cluster_max, device.sm_count * BLOCKS) "the device must have clusters of that size, and room for one"
//! require EACH <= THREADS * PACKS && EACH > THREADS * (PACKS - 2) "the packs of a part are those of its threads"
//! require GROUP_PACKS > 700 || (GROUP_PACKS >= 300 && N * G >= device.sm_count * 30) "smaller groups, where they are few, are faster in blocks of their own"
//! require WHOLE == 1 || GROUP_PACKS <= 448 "larger groups whose channels break packs are kept by blocks of their own"
//! require CLUSTER == 1 || EACH > 832 "more blocks share a group only if it needs them"
//! require SMEM + 6144 <= device.smem_per_block && (SMEM + 7168) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * (THREADS + 96) * (48 + PACKS * 14) <= 65536 && (WHOLE == 1 || (PACKS == 2 && BLOCKS * THREADS <= 448)) "the threads of an SM share its registers"
//! require PACKS < 5 || device.compute_capability == 90 "registers hold five packs of a thread on sm_90 only"
//! require N * G <= 2147483647                      "groups are counted in 31 bits"
//!
//! workspace parts    (AFFINE > 0) * (TEAMS + G) * (CHANNELS + CLUSTER - 1) * 8 "of each team and group, of which it has some batches"
//! workspace counters (AFFINE > 0) * G * 4  zero    "blocks that have given what they have of a group"
//!
//! cluster CLUSTER
//! launch  grid TEAMS * CLUSTER  block THREADS + 96  smem SMEM
//!
//! preset  THREADS = 160, PACKS = 2, STAGES = 4, BLOCKS = 3  when device.smem_per_sm >= 220000 && S % COUNT == 0
//! preset  THREADS = 224, PACKS = 2, STAGES = 4, BLOCKS = 2
//! preset  THREADS = 160, PACKS = 4, STAGES = 3, BLOCKS = 2
//! preset  THREADS = 416, PACKS = 2, STAGES = 4
//! preset  THREADS = 320, PACKS = 4, STAGES = 3
//! preset  CLUSTER = 1, THREADS = 384, PACKS = 4, STAGES = 3
//! preset  CLUSTER = 1, THREADS = 416, PACKS = 4, STAGES = 3
//! preset  CLUSTER = 1, THREADS = 416, PACKS = 5, STAGES = 3  when device.compute_capability == 90
//! preset  CLUSTER = 2, THREADS = 384, PACKS = 4, STAGES = 4  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 2, THREADS = 416, PACKS = 4, STAGES = 3  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 2, THREADS = 416, PACKS = 5, STAGES = 3  when device.compute_capability == 90
//! preset  CLUSTER = 4, THREADS = 384, PACKS = 4, STAGES = 4  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 4, THREADS = 416, PACKS = 4, STAGES = 3  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 4, THREADS = 416, PACKS = 5, STAGES = 3  when device.compute_capability == 90
//! preset  CLUSTER = 8, THREADS = 384, PACKS = 4, STAGES = 4  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 8, THREADS = 416, PACKS = 4, STAGES = 3  when device.smem_per_sm >= 220000
//! preset  CLUSTER = 8, THREADS = 416, PACKS = 5, STAGES = 3  when device.compute_capability == 90

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/group_ring.cuh"
#include "device/tile/shared_memory.cuh"

using Ring = GroupRing<T, THREADS, CLUSTER, PACKS, STAGES, WHOLE, RAGGED, AFFINE>;

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements.
extern "C" __global__ __launch_bounds__(THREADS + 96, BLOCKS) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Ring::Smem smem;
  u8* const memory = &shared_memory<u8>();
  const int channels = dims.C / dims.G;
  const int each = ceil_div(ceil_div(channels * dims.S + (RAGGED ? Ring::kCount - 1 : 0), Ring::kCount), CLUSTER);
  const Ring::Tensors tensors = {X, DY, W, DX, dims.N, dims.G, channels, dims.S};
  Ring ring(tensors, smem, each, memory, reinterpret_cast<float2*>(memory + STAGES * each * 32),
            reinterpret_cast<float2*>(parts), reinterpret_cast<u32*>(counters));
  ring.run(
      eps, [&](f32 dx, int n, int c, int s) { return hooks.output(dx, n, c, s); },
      [&](int c, const float2& sum) { store_sums<AFFINE>(DW, DB, c, sum); });
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
