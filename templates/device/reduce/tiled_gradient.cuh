#pragma once
// Gradients of a norm whose rows many blocks share: y = h * w + b with h = (x - mean) * r, where r is one over the
// root of the variance; without Centered the mean is 0 and the variance the mean of squares. The rows are batches, and
// a batch is tiles of columns. A block of the first phase adds up what the rows of its tile give, one of the second
// reads them once more and stores DX, and blocks behind both add up what the batches gave for each column.
//
// What the files of long rows share of their manifests, which `use` this, after the let VECTORS, how many gradients of
// vectors there are:
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   PACKS   = 1     in {1, 2}                "reads of a thread of a row"
//! param   ROWS    = 8     in {4, 8, 16}            "rows of a batch, of which a block adds up its columns"
//! param   AT_ONCE = 2     in {1, 2, 4}             "rows of which a thread has elements at a time"
//! param   BLOCKS  = 3     in {1, 2, 3, 4, 6}       "blocks that an SM is to have room for"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     HELD    = THREADS * PACKS * COUNT        "columns of a tile"
//! let     TILES   = ceil_div(N, HELD)              "of a batch"
//! let     BATCHES = ceil_div(M, ROWS)
//! let     ADDERS  = ceil_div(VECTORS * TILES * HELD, 64) "blocks that add up what the batches gave"
//!
//! require N <= 2147483647 - HELD                   "columns of a tile are counted in 31 bits"
//! require 2 * BATCHES * TILES + ADDERS <= 2147483647 "tiles are counted in 31 bits"
//! require BLOCKS * THREADS <= 1024                 "the threads of an SM share its registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE == 0 || VECTORS == 0 || alignment(W) % 16 == 0 "W is read in packs"
//!
//! workspace sums     M * TILES * 16                "what each tile of a row gave"
//! workspace parts    VECTORS * BATCHES * TILES * HELD * 4 "what each batch gave for each column"
//! workspace counters (1 + 2 * BATCHES + 2) * 4  zero
//!
//! launch  grid N == 0 ? 0 : 2 * BATCHES * TILES + ADDERS  block THREADS
#include "device/ptx/acq_rel.cuh"
#include "device/reduce/phased_tiles.cuh"
#include "device/reduce/register_row.cuh"
#include "device/reduce/row_gradient.cuh"
#include "device/tile/plus.cuh"

template <class T, int Threads, int Packs, int Rows, int AtOnce, bool Whole, bool Centered, int Vectors>
class TiledGradient {
 public:
  static constexpr int kCount = 16 / sizeof(T);
  using Row = RegisterRow<Threads, Threads, 1, kCount, Packs, Whole>;

  struct Smem {
    Sums<2 * AtOnce> partial[2][Threads / 32];
    RowGradient gradients[Rows];
  };
  struct Matrices {
    const View<const T, 2>&X, &DY;
    int rows, columns;
  };

