#pragma once
// A strip of the output tile in shared memory: rows of 128 bytes in the 128-byte swizzle, filled from accumulator
// fragments (m16n8, the layout mma.sync and wgmma share) and handed to the TMA.
#include "device/convert.cuh"
#include "device/stmatrix.cuh"
#include "device/tma.cuh"

// Columns of O in one strip row.
template <class O> constexpr int kStripColumns = 128 / sizeof(O);

// One warp stores 16 rows by Columns columns of a strip that starts, 1024-byte aligned, at `strip`; rows begin at
// `row0`, a multiple of 16, columns at `column0`. x[4j..4j+1] are columns 8j + 2q and the next of row g, x[4j+2..4j+3]
// those of row g + 8, with g = lane / 4 and q = lane % 4.
template <class O, int Columns = kStripColumns<O>>
__device__ inline void store_fragment(O (*strip)[kStripColumns<O>], int row0, int column0, const f32* x) {
  constexpr int kChunks = Columns * sizeof(O) / 16;
  const int lane = threadIdx.x % 32, first = column0 * sizeof(O) / 16;
  char* base = reinterpret_cast<char*>(strip);
  if constexpr (sizeof(O) == 2) {
    const int row = row0 + lane % 16;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; chunk += 2, x += 8)
      mma::stmatrix_x4(smem_address(base + row * 128 + ((first + chunk + lane / 16) ^ row % 8) * 16),
                       pack<O>(x[0], x[1]), pack<O>(x[2], x[3]), pack<O>(x[4], x[5]), pack<O>(x[6], x[7]));
  } else {
    const int row = row0 + lane / 4, q = lane % 4;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; chunk += 2, x += 4) {
      const int offset = ((first + chunk + q / 2) ^ row % 8) * 16 + q % 2 * 8;
      *reinterpret_cast<float2*>(base + row * 128 + offset) = make_float2(x[0], x[1]);
      *reinterpret_cast<float2*>(base + (row + 8) * 128 + offset) = make_float2(x[2], x[3]);
    }
  }
}

struct Extent {
  int rows, columns;
};

// Called by Threads threads once a strip of Rows rows is whole: its part inside the tensor goes to (row, column). The
// copy engine clips a store to the tensor in units of 16 bytes only (seen on an H100), so a strip that holds a ragged
// end of the rows is written element by element. Stores are committed by the thread whose threadIdx.x is a multiple of
// Threads.
template <int Threads, class O, int Rows, int Columns>
__device__ inline void store_strip(const Mapped<O, 2>& to, const O (&strip)[Rows][Columns], Extent tensor, int row,
                                   int column) {
  if (row >= tensor.rows || column >= tensor.columns) return;
  const int thread = threadIdx.x % Threads, left = tensor.columns - column;
  if (left >= Columns || left * sizeof(O) % 16 == 0) {
    if (thread == 0) {
      tma::store(to.map, strip, column, row);
      tma::commit();
    }
    return;
  }
  constexpr int kChunk = 16 / sizeof(O);
  for (int i = thread; i < Rows * Columns; i += Threads) {
    const int r = i / Columns, c = i % Columns;
    if (c < left && row + r < tensor.rows)
      to.view.data[(row + r) * to.view.stride[0] + column + c] = strip[r][(c / kChunk ^ r % 8) * kChunk + c % kChunk];
  }
}
