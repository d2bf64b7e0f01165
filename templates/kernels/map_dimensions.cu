//! kernel  map      "Y = apply(A, ..., H) and up to three more results, of one to eight inputs of types of their own, in up to five dimensions at any strides; a stride of 0 broadcasts"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    TA      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64} "elements of A, and so on"
//! type    TB      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TC      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TD      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TE      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TF      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TG      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    TH      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    O       = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64} "elements of Y, Y1, Y2 and Y3; an integer is rounded towards 0"
//! type    O1      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    O2      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    O3      = f32 in {f32, bf16, f16, f64, e4m3, e5m2, u8, s8, s32, s64}
//! type    COMPUTE = f32 in {f32, f64}            "what the expressions compute in"
//! dim     N0, N1, N2, N3, N4 in 0..2147483647    "of every tensor; 1 for dimensions that they lack"
//!
//! param   INPUTS  = 1   in 1..8
//! param   OUTPUTS = 1   in 1..4
//! param   COUNT   = 4   in {8, 4, 2, 1}          "elements of a row that a thread computes; read and written at once where their addresses allow it"
//! param   THREADS = 256 in {128, 256, 512}
//!
//! let     PACKS   = N0 * N1 * N2 * N3 * ceil_div(N4, COUNT) "the last one of a row may be partial"
//!
//! require ceil_div(PACKS, THREADS) <= 2147483647 "blocks are counted in 31 bits"
//!
//! tensor  A : TA[N0, N1, N2, N3, N4]
//! tensor  B : TB[N0, N1, N2, N3, N4]  when INPUTS >= 2
//! tensor  C : TC[N0, N1, N2, N3, N4]  when INPUTS >= 3
//! tensor  D : TD[N0, N1, N2, N3, N4]  when INPUTS >= 4
//! tensor  E : TE[N0, N1, N2, N3, N4]  when INPUTS >= 5
//! tensor  F : TF[N0, N1, N2, N3, N4]  when INPUTS >= 6
//! tensor  G : TG[N0, N1, N2, N3, N4]  when INPUTS >= 7
//! tensor  H : TH[N0, N1, N2, N3, N4]  when INPUTS >= 8
//! tensor  Y : O[N0, N1, N2, N3, N4]  out
//! tensor  Y1 : O1[N0, N1, N2, N3, N4]  out  when OUTPUTS >= 2
//! tensor  Y2 : O2[N0, N1, N2, N3, N4]  out  when OUTPUTS >= 3
//! tensor  Y3 : O3[N0, N1, N2, N3, N4]  out  when OUTPUTS >= 4
//!
//! hook    apply(COMPUTE a, COMPUTE b when INPUTS >= 2, COMPUTE c when INPUTS >= 3, COMPUTE d when INPUTS >= 4, COMPUTE e when INPUTS >= 5, COMPUTE f when INPUTS >= 6, COMPUTE g when INPUTS >= 7, COMPUTE h when INPUTS >= 8, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : COMPUTE  "of Y, in a to h and the indices of the element"
//! hook    apply1(COMPUTE a, COMPUTE b when INPUTS >= 2, COMPUTE c when INPUTS >= 3, COMPUTE d when INPUTS >= 4, COMPUTE e when INPUTS >= 5, COMPUTE f when INPUTS >= 6, COMPUTE g when INPUTS >= 7, COMPUTE h when INPUTS >= 8, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : COMPUTE = a  "of Y1"
//! hook    apply2(COMPUTE a, COMPUTE b when INPUTS >= 2, COMPUTE c when INPUTS >= 3, COMPUTE d when INPUTS >= 4, COMPUTE e when INPUTS >= 5, COMPUTE f when INPUTS >= 6, COMPUTE g when INPUTS >= 7, COMPUTE h when INPUTS >= 8, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : COMPUTE = a  "of Y2"
//! hook    apply3(COMPUTE a, COMPUTE b when INPUTS >= 2, COMPUTE c when INPUTS >= 3, COMPUTE d when INPUTS >= 4, COMPUTE e when INPUTS >= 5, COMPUTE f when INPUTS >= 6, COMPUTE g when INPUTS >= 7, COMPUTE h when INPUTS >= 8, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : COMPUTE = a  "of Y3"
//!
//! launch  grid ceil_div(PACKS, THREADS)  block THREADS
//! work    flops N0 * N1 * N2 * N3 * N4 * OUTPUTS  bytes N0 * N1 * N2 * N3 * N4 * (sizeof(TA) + (INPUTS >= 2) * sizeof(TB) + (INPUTS >= 3) * sizeof(TC) + (INPUTS >= 4) * sizeof(TD) + (INPUTS >= 5) * sizeof(TE) + (INPUTS >= 6) * sizeof(TF) + (INPUTS >= 7) * sizeof(TG) + (INPUTS >= 8) * sizeof(TH) + sizeof(O) + (OUTPUTS >= 2) * sizeof(O1) + (OUTPUTS >= 3) * sizeof(O2) + (OUTPUTS >= 4) * sizeof(O3))
//! reference map_reference  grid min(ceil_div(N0 * N1 * N2 * N3 * N4, 256), 65536)  block 256  bits sizeof(COMPUTE) == 4 && max(sizeof(O), sizeof(O1), sizeof(O2), sizeof(O3)) == 8 ? 14 : 0 "an f64 of what was computed in f32"
//!
//! preset  COUNT = 8  when N4 >= 8 && max(sizeof(TA), sizeof(O)) <= 2
//! preset  COUNT = 4  when N4 >= 4
//! preset  COUNT = 1

