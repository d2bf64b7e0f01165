//! kernel  cp_async_copy  "D = S through shared memory by cp.async, rows cut short and filled with zeros"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     ROWS   = 40
//! param   BYTES  = 16  in {4, 8, 16}               "of one copy"
//! param   GLOBAL = 0   in {0, 1}                   "1: .cg, past L1"
//! param   WAIT   = 0   in {0, 1, 2, 3}             "for groups, for all, by an arrival that counts, by one that does not"
//! let     COLUMNS = 64 * BYTES
//! require GLOBAL == 0 || BYTES == 16               "only .ca copies 4 or 8 bytes"
//! tensor  S : u8[ROWS, COLUMNS]
//! tensor  D : u8[ROWS, COLUMNS]  out
//! launch  grid 1  block 64
//! work    flops 0  bytes 2 * ROWS * COLUMNS
//! preset  BYTES = 4                            "cp.async.ca: 4 bytes"
//! preset  BYTES = 8                            "cp.async.ca: 8 bytes"
//! preset  BYTES = 16, GLOBAL = 1               "cp.async.cg: 16 bytes"
//! preset  BYTES = 16, GLOBAL = 1, WAIT = 2     "cp.async.mbarrier.arrive.noinc"
//! preset  BYTES = 16, GLOBAL = 1, WAIT = 3     "cp.async.mbarrier.arrive"
//! reference cp_async_copy_reference  grid ROWS  block 256

#include "device/ptx/cp_async.cuh"
#include "device/ptx/cvt.cuh"

// Returns the valid bytes of thread t's copy in row r: 0 to BYTES in odd rows, all in even rows.
__device__ inline int valid(int row, int thread) {
  return row % 2 == 0 ? BYTES : (row * 7 + thread) % (BYTES + 1);
}

#ifndef TMA_JIT_REFERENCE

__device__ inline void copy(u32 to, const u8* from, int row) {
  const int bytes = valid(row, threadIdx.x);
  if constexpr (GLOBAL == 1)
    row % 2 == 0 ? cp_async::cg(to, from) : cp_async::cg(to, from, bytes);
  else
    row % 2 == 0 ? cp_async::ca<BYTES>(to, from) : cp_async::ca<BYTES>(to, from, bytes);
}

// Waits until the row in a slot of a ring of four has arrived; `phase` is the number of earlier passes over the ring.
__device__ inline void wait(Barrier& arrived, u32 phase) {
  if constexpr (WAIT == 0) {
    cp_async::wait<3>();
  } else if constexpr (WAIT == 1) {
    cp_async::wait_all();
  } else {
    u32 done = 0;
    while (done == 0)  // mbarrier.try_wait needs sm_90
      asm volatile(
          "{\n .reg .pred done;\n mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
          " selp.u32 %0, 1, 0, done;\n}"
          : "=r"(done)
          : "r"(smem_address(&arrived)), "r"(phase)
          : "memory");
  }
  if constexpr (WAIT < 2) __syncthreads();  // each thread has waited only for its own copies
}

// Four rows are in flight at a time.
extern "C" __global__ __launch_bounds__(64) void cp_async_copy(View<const u8, 2> S, View<u8, 2> D, const Dims) {
  __shared__ __align__(16) u8 ring[4][COLUMNS];
  __shared__ Barrier arrived[4];
  const int at = threadIdx.x * BYTES;
  if constexpr (WAIT >= 2) {
    if (threadIdx.x < 4) arrived[threadIdx.x].init(64);
    __syncthreads();
  }
  for (int row = 0; row < Dims::ROWS + 4; ++row) {
    const int done = row - 4, slot = row % 4;
    if (done >= 0) {
      wait(arrived[slot], done / 4 % 2);
      for (int i = 0; i < BYTES; ++i) {
        const int other = (at + i + COLUMNS / 2) % COLUMNS;  // an element that another thread copied
        D.data[done * D.stride[0] + other] = ring[slot][other];
      }
      __syncthreads();
    }
    if (row < Dims::ROWS) {
      copy(smem_address(&ring[slot][at]), S.data + row * S.stride[0] + at, row);
      if constexpr (WAIT == 2) cp_async::arrive_noinc(arrived[slot]);
      if constexpr (WAIT == 3) {
        cp_async::arrive(arrived[slot]);
        arrived[slot].arrive();
      }
    }
    if constexpr (WAIT == 0) cp_async::commit();
  }
}

#else

extern "C" __global__ void cp_async_copy_reference(View<const u8, 2> S, View<f64, 2> D, const Dims) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < COLUMNS; i += blockDim.x) {
    const u8 x = S.data[row * S.stride[0] + i * S.stride[1]];
    D.data[row * D.stride[0] + i * D.stride[1]] = i % BYTES < valid(row, i / BYTES) ? x : 0;
  }
}

#endif
