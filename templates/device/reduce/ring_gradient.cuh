#pragma once
// Gradients of a norm whose rows clusters share: y = h * w + b with h = (x - mean) * r, where r is one over the root of
// the variance; without Centered the mean is 0 and the variance the mean of squares. A cluster walks over rows, of
// which each of its blocks has a part, at the same columns of every row. Bulk copies bring the parts of the next rows
// to shared memory, from where a part is read twice: once to add up what it gives, and once more, when the blocks have
// told each other, to store DX. Meanwhile the next row is added up: no block waits for the cluster idly.
//
// What the files of such rows share of their manifests, which `use` this, after the let VECTORS, how many gradients of
// vectors there are:
//! param   THREADS = 512   in {256, 512}            "of a block"
//! param   CLUSTER = 8     in {2, 4, 8}             "blocks that share a row"
//! param   PACKS   = 2     in {1, 2, 4}             "packs of a row that a thread has"
//! param   STAGES  = 3     in {2, 3, 4, 6}          "rows of which a block has its part in shared memory"
//! param   BLOCKS  = 1     in {1, 2}                "blocks of an SM"
//!
//! let     HELD    = THREADS * CLUSTER * PACKS * COUNT "columns of a cluster"
//! let     SMEM    = 2 * STAGES * THREADS * PACKS * 16 + 128 * CLUSTER + 128
//! let     TEAMS   = max(1, min(M, device.sm_count * BLOCKS * 15 / (16 * CLUSTER))) "clusters that run at once: some SMs lack neighbours for one"
//! let     ADDERS  = VECTORS * HELD / 64            "blocks that add up what the clusters gave"
//!
//! require N <= HELD && 2 * N > HELD                "a row must fit into a cluster, and not into half of it"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SMEM + 9216 <= device.smem_per_block && (SMEM + 10240) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require (PACKS * COUNT * (VECTORS + 1) + 32) * BLOCKS * THREADS <= 65536 "the threads of an SM share its registers"
//! require PACKS * COUNT * VECTORS <= 32            "a thread has registers for the sums of so many columns"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0 "rows begin at 16 bytes and are whole packs"
//! require VECTORS == 0 || alignment(W) % 16 == 0   "W is read in packs"
//!
//! workspace parts    VECTORS * TEAMS * HELD * 4
//! workspace counters (VECTORS > 0) * 12  zero
//!
//! cluster CLUSTER
//! launch  grid N == 0 ? 0 : TEAMS * CLUSTER + ADDERS  block THREADS  smem SMEM
//!
//! preset  CLUSTER = 2, PACKS = 2
//! preset  CLUSTER = 4, PACKS = 2
//! preset  CLUSTER = 8, PACKS = 2
//! preset  CLUSTER = 8, PACKS = 4
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/st_async.cuh"
#include "device/reduce/grid_sum.cuh"
#include "device/reduce/register_row.cuh"

// Of a block's elements of a row: the mean of x, the sum of the squares of its distances from that, the sum of
// g = DY * w, and the sum of g times those distances.
struct alignas(16) PartSums {
  f32 mean, squares, g, gx;
};

// DX = r * (g - mean_g - h * mean_gh).
struct RowGradient {
  f32 mean, r, mean_g, mean_gh;
};

