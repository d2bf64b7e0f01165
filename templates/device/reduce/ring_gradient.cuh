#pragma once
// Gradients of a norm whose rows clusters share: y = h * w + b with h = (x - mean) * r, where r is one over the root of
// the variance; without Centered the mean is 0 and the variance the mean of squares. A cluster walks over rows, of
// which each of its blocks has a part, at the same columns of every row. Bulk copies bring the parts of the next rows
// to shared memory, from where a part is read twice: once to add up what it gives, and once more, when the blocks have
// told each other, to store DX. Meanwhile the next row is added up. No warp waits for another of its block idly: each
// gives its sums to a warp that joins them and tells the cluster, and its place in a row to a warp that loads the next.
//
// What the files of such rows share of their manifests, which `use` this, after the lets VECTORS, how many gradients of
// vectors there are, and LEAST, up to which length rows are faster in registers:
//! param   THREADS = 512   in {128, 256, 512}       "of a block that have elements of a row; 64 others load rows and join sums"
//! param   CLUSTER = 8     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 2     in {1, 2, 4}             "packs of a row that a thread has"
//! param   STAGES  = 4     in {2, 3, 4, 6}          "rows of which a block has its part in shared memory"
//! param   BLOCKS  = 1     in {1, 2, 4}             "blocks of an SM"
//!
//! let     HELD    = THREADS * CLUSTER * PACKS * COUNT "columns of a cluster"
//! let     SMEM    = 2 * STAGES * THREADS * PACKS * 16 + 64 * CLUSTER + 2 * THREADS + 512
//! let     TEAMS   = max(1, min(M, CLUSTER <= 2 ? device.sm_count * BLOCKS / CLUSTER : device.sm_count * BLOCKS * 15 / (16 * CLUSTER))) "clusters that run at once: some SMs lack neighbours for a large one"
//! let     ADDERS  = VECTORS * HELD / 64            "blocks that add up what the clusters gave"
//!
//! require N > LEAST                                "shorter rows are faster in registers"
//! require N <= HELD && 2 * N > HELD                "a row must fit into a cluster, and not into half of it"
//! require CLUSTER <= min(device.cluster_max, device.sm_count * BLOCKS) "the device must have clusters of that size, and room for one"
//! require SMEM + 10240 <= device.smem_per_block && (SMEM + 11264) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require (PACKS * COUNT * (VECTORS + 1) + 32) * BLOCKS * (THREADS + 64) <= 65536 "the threads of an SM share its registers"
//! require PACKS * COUNT * VECTORS <= 32            "a thread has registers for the sums of so many columns"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0 "rows begin at 16 bytes and are whole packs"
//! require VECTORS == 0 || alignment(W) % 16 == 0   "W is read in packs"
//!
//! workspace parts    VECTORS * TEAMS * HELD * 4
//! workspace counters (VECTORS > 0) * 12  zero
//!
//! cluster CLUSTER
//! launch  grid N == 0 ? 0 : TEAMS * CLUSTER + ADDERS  block THREADS + 64  smem SMEM
//!
//! preset  CLUSTER = 1, PACKS = 2
//! preset  CLUSTER = 2, PACKS = 2
//! preset  THREADS = 256, CLUSTER = 8, PACKS = 2, BLOCKS = 2  when sizeof(T) == 2
//! preset  CLUSTER = 4, PACKS = 2
//! preset  CLUSTER = 8, PACKS = 2
//! preset  CLUSTER = 8, PACKS = 4, STAGES = 3
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/st_async.cuh"
#include "device/reduce/grid_sum.cuh"
#include "device/reduce/register_row.cuh"
#include "device/reduce/row_gradient.cuh"

