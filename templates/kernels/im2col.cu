//! kernel  im2col   "D[pixel, tap] = the channels of X under each tap of a filter at each output pixel"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T        = bf16  in {bf16, f16, f32, s32, u16, u8, e4m3}
//! dim     BATCH, H, W, C          in 1..2147483647
//! dim     R, S                    in 1..16          "the filter's rows and columns"
//! dim     PAD_TOP, PAD_LEFT, PAD_BOTTOM, PAD_RIGHT  in 0..15  "padding, zeros"
//! dim     STRIDE_H, STRIDE_W      in 1..8           "from one output pixel to the next"
//! dim     DILATION_H, DILATION_W  in 1..8           "from one tap to the next"
//!
//! param   PIXELS   = 64  in {32, 64, 128, 256}      "output pixels of a box"
//! param   CHANNELS = 64  in {16, 32, 64}            "of a box"
//! param   STAGES   = 4   in {2, 4}                  "boxes in flight"
//!
//! let     P        = (H + PAD_TOP + PAD_BOTTOM - (R - 1) * DILATION_H - 1) / STRIDE_H + 1
//! let     Q        = (W + PAD_LEFT + PAD_RIGHT - (S - 1) * DILATION_W - 1) / STRIDE_W + 1
//! let     OUTPUTS  = BATCH * P * Q
//! let     SMEM     = align_up(STAGES * (PIXELS * CHANNELS * sizeof(T) + 8), 128)
//!
//! require H + PAD_TOP + PAD_BOTTOM > (R - 1) * DILATION_H  "the filter must fit into the padded image's rows"
//! require W + PAD_LEFT + PAD_RIGHT > (S - 1) * DILATION_W  "the filter must fit into the padded image's columns"
//! require max(OUTPUTS, H + PAD_TOP + PAD_BOTTOM, W + PAD_LEFT + PAD_RIGHT) <= 2147483647 "output pixels, and rows and columns of a padded image, are counted in 31 bits"
//! require C * sizeof(T) % 16 == 0                   "the TMA writes rows in units of 16 bytes"
//! require CHANNELS * sizeof(T) >= 16                "a box has whole units of 16 bytes"
//! require SMEM <= device.smem_per_block             "the boxes in flight must fit in shared memory"
//!
//! tensor  X : T[BATCH, H, W, C]       im2col [-PAD_TOP, -PAD_LEFT] [PAD_BOTTOM - (R - 1) * DILATION_H, PAD_RIGHT - (S - 1) * DILATION_W]  box [PIXELS, CHANNELS]  steps [1, STRIDE_H, STRIDE_W, 1]
//! tensor  D : T[OUTPUTS, R * S, C]    box [PIXELS, 1, CHANNELS]  out
//!
//! launch  grid ceil_div(OUTPUTS, PIXELS) * ceil_div(C, CHANNELS)  block 32  smem SMEM
//! work    flops 0  bytes (BATCH * H * W + OUTPUTS * R * S) * C * sizeof(T)
//! reference im2col_reference  grid min(OUTPUTS, 65536)  block 256
//!
//! preset  CHANNELS = 16  when C <= 16
//! preset  CHANNELS = 32  when C <= 32
//! preset  CHANNELS = 64

#include "device/pipeline/pipelined_copy.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/tma_im2col.cuh"

// Returns the number of output pixels along an extent.
__device__ inline int outputs(int extent, int padding, int taps, int dilation, int step) {
  return (extent + padding - (taps - 1) * dilation - 1) / step + 1;
}

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(128) T box[STAGES][PIXELS][CHANNELS];
  Barrier full[STAGES];
};
static_assert(sizeof(Smem) == SMEM);

// A block processes PIXELS output pixels and some of the channels, one tap after the other: every tap uses the same
// tensor map and the same pixel, moved by the tap's offset.
extern "C" __global__ __launch_bounds__(32) void im2col(const __grid_constant__ CUtensorMap X,
                                                        const __grid_constant__ CUtensorMap D, const Dims dims) {
  extern __shared__ __align__(128) u8 raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  if (threadIdx.x != 0) return;
  const u32 slices = ceil_div<u32>(dims.C, CHANNELS);
  const int channel = blockIdx.x % slices * CHANNELS, pixel = blockIdx.x / slices * PIXELS;
  const int p = outputs(dims.H, dims.PAD_TOP + dims.PAD_BOTTOM, dims.R, dims.DILATION_H, dims.STRIDE_H);
  const int q = outputs(dims.W, dims.PAD_LEFT + dims.PAD_RIGHT, dims.S, dims.DILATION_W, dims.STRIDE_W);
  const int w = pixel % q * dims.STRIDE_W - dims.PAD_LEFT, h = pixel / q % p * dims.STRIDE_H - dims.PAD_TOP,
            n = pixel / q / p;
  init_pipelined_copy(smem.full);
  pipelined_copy(
      smem.full, dims.R * dims.S,
      [&](int tap, int slot, Barrier& full) {
        full.expect(sizeof(smem.box[0]));
        tma::load_im2col(smem.box[slot], X, full, {channel, w, h, n},
                         {tap % dims.S * dims.DILATION_W, tap / dims.S * dims.DILATION_H});
      },
      [&](int tap, int slot) {
        tma::store(D, smem.box[slot], {channel, tap, pixel});
      });
}

#else

extern "C" __global__ void im2col_reference(View<const T, 4> X, View<f64, 3> D, const Dims dims) {
  const int p = outputs(dims.H, dims.PAD_TOP + dims.PAD_BOTTOM, dims.R, dims.DILATION_H, dims.STRIDE_H);
  const int q = outputs(dims.W, dims.PAD_LEFT + dims.PAD_RIGHT, dims.S, dims.DILATION_W, dims.STRIDE_W);
  for (s64 output = blockIdx.x; output < s64{dims.BATCH} * p * q; output += gridDim.x) {
    for (s64 i = threadIdx.x; i < s64{dims.R} * dims.S * dims.C; i += blockDim.x) {
      const s64 tap = i / dims.C, c = i % dims.C;
      const s64 h = output / q % p * dims.STRIDE_H - dims.PAD_TOP + tap / dims.S * dims.DILATION_H;
      const s64 w = output % q * dims.STRIDE_W - dims.PAD_LEFT + tap % dims.S * dims.DILATION_W, n = output / q / p;
      const bool inside = h >= 0 && h < dims.H && w >= 0 && w < dims.W;
      D.data[output * D.stride[0] + tap * D.stride[1] + c * D.stride[2]] =
          inside ? to_f64(X.data[n * X.stride[0] + h * X.stride[1] + w * X.stride[2] + c * X.stride[3]]) : 0;
    }
  }
}

#endif