#include "device/tile/element_of.cuh"
#include "device/tile/elementwise.cuh"
#include "device/tile/place.cuh"

// Calls one of the hooks.
#define TMA_JIT_MAP(NAME, HOOK)                                                                          \
  struct NAME {                                                                                          \
    const Hooks& hooks;                                                                                  \
    const Place& place;                                                                                  \
    template <class... Inputs> __device__ auto operator()(int i, Inputs... inputs) const {               \
      return hooks.HOOK(inputs..., place.at[0], place.at[1], place.at[2], place.at[3], place.at[4] + i); \
    }                                                                                                    \
  };
TMA_JIT_MAP(Apply, apply)
TMA_JIT_MAP(Apply1, apply1)
TMA_JIT_MAP(Apply2, apply2)
TMA_JIT_MAP(Apply3, apply3)
#undef TMA_JIT_MAP

#ifndef TMA_JIT_REFERENCE

// Sets x[i][k] to element i of a pack of input k, of which the row has `left` elements.
template <class T>
__device__ inline void read(COMPUTE (&x)[COUNT][INPUTS], int k, const View<const T, 5>& from, const Place& place,
                            int left) {
  const Pack<T, COUNT> in = place.load<COUNT>(from, left);
#pragma unroll
  for (int i = 0; i < COUNT; ++i) x[i][k] = widened<COMPUTE>(in.x[i]);
}

// Stores what f gives for each element of a pack.
template <class T, class Hook>
__device__ inline void write(const View<T, 5>& to, const COMPUTE (&x)[COUNT][INPUTS], const Hook& f, const Place& place,
                             int left) {
  Pack<T, COUNT> out;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) out.x[i] = element_of<T>(applied<COMPUTE>(f, i, x[i]));
  place.store<COUNT>(to, out, left);
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void map(View<const TA, 5> A, View<const TB, 5> B,
                                                             View<const TC, 5> C, View<const TD, 5> D,
                                                             View<const TE, 5> E, View<const TF, 5> F,
                                                             View<const TG, 5> G, View<const TH, 5> H, View<O, 5> Y,
                                                             View<O1, 5> Y1, View<O2, 5> Y2, View<O3, 5> Y3,
                                                             const Dims dims, const __grid_constant__ Hooks hooks) {
  const s64 index = s64{blockIdx.x} * THREADS + threadIdx.x;
  if (index >= s64{dims.N0} * dims.N1 * dims.N2 * dims.N3 * ceil_div(dims.N4, COUNT)) return;
  const Place place = Place::of<COUNT>(index, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4});
  const int left = dims.N4 - place.at[4];
  COMPUTE x[COUNT][INPUTS];
  read(x, 0, A, place, left);
  if constexpr (INPUTS >= 2) read(x, 1, B, place, left);
  if constexpr (INPUTS >= 3) read(x, 2, C, place, left);
  if constexpr (INPUTS >= 4) read(x, 3, D, place, left);
  if constexpr (INPUTS >= 5) read(x, 4, E, place, left);
  if constexpr (INPUTS >= 6) read(x, 5, F, place, left);
  if constexpr (INPUTS >= 7) read(x, 6, G, place, left);
  if constexpr (INPUTS >= 8) read(x, 7, H, place, left);
  write(Y, x, Apply{hooks, place}, place, left);
  if constexpr (OUTPUTS >= 2) write(Y1, x, Apply1{hooks, place}, place, left);
  if constexpr (OUTPUTS >= 3) write(Y2, x, Apply2{hooks, place}, place, left);
  if constexpr (OUTPUTS >= 4) write(Y3, x, Apply3{hooks, place}, place, left);
}

#else

extern "C" __global__ void map_reference(View<const TA, 5> A, View<const TB, 5> B, View<const TC, 5> C,
                                         View<const TD, 5> D, View<const TE, 5> E, View<const TF, 5> F,
                                         View<const TG, 5> G, View<const TH, 5> H, View<f64, 5> Y, View<f64, 5> Y1,
                                         View<f64, 5> Y2, View<f64, 5> Y3, const Dims dims,
                                         const __grid_constant__ Hooks hooks) {
  const s64 count = s64{dims.N0} * dims.N1 * dims.N2 * dims.N3 * dims.N4;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const Place place = Place::of<1>(i, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4});
    f64 x[INPUTS];
    x[0] = to_f64(*place.in(A));
    if constexpr (INPUTS >= 2) x[1] = to_f64(*place.in(B));
    if constexpr (INPUTS >= 3) x[2] = to_f64(*place.in(C));
    if constexpr (INPUTS >= 4) x[3] = to_f64(*place.in(D));
    if constexpr (INPUTS >= 5) x[4] = to_f64(*place.in(E));
    if constexpr (INPUTS >= 6) x[5] = to_f64(*place.in(F));
    if constexpr (INPUTS >= 7) x[6] = to_f64(*place.in(G));
    if constexpr (INPUTS >= 8) x[7] = to_f64(*place.in(H));
    *place.in(Y) = exact_cast<O>(applied<f64>(Apply{hooks, place}, 0, x));
    if constexpr (OUTPUTS >= 2) *place.in(Y1) = exact_cast<O1>(applied<f64>(Apply1{hooks, place}, 0, x));
    if constexpr (OUTPUTS >= 3) *place.in(Y2) = exact_cast<O2>(applied<f64>(Apply2{hooks, place}, 0, x));
    if constexpr (OUTPUTS >= 4) *place.in(Y3) = exact_cast<O3>(applied<f64>(Apply3{hooks, place}, 0, x));
  }
}

#endif
