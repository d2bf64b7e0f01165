//! kernel  attention_delta "DELTA[h,i] = the sum over the elements of a head of O[h,i] * DO[h,i], which attention_backward needs"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {bf16, f16}           "elements of O and DO"
//! dim     HEADS           in 1..65535              "of all sequences of a batch"
//! dim     M               in 0..2147483647         "queries"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   ROWS    = 4     in {1, 2, 4, 8}          "rows of a thread, which are read at once"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     PACKS   = HD % 3 == 0 ? 3 : 1            "of a thread in each row"
//! let     LANES   = HD / COUNT / PACKS             "threads that share a row"
//! let     TILE    = 256 / LANES * ROWS             "rows of a block"
//!
//! require stride(O, 2) == 1 && stride(DO, 2) == 1  "elements of a row are neighbours"
//! require alignment(O) % 16 == 0 && stride(O, 0) % COUNT == 0 && stride(O, 1) % COUNT == 0 "rows of O begin at multiples of 16 bytes"
//! require alignment(DO) % 16 == 0 && stride(DO, 0) % COUNT == 0 && stride(DO, 1) % COUNT == 0 "rows of DO begin at multiples of 16 bytes"
//!
//! tensor  O  : T[HEADS, M, HD]
//! tensor  DO : T[HEADS, M, HD]
//! tensor  DELTA : f32[HEADS, M]  out
//!
//! launch  grid HEADS * ceil_div(M, TILE)  block 256
//! work    flops 2 * HEADS * M * HD  bytes HEADS * M * (2 * HD * sizeof(T) + 4)
//! reference attention_delta_reference  grid min(HEADS * M, 65536)  block 256
//!
//! preset  HD = 32
//! preset  HD = 64
//! preset  HD = 96
//! preset  HD = 128
//! preset  HD = 192
//! preset  HD = 256

#include "device/ptx/cvt.cuh"
#include "device/reduce/warp.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(256) void attention_delta(View<const T, 3> O, View<const T, 3> DO,
                                                                  View<f32, 2> DELTA, const Dims dims) {
  using Elements = Pack<T, COUNT>;
  const int tiles = ceil_div<u32>(dims.M, TILE), column = threadIdx.x % LANES * COUNT;
  const s64 head = blockIdx.x / tiles, first = s64{blockIdx.x % tiles} * TILE + threadIdx.x / LANES;
  const auto read = [&](const View<const T, 3>& of, s64 row, int pack) {
    return *reinterpret_cast<const Elements*>(of.data + head * of.stride[0] + row * of.stride[1] + column +
                                              pack * LANES * COUNT);
  };
  Elements o[ROWS][PACKS], gradient[ROWS][PACKS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const s64 row = min(first + i * (256 / LANES), s64{dims.M} - 1);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) o[i][p] = read(O, row, p), gradient[i][p] = read(DO, row, p);
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    f32 sum = 0;
#pragma unroll
    for (int p = 0; p < PACKS; ++p)
#pragma unroll
      for (int j = 0; j < COUNT; ++j) sum += to_f32(o[i][p].x[j]) * to_f32(gradient[i][p].x[j]);
    sum = warp_reduce<LANES>(sum, [](f32 a, f32 b) { return a + b; });
    const s64 row = first + i * (256 / LANES);
    if (column == 0 && row < dims.M) DELTA.data[head * DELTA.stride[0] + row * DELTA.stride[1]] = sum;
  }
}

#else

#include "device/reference/row_reduce.cuh"

// One block per row.
extern "C" __global__ void attention_delta_reference(View<const T, 3> O, View<const T, 3> DO, View<f64, 2> DELTA,
                                                     const Dims dims) {
  for (s64 i = blockIdx.x; i < s64{dims.HEADS} * dims.M; i += gridDim.x) {
    const s64 head = i / dims.M, row = i % dims.M;
    const f64 sum = row_sum(HD, [&](s64 j) {
      return to_f64(O.data[head * O.stride[0] + row * O.stride[1] + j * O.stride[2]]) *
             to_f64(DO.data[head * DO.stride[0] + row * DO.stride[1] + j * DO.stride[2]]);
    });
    if (threadIdx.x == 0) DELTA.data[head * DELTA.stride[0] + row * DELTA.stride[1]] = sum;
  }
}

#endif