  // `tile` is the block's; sums has the tiles of all rows.
  __device__ TiledGradient(const Matrices& of, const View<const T, 1>& W, const PhasedTile& tile, PartSums* sums,
                           Smem& smem)
      : of_(of), row_(of.rows, of.columns, 0), tile_(tile), sums_(sums), smem_(smem) {
    row_.advance_parts(tile.tile);
    if constexpr (Vectors > 0) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) weight_[p] = row_.load_vector(W, p);
    }
  }

  // Writes the sums of the tile's rows. Called by all threads of a block in the first phase.
  __device__ void reduce() {
    each_rows([&](int first, const Raw* x, const Raw* dy) {
      Sums<2 *AtOnce> means = {}, squares = {};
      if constexpr (Centered) {
#pragma unroll
        for (int k = 0; k < AtOnce; ++k) {
          each_element([&](int p, int i) {
            means.x[2 * k] += to_f32(x[k].pack[p].at(i)), means.x[2 * k + 1] += g_of(dy[k], p, i);
          });
        }
        means = row_.sums(smem_.partial[0], means);
#pragma unroll
        for (int k = 0; k < AtOnce; ++k) means.x[2 * k] /= static_cast<f32>(size_of(tile_.tile));
      }
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) {
        each_element([&](int p, int i) {
          const f32 distance = !Centered || row_.holds(p, i) ? to_f32(x[k].pack[p].at(i)) - means.x[2 * k] : 0.0F;
          squares.x[2 * k] += distance * distance, squares.x[2 * k + 1] += distance * g_of(dy[k], p, i);
        });
      }
      squares = row_.sums(smem_.partial[1], squares);
      if constexpr (!Centered) __syncthreads();  // before the next use of the partial sums
      if (threadIdx.x > 0) return;
#pragma unroll
      for (int k = 0; k < AtOnce; ++k)
        if (first + k < end())
          sums_of(first + k)[tile_.tile] = {means.x[2 * k], squares.x[2 * k], means.x[2 * k + 1], squares.x[2 * k + 1]};
    });
  }

  // Stores DX of the tile, and what its rows give for each column to `part`, a vector of tile_.tiles * Row::kHeld
  // columns for each of Vectors. Called by all threads of a block in the second phase.
  template <class Output> __device__ void store(const View<T, 2>& DX, f32 eps, f32* part, Output output) {
    find_gradients(eps);
    f32 columns[Vectors > 0 ? Vectors : 1][Packs * kCount] = {};
    each_rows([&](int first, const Raw* x, const Raw* dy) {
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) {
        if (first + k >= end()) break;
        row_.row = first + k;
        const ElementGradient<T, Centered> element(smem_.gradients[row_.row - begin()]);
        row_.store_anywhere(DX, of_.rows, of_.columns, [&](int p) {
          return [&, p](int i) {
            const f32 h = element.h(to_f32(x[k].pack[p].at(i))), dy_i = to_f32(dy[k].pack[p].at(i));
            if constexpr (Vectors > 0) columns[0][p * kCount + i] += dy_i * h;
            if constexpr (Vectors > 1) columns[1][p * kCount + i] += dy_i;
            return output(element.dx(g_of(dy[k], p, i), h), row_.row, row_.column_of(p, i));
          };
        });
      }
    });
    if constexpr (Vectors > 0) write(columns, part);
  }

 private:
  using Raw = typename Row::template Raw<T>;

  __device__ int begin() const {
    return tile_.row * Rows;
  }
  __device__ int end() const {
    return min(Rows, of_.rows - begin()) + begin();
  }
  __device__ PartSums* sums_of(int row) const {
    return sums_ + s64{row} * tile_.tiles;
  }
  // Columns of a tile.
  __device__ int size_of(int tile) const {
    return min(Row::kHeld, of_.columns - tile * Row::kHeld);
  }
  __device__ f32 g_of(const Raw& dy, int p, int i) const {
    const f32 g = to_f32(dy.pack[p].at(i));
    return Vectors > 0 ? g * to_f32(weight_[p].at(i)) : g;
  }
  template <class F> __device__ static void each_element(F f) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) f(p, i);
    }
  }

  // Calls f(first, x, dy) for each AtOnce rows from `first` on, of which those behind the batch are 0.
  template <class F> __device__ void each_rows(F f) {
#pragma unroll 1
    for (int first = begin(); first < end(); first += AtOnce) {
      Raw x[AtOnce], dy[AtOnce];
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) {
        if (first + k < end()) {
          x[k] = row_.load_raw_anywhere(of_.X.data + (first + k) * of_.X.stride[0]);
          dy[k] = row_.load_raw_anywhere(of_.DY.data + (first + k) * of_.DY.stride[0]);
        } else {
          x[k] = dy[k] = {};
        }
      }
      f(first, x, dy);
    }
  }

  // Joins the sums of all tiles of each row, a warp a row.
  __device__ void find_gradients(f32 eps) {
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    const f32 share = 1 / static_cast<f32>(of_.columns);
    for (int row = begin() + threadIdx.x / 32; row < end(); row += Threads / 32) {
      const PartSums* const tiles = sums_of(row);
      Sums<2> means = {}, squares = {};
      if constexpr (Centered) {
        for (int tile = threadIdx.x % 32; tile < tile_.tiles; tile += 32)
          means.x[0] += tiles[tile].mean * static_cast<f32>(size_of(tile)), means.x[1] += tiles[tile].g;
        means = warp_reduce(means, add);
      }
      const f32 mean = means.x[0] * share;
      for (int tile = threadIdx.x % 32; tile < tile_.tiles; tile += 32) {
        const f32 distance = tiles[tile].mean - mean;
        squares.x[0] += tiles[tile].squares + distance * distance * static_cast<f32>(size_of(tile));
        squares.x[1] += tiles[tile].gx + distance * tiles[tile].g;
      }
      squares = warp_reduce(squares, add);
      if (threadIdx.x % 32 == 0)
        smem_.gradients[row - begin()] =
            RowGradient::of<Centered>({mean, squares.x[0], means.x[1], squares.x[1]}, share, eps);
    }
    __syncthreads();
  }

  __device__ void write(const f32 (&columns)[Vectors > 0 ? Vectors : 1][Packs * kCount], f32* part) const {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
#pragma unroll
      for (int k = 0; k < Packs * kCount; k += 4) {
        const s64 column = s64{tile_.tile} * Row::kHeld + (k / kCount * Threads + threadIdx.x) * kCount + k % kCount;
        *reinterpret_cast<float4*>(part + v * s64{tile_.tiles} * Row::kHeld + column) =
            make_float4(columns[v][k], columns[v][k + 1], columns[v][k + 2], columns[v][k + 3]);
      }
    }
  }

  const Matrices& of_;
  Row row_;
  const PhasedTile tile_;
  PartSums* const sums_;
  Smem& smem_;
  Words<T, kCount> weight_[Packs];
};