template <class T, int Threads, int Cluster, int Packs, int Stages, bool Centered, int Vectors> class RingGradient {
 public:
  static constexpr int kCount = 16 / sizeof(T), kWarps = Threads / 32;
  static constexpr int kThreads = Threads + 64;  // of a block
  // Whether there are registers for a thread's whole part of a row beside the weights and the sums.
  static constexpr bool kEarly = Packs * kCount <= 16 && Packs * (12 + Vectors * kCount) < 80;
  using Row = RegisterRow<Threads, Threads, Cluster, kCount, Packs, true>;
  using Sum = GridSum<kThreads, Vectors * Row::kHeld, Cluster>;
  using Columns = f32[Vectors > 0 ? Vectors : 1][Packs * kCount];

  // What is known of a row has one of four places. A warp adds up row i when row i - 2 has been told by all blocks, so
  // that each block has read what it was told of row i - 3, and what its warps gave of it before.
  static constexpr int kKnown = 4;
  struct Smem {
    alignas(128) Words<T, kCount> x[Stages][Packs][Threads], dy[Stages][Packs][Threads];
    PartSums own[kKnown][kWarps], told[kKnown][Cluster];
    RowGradient gradients[kKnown];
    Barrier full[Stages], empty[Stages], own_given[kKnown], all_told[kKnown], ready[kKnown];
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
        step_(Sum::workers() / Cluster),
        count_(first_ < of.rows ? (of.rows - first_ - 1) / step_ + 1 : 0),
        rank_(Cluster == 1 ? 0 : cluster::rank()) {
    if constexpr (Vectors > 0) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) weight_[p] = row_.load_vector(W, p);
    }
    row_.wait_for_cluster();
    __syncthreads();
  }

  // Stores DX, and adds what the rows give for each column to `columns`, of the first Threads threads.
  template <class Output> __device__ void run(const View<T, 2>& DX, f32 eps, Columns& columns, Output output) {
    const int warp = threadIdx.x / 32;
    if (warp < kWarps) {
      const f32 share = 1.0F / static_cast<f32>(max(size_of(rank_ * kWarps + warp, 32 * kCount), 1));
#pragma unroll 1
      for (int i = 0; i <= count_; ++i) {
        if (i < count_) add_up(i, share);
        if (i > 0) store(i - 1, DX, columns, output);
      }
    } else if (warp == kWarps) {
      if (threadIdx.x % 32 == 0) load_all();
      __syncwarp();
    } else {
      join_all(eps);
    }
  }

 private:
  // The barriers are initialised before the row tells the cluster that the block has begun.
  __device__ static Smem& initialised(Smem& smem) {
    if (threadIdx.x > 0) return smem;
#pragma unroll
    for (int i = 0; i < Stages; ++i) smem.full[i].init(1), smem.empty[i].init(kWarps);
#pragma unroll
    for (int i = 0; i < kKnown; ++i) smem.own_given[i].init(kWarps), smem.all_told[i].init(1), smem.ready[i].init(1);
    fence_barrier_init();
    return smem;
  }
  // Columns of a row that the threads of number `index` have, of which each pack takes `width`.
  __device__ int size_of(int index, int width) const {
    int size = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p) size += max(0, min(width, of_.columns - p * Row::kStep - index * width));
    return size;
  }
  __device__ int row_of(int i) const {
    return first_ + i * step_;
  }

  // Copies the block's parts of the cluster's rows, each when its place is free. Called by one thread.
  __device__ void load_all() const {
    const int bytes = 2 * size_of(rank_, Threads * kCount) * static_cast<int>(sizeof(T));
#pragma unroll 1
    for (int i = 0; i < count_; ++i) {
      const int slot = i % Stages;
      smem_.empty[slot].wait(i / Stages % 2 ^ 1);
      fence::proxy_async_shared();
      smem_.full[slot].expect(bytes);
      load(slot, of_.X.data + row_of(i) * of_.X.stride[0], of_.DY.data + row_of(i) * of_.DY.stride[0]);
    }
  }
  __device__ void load(int slot, const T* x, const T* dy) const {
#pragma unroll 1
    for (int p = 0; p < Packs; ++p) {
      const int column = p * Row::kStep + rank_ * Threads * kCount;
      const int bytes = min(Threads * kCount, of_.columns - column) * static_cast<int>(sizeof(T));
      if (bytes <= 0) break;
      bulk::load(smem_.x[slot][p], x + column, bytes, smem_.full[slot]);
      bulk::load(smem_.dy[slot][p], dy + column, bytes, smem_.full[slot]);
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

  // Adds up the warp's part of row number i, of which an element is a share.
  __device__ void add_up(int i, f32 share) const {
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    const int slot = i % Stages, known = i % kKnown;
    smem_.full[slot].wait(i / Stages % 2);
    Sums<2> means = {}, squares = {};
    if constexpr (Centered) {
      each_element(slot, [&](f32 x, f32 g) { means.x[0] += x, means.x[1] += g; });
      means = warp_reduce(means, add);
      means.x[0] *= share;
    }
    each_element(slot, [&](f32 x, f32 g) {
      const f32 distance = x - means.x[0];
      squares.x[0] += distance * distance, squares.x[1] += distance * g;
    });
    squares = warp_reduce(squares, add);
    if (threadIdx.x % 32 > 0) return;
    smem_.own[known][threadIdx.x / 32] = {means.x[0], squares.x[0], means.x[1], squares.x[1]};
    smem_.own_given[known].arrive();
  }

  // Joins what the warps give of each row, tells it to all blocks of the cluster, and joins what they tell. Called by a
  // warp.
  __device__ void join_all(f32 eps) const {
    const int lane = threadIdx.x % 32, own_all = size_of(rank_, Threads * kCount);
    const int own_size = lane < kWarps ? size_of(rank_ * kWarps + lane, 32 * kCount) : 0;
    const int told_size = lane < Cluster ? size_of(lane, Threads * kCount) : 0;
    const f32 share = 1 / static_cast<f32>(of_.columns);
#pragma unroll 1
    for (int i = 0; i < count_; ++i) {
      const int known = i % kKnown, parity = i / kKnown % 2;
      Barrier& all_told = smem_.all_told[known];
      if (Cluster > 1 && lane == 0) all_told.expect(sizeof(smem_.told[0]));
      smem_.own_given[known].wait(parity);
      PartSums all = joined<Centered>(lane < kWarps ? smem_.own[known][lane] : PartSums{}, own_size, own_all);
      if constexpr (Cluster > 1) {
        if (lane < Cluster)
          remote::store(lane, reinterpret_cast<u32*>(&smem_.told[known][rank_]), reinterpret_cast<u32(&)[4]>(all),
                        all_told);
        all_told.wait_cluster(parity);
        all = joined<Centered>(lane < Cluster ? smem_.told[known][lane] : PartSums{}, told_size, of_.columns);
      }
      if (lane > 0) continue;
      smem_.gradients[known] = RowGradient::of<Centered>(all, share, eps);
      smem_.ready[known].arrive();
    }
  }

  template <class Output> __device__ void store(int i, const View<T, 2>& DX, Columns& columns, Output output) {
    const int slot = i % Stages, known = i % kKnown;
    smem_.ready[known].wait(i / kKnown % 2);
    const ElementGradient<T, Centered> element(smem_.gradients[known]);
    row_.row = row_of(i);
    Words<T, kCount> x[Packs] = {}, dy[Packs] = {};
    const auto read = [&](int p) {
      if (row_.whole(p)) x[p] = smem_.x[slot][p][threadIdx.x], dy[p] = smem_.dy[slot][p][threadIdx.x];
    };
    if constexpr (kEarly) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) read(p);
      leave(slot);
    }
    row_.template store<false>(DX, [&](int p) {
      if constexpr (!kEarly) read(p);
      return [&, p](int k) {
        const f32 h = element.h(to_f32(x[p].at(k))), dy_k = to_f32(dy[p].at(k));
        if constexpr (Vectors > 0) columns[0][p * kCount + k] += dy_k * h;
        if constexpr (Vectors > 1) columns[1][p * kCount + k] += dy_k;
        const f32 g = Vectors > 0 ? dy_k * to_f32(weight_[p].at(k)) : dy_k;
        return output(element.dx(g, h), row_.row, row_.column_of(p, k));
      };
    });
    if constexpr (!kEarly) leave(slot);
  }
  // Gives back the warp's part of a slot: where registers allow it, before DX is stored.
  __device__ void leave(int slot) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.empty[slot].arrive();
  }

  const Matrices& of_;
  Smem& smem_;
  Row row_;
  const int first_, step_, count_;  // of the cluster's rows
  const int rank_;                  // of the block in its cluster
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
    typename Gradient::Columns columns = {};
    Gradient(of, W, smem).run(DX, eps, columns, output);
    if (Vectors > 0 && threadIdx.x < Row::kThreads) {
      const int rank = Row::kCluster == 1 ? 0 : cluster::rank();
      const int first = static_cast<int>(threadIdx.x + rank * Row::kThreads) * Row::kCount;
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
