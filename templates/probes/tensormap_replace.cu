//! kernel  tensormap_replace  "D = a box of S through a copy of its tensor map in which a field was replaced"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     R     = 32
//! dim     X     = 64
//! param   FIELD = 0  in 0..9  "address dims stride box step rank type swizzle fill interleave"
//!
//! let     WORDS = FIELD == 3 ? 32 : FIELD == 4 || FIELD == 6 ? 64 : FIELD == 5 ? 16 : 128
//!
//! tensor  S : f32[R, X]    box [8, 16]  view
//! tensor  D : f32[WORDS]  out
//! workspace map 128
//! launch  grid 1  block 32
//! work    flops 0  bytes 8 * WORDS
//! reference tensormap_replace_reference  grid 1  block WORDS
//!
//! preset  FIELD = 0  "tensor map in a kernel: address"
//! preset  FIELD = 1  "tensor map in a kernel: extents"
//! preset  FIELD = 2  "tensor map in a kernel: strides"
//! preset  FIELD = 3  "tensor map in a kernel: box"
//! preset  FIELD = 4  "tensor map in a kernel: element strides"
//! preset  FIELD = 5  "tensor map in a kernel: rank"
//! preset  FIELD = 6  "tensor map in a kernel: element type"
//! preset  FIELD = 7  "tensor map in a kernel: swizzle"
//! preset  FIELD = 8  "tensor map in a kernel: fill"
//! preset  FIELD = 9  "tensor map in a kernel: interleave"

#include "device/probe/box.cuh"
#include "device/ptx/tensormap.cuh"
#include "device/ptx/tma.cuh"
#include "device/tile/swizzle.cuh"

// The first column of the box; if the fill is tested, its last eight columns are outside the tensor.
constexpr int kColumn = FIELD == 8 ? 56 : 0;

#ifndef TMA_JIT_REFERENCE

__device__ inline void replace(CUtensorMap& map, const f32* start) {
  if constexpr (FIELD == 0) tensormap::replace_address(map, start + 4 * Dims::X);
  if constexpr (FIELD == 1) {
    tensormap::replace_dim<0>(map, 10);
    tensormap::replace_dim<1>(map, 5);
  }
  if constexpr (FIELD == 2) tensormap::replace_stride<1>(map, 2 * Dims::X * sizeof(f32));
  if constexpr (FIELD == 3) {
    tensormap::replace_box<0>(map, 8);
    tensormap::replace_box<1>(map, 4);
  }
  if constexpr (FIELD == 4) tensormap::replace_step<1>(map, 2);
  if constexpr (FIELD == 5) tensormap::replace_rank(map, 1);
  if constexpr (FIELD == 6) tensormap::replace_type<tensormap::Type::u16>(map);
  if constexpr (FIELD == 7) tensormap::replace_swizzle<tensormap::Swizzle::b64>(map);
  if constexpr (FIELD == 8) tensormap::replace_fill<tensormap::Fill::nan>(map);
  if constexpr (FIELD == 9) tensormap::replace_interleave<tensormap::Interleave::none>(map);
}

struct Smem {
  alignas(1024) f32 box[128];
  alignas(128) CUtensorMap map;
  Barrier full;
};

extern "C" __global__ __launch_bounds__(32) void tensormap_replace(const __grid_constant__ Mapped<f32, 2> S,
                                                                   View<f32, 1> D, u8* map, const Dims) {
  __shared__ Smem smem;
  CUtensorMap* const made = reinterpret_cast<CUtensorMap*>(map);
  tensormap::copy(smem.map, S.map);
  if (threadIdx.x == 0) replace(smem.map, S.view.data);
  __syncwarp();
  tensormap::publish(made, smem.map);
  if (threadIdx.x == 0) {
    smem.full.init(1);
    fence_barrier_init();
    smem.full.expect(WORDS * sizeof(f32));
    fence::proxy_tensormap_acquire(made);
    if constexpr (FIELD == 5)
      tma::load(smem.box, *made, smem.full, {kColumn});
    else
      tma::load(smem.box, *made, smem.full, {kColumn, 0});
  }
  __syncwarp();
  smem.full.wait(0);
  for (int i = threadIdx.x; i < WORDS; i += 32) D.data[i * D.stride[0]] = smem.box[i];
}

#else

extern "C" __global__ void tensormap_replace_reference(View<const f32, 2> S, View<f64, 1> D, const Dims) {
  const int i = FIELD == 7 ? swizzle::moved(threadIdx.x * 4, 64) / 4 : threadIdx.x;
  const int across = FIELD == 3 || FIELD == 6 ? 8 : 16, r = i / across, c = i % across;
  const int row = FIELD == 0 ? r + 4 : FIELD == 2 || FIELD == 4 ? 2 * r : r, column = kColumn + c;
  f64 value = column < Dims::X ? S.data[row * S.stride[0] + column * S.stride[1]] : nan("");
  if (FIELD == 1 && (r >= 5 || c >= 10)) value = 0;
  D.data[threadIdx.x * D.stride[0]] = value;
}

#endif