template <class T, int Threads, int Cluster, int Packs, int Stages, bool Centered, int Vectors> class RingGradient {
 public:
  static constexpr int kCount = 16 / sizeof(T);
  using Row = RegisterRow<Threads, Threads, Cluster, kCount, Packs, true>;
  using Sum = GridSum<Threads, Vectors * Row::kHeld, Cluster>;

  // Four rows are told of at a time: a block tells of a row when it has been told of the one two rows before, and its
  // peers then have read what they were told of four rows before.
  static constexpr int kTold = 4;
  struct Smem {
    alignas(128) Words<T, kCount> x[Stages][Packs][Threads], dy[Stages][Packs][Threads];
    PartSums told[kTold][Cluster];
    Barrier full[Stages], all_told[kTold];
  };
  struct Matrices {
    const View<const T, 2>&X, &DY;
    int rows, columns;
  };

  // Called by all threads of the workers, which then call run().
  __device__ RingGradient(const Matrices& of, const View<const T, 1>& W, Smem& smem)
      : of_(of),
        smem_(initialised(smem)),
        row_(of.rows, of.columns),
        first_(static_cast<int>(blockIdx.x) / Cluster),
        step_(Sum::workers() / Cluster) {
    if constexpr (Vectors > 0) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) weight_[p] = row_.load_vector(W, p);
    }
    row_.wait_for_cluster();
    __syncthreads();
  }

  // Stores DX, and adds what the rows give for each column to `columns`.
  template <class Output>
  __device__ void run(const View<T, 2>& DX, f32 eps, f32 (&columns)[Vectors > 0 ? Vectors : 1][Packs * kCount],
                      Output output) {
    const int count = first_ < of_.rows ? (of_.rows - first_ - 1) / step_ + 1 : 0;  // rows of the cluster
    if (threadIdx.x == 0)
      for (int i = 0; i < min(Stages, count); ++i) load(i);
        // Invariant: the rows before number i - 1 are stored, and row i - 1 has been added up.
#pragma unroll 1
    for (int i = 0; i <= count; ++i) {
      if (i < count) add_up(i);
      if (i > 0) store(i - 1, DX, eps, columns, output);
      fence::proxy_async_shared();
      __syncthreads();
      if (threadIdx.x == 0 && i > 0 && i - 1 + Stages < count) load(i - 1 + Stages);
    }
  }

 private:
  // The barriers are initialised before the row tells the cluster that the block has begun.
  __device__ static Smem& initialised(Smem& smem) {
    if (threadIdx.x > 0) return smem;
#pragma unroll
    for (Barrier& full : smem.full) full.init(1);
#pragma unroll
    for (Barrier& told : smem.all_told) told.init(1);
    fence_barrier_init();
    return smem;
  }
  // Columns of a row that the block of that rank has.
  __device__ int size_of(int rank) const {
    int size = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      size += max(0, min(Threads * kCount, of_.columns - p * Row::kStep - rank * Threads * kCount));
    return size;
  }
  __device__ int row_of(int i) const {
    return first_ + i * step_;
  }

  // Begins to copy the block's part of the cluster's row number i. Called by thread 0.
  __device__ void load(int i) {
    const int slot = i % Stages, rank = cluster::rank();
    Barrier& full = smem_.full[slot];
    full.expect(2 * size_of(rank) * sizeof(T));
    const T* const x = of_.X.data + row_of(i) * of_.X.stride[0];
    const T* const dy = of_.DY.data + row_of(i) * of_.DY.stride[0];
#pragma unroll 1
    for (int p = 0; p < Packs; ++p) {
      const int column = p * Row::kStep + rank * Threads * kCount;
      const int bytes = min(Threads * kCount, of_.columns - column) * int{sizeof(T)};
      if (bytes <= 0) break;
      bulk::load(smem_.x[slot][p], x + column, bytes, full);
      bulk::load(smem_.dy[slot][p], dy + column, bytes, full);
    }
  }

  template <class F> __device__ void each_element(int slot, F f) const {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (!row_.whole(p)) continue;
      const Words<T, kCount> x = smem_.x[slot][p][threadIdx.x], dy = smem_.dy[slot][p][threadIdx.x];
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const f32 g = to_f32(dy.at(k));
        f(to_f32(x.at(k)), Vectors > 0 ? g * to_f32(weight_[p].at(k)) : g);
      }
    }
  }

  // Adds up the block's part of row number i, and tells all blocks.
  __device__ void add_up(int i) {
    __shared__ Sums<2> partial[2][Threads / 32];
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    const int slot = i % Stages, told = i % kTold, size = size_of(cluster::rank());
    smem_.full[slot].wait(i / Stages % 2);
    Sums<2> means = {}, squares = {};
    if constexpr (Centered) {
      each_element(slot, [&](f32 x, f32 g) { means.x[0] += x, means.x[1] += g; });
      means = block_reduce<Threads>(means, partial[0], Sums<2>{}, add);
      means.x[0] /= static_cast<f32>(max(size, 1));
    }
    each_element(slot, [&](f32 x, f32 g) {
      const f32 distance = x - means.x[0];
      squares.x[0] += distance * distance, squares.x[1] += distance * g;
    });
    squares = block_reduce<Threads>(squares, partial[1], Sums<2>{}, add);
    Barrier& all_told = smem_.all_told[told];
    if (threadIdx.x == 0) all_told.expect(sizeof(smem_.told[0]));
    if (threadIdx.x >= Cluster) return;
    PartSums& to = smem_.told[told][cluster::rank()];
    remote::store(threadIdx.x, reinterpret_cast<float2*>(&to), make_float2(means.x[0], squares.x[0]), all_told);
    remote::store(threadIdx.x, reinterpret_cast<float2*>(&to) + 1, make_float2(means.x[1], squares.x[1]), all_told);
  }

  // Of what the blocks told of row number i.
  __device__ RowGradient gradient_of(int i, f32 eps) const {
    const PartSums(&parts)[Cluster] = smem_.told[i % kTold];
    smem_.all_told[i % kTold].wait_cluster(i / kTold % 2);
    const f32 count = static_cast<f32>(of_.columns);
    f32 mean = 0, g = 0, squares = 0, gx = 0;
    if constexpr (Centered) {
#pragma unroll
      for (int b = 0; b < Cluster; ++b) mean += parts[b].mean * static_cast<f32>(size_of(b)), g += parts[b].g;
      mean /= count;
    }
#pragma unroll
    for (int b = 0; b < Cluster; ++b) {
      const f32 distance = parts[b].mean - mean;
      squares += parts[b].squares + distance * distance * static_cast<f32>(size_of(b));
      gx += parts[b].gx + distance * parts[b].g;
    }
    const f32 r = rsqrtf(squares / count + eps);
    return {mean, r, g / count, gx * r / count};
  }

  template <class Output>
  __device__ void store(int i, const View<T, 2>& DX, f32 eps, f32 (&columns)[Vectors > 0 ? Vectors : 1][Packs * kCount],
                        Output output) {
    const int slot = i % Stages;
    const RowGradient at = gradient_of(i, eps);
    row_.row = row_of(i);
    row_.store(DX, [&](int p) {
      Words<T, kCount> x = {}, dy = {};
      if (row_.whole(p)) x = smem_.x[slot][p][threadIdx.x], dy = smem_.dy[slot][p][threadIdx.x];
      return [&, p, x, dy](int k) {
        const f32 h = (to_f32(x.at(k)) - at.mean) * at.r, dy_k = to_f32(dy.at(k));
        if constexpr (Vectors > 0) columns[0][p * kCount + k] += dy_k * h;
        if constexpr (Vectors > 1) columns[1][p * kCount + k] += dy_k;
        const f32 g = Vectors > 0 ? dy_k * to_f32(weight_[p].at(k)) : dy_k;
        return output(at.r * (g - at.mean_g - h * at.mean_gh), row_.row, row_.column_of(p, k));
      };
    });
  }

  const Matrices& of_;
  Smem& smem_;
  Row row_;
  const int first_, step_;  // of the cluster's rows
  Words<T, kCount> weight_[Packs];
};