// Adds up 64 elements of `count` vectors of `width`, those from 64 * slice on, when `blocks` blocks have counted
// themselves with count_part. Calls store(i, sum) for each. Called by all threads of a block that begins behind those.
template <int Threads, class F>
__device__ inline void add_parts(const f32* parts, int count, s64 width, s64 slice, u32* counted, u32 blocks,
                                 u32 adders, F store) {
  constexpr int kLanes = 16, kRows = Threads / kLanes;
  __shared__ float4 sums[kRows][kLanes];
  if (threadIdx.x == 0) {
    while (relaxed::load(&counted[0]) != blocks) __nanosleep(40);
    fence::acq_rel_gpu();
    if (atomicInc(&counted[1], adders - 1) == adders - 1) relaxed::store(&counted[0], 0);
  }
  __syncthreads();
  const int lane = threadIdx.x % kLanes, row = threadIdx.x / kLanes;
  const s64 i = slice * 64 + lane * 4;
  float4 sum = {};
  if (i < width) {
#pragma unroll 8
    for (int part = row; part < count; part += kRows)
      sum = plus(sum, *reinterpret_cast<const float4*>(parts + part * width + i));
  }
  sums[row][lane] = sum;
  __syncthreads();
  if (row > 0 || i >= width) return;
  for (int other = 1; other < kRows; ++other) sum = plus(sum, sums[other][lane]);
  store(i, sum.x), store(i + 1, sum.y), store(i + 2, sum.z), store(i + 3, sum.w);
}
// Counts a block whose part is in memory. Called by all its threads.
__device__ inline void count_part(u32* counted) {
  __syncthreads();
  if (threadIdx.x > 0) return;
  fence::acq_rel_gpu();
  atomicAdd(&counted[0], 1);
}

// What the blocks of a launch leave for each other, as the manifest above declares it.
struct GradientWorkspaces {
  unsigned char *sums, *parts, *counters;
};

// Does a block's part of a launch: of the first phase, of the second, in which output(dx, row, column) gives the
// elements of DX, or of adding up, which calls store(vector, column, sum) for each of Vectors gradients. Called by all
// threads of the grid.
template <class Gradient, int Vectors, int Threads, int Rows, class T, class Output, class Store>
__device__ inline void tiled_gradient(const typename Gradient::Matrices& of, const View<const T, 1>& W,
                                      const View<T, 2>& DX, const GradientWorkspaces& workspaces,
                                      typename Gradient::Smem& smem, f32 eps, Output output, Store store) {
  constexpr int kHeld = Gradient::Row::kHeld;
  const int tiles = ceil_div(of.columns, kHeld), batches = ceil_div(of.rows, Rows);
  u32* const begun = reinterpret_cast<u32*>(workspaces.counters);
  u32* const counted = begun + 1 + 2 * batches;
  f32* const parts = reinterpret_cast<f32*>(workspaces.parts);
  const u32 number = PhasedTile::next_number(begun), workers = 2U * batches * tiles;
  if (number >= workers) {
    const s64 width = s64{tiles} * kHeld;
    add_parts<Threads>(parts, batches, Vectors * width, number - workers, counted, workers / 2, gridDim.x - workers,
                       [&](s64 i, f32 sum) {
                         const s64 column = Vectors > 1 ? i % width : i;
                         if (column < of.columns) store(i < width ? 0 : 1, column, sum);
                       });
    return;
  }
  const PhasedTile tile = PhasedTile::of(number, begun, batches, tiles);
  Gradient gradient(of, W, tile, reinterpret_cast<PartSums*>(workspaces.sums), smem);
  if (!tile.second) {
    gradient.reduce();
    if (threadIdx.x == 0) tile.arrive();
    return;
  }
  tile.wait();
  gradient.store(DX, eps, parts + s64{tile.row} * tiles * kHeld * Vectors, output);
  if constexpr (Vectors > 0) count_part(counted);
}
