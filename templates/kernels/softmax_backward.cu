//! kernel  softmax_backward "the gradient of S from that of Y = softmax(S): DS[i,j] = (DY[i,j] - sum over j of DY[i,j] * Y[i,j]) * Y[i,j]"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scores_backward.cuh"

#include "device/ptx/cvt.cuh"
#include "device/reduce/scores_gradient.cuh"

constexpr bool kLogarithm = false;

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void softmax_backward(View<const T, 2> Y, View<const T, 2> DY,
                                                                       View<O, 2> DS, const Dims dims,
                                                                       const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 1> smem;
  smem.init();
  RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE> row(Y, dims.M, dims.N);
  scores_gradient<kLogarithm, KEPT>(Y, DY, DS, row, smem, hooks);
}

#else

#include "device/reference/scores_backward.cuh"

#endif