// Does a block's part of a launch; output(dx, row, column) gives the elements of DX, and store(vector, column, sum)
// stores those of the Vectors other gradients. Called by all threads of the grid.
template <class Gradient, int Vectors, class T, class Output, class Store>
__device__ inline void ring_gradient(const typename Gradient::Matrices& of, const View<const T, 1>& W,
                                     const View<T, 2>& DX, unsigned char* parts, unsigned char* counters,
                                     typename Gradient::Smem& smem, f32 eps, Output output, Store store) {
  using Row = typename Gradient::Row;
  typename Gradient::Sum sum(parts, counters);
  if (sum.is_worker()) {
    f32 columns[Vectors > 0 ? Vectors : 1][Row::kPacks * Row::kCount] = {};
    Gradient(of, W, smem).run(DX, eps, columns, output);
    if constexpr (Vectors > 0) {
      const int first = static_cast<int>(threadIdx.x + cluster::rank() * Row::kThreads) * Row::kCount;
#pragma unroll
      for (int v = 0; v < Vectors; ++v) {
#pragma unroll
        for (int k = 0; k < Row::kPacks * Row::kCount; k += 4) {
          const int column = first + k / Row::kCount * Row::kStep + k % Row::kCount;
          *reinterpret_cast<float4*>(sum.part() + v * Row::kHeld + column) =
              make_float4(columns[v][k], columns[v][k + 1], columns[v][k + 2], columns[v][k + 3]);
        }
      }
    }
  }
  if constexpr (Vectors > 0) {
    sum.finish([&](int i, const f32(&x)[4]) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (i % Row::kHeld + k < of.columns) store(i / Row::kHeld, i % Row::kHeld + k, x[k]);
    });
  }
}
