#pragma once
// Rows that clusters walk over. Bulk copies bring a row in chunks to a ring of slots in the shared memory of a
// cluster's blocks, where it stays until it has been read twice, and the chunks of the next row follow as soon as there
// is room: memory is busy while a row is reduced. A thread has the same columns of each row, so that it keeps its part
// of vectors that are read with every row in registers.
//
// What kernels of such rows share of their manifests, which `use` this, after the lets LINES, how many rows there are,
// LENGTH, the elements of one, VECTORS, how many vectors are read with every row, and COUNT, elements of 16 bytes:
//! param   THREADS = 512   in {448, 480, 512}       "of a block that have elements of a row; 32 others load rows"
//! param   CLUSTER = 8     in {2, 4, 8, 16}         "blocks that share a row"
//! param   PACKS   = 2     in {1, 2, 3, 4}          "packs of a chunk that a thread has"
//! param   CHUNKS  = 4     in {1, 2, 3, 4, 6}       "chunks of a block's part of a row"
//! param   SLOTS   = 13    in {6, 9, 13}            "chunks of which a block has room"
//! param   LAG     = 0     in {0, 1}                "1: the next row is reduced before a row is stored"
//!
//! let     CHUNK   = THREADS * PACKS * 16           "bytes of a chunk"
//! let     HELD    = THREADS * CLUSTER * PACKS * CHUNKS * COUNT "columns of a cluster"
//! let     SMEM    = SLOTS * (CHUNK + 16) + 256 + THREADS / 2 + 32 * CLUSTER
//! let     TEAMS   = max(1, min(LINES, CLUSTER == 2 ? device.sm_count / 2 : device.sm_count * 15 / (16 * CLUSTER))) "clusters that run at once: some SMs lack neighbours for a large one"
//!
//! require LENGTH <= HELD && 16 * LENGTH > 7 * HELD "a row must fit into a cluster, and not leave more than half of it empty"
//! require CLUSTER <= device.cluster_max || (CLUSTER == 16 && device.cluster_max == 8 && device.sm_count >= 128) "the device must have clusters of that size"
//! require CLUSTER <= device.sm_count               "each of a cluster's blocks fills an SM"
//! require LINES >= 4 * TEAMS                       "few rows do not follow one another"
//! require SLOTS > (1 + LAG) * CHUNKS               "rows stay in shared memory until they are stored while chunks of the next one come"
//! require SMEM + 1024 <= device.smem_per_block     "the slots must fit into shared memory"
//! require (PACKS * CHUNKS * 4 * VECTORS + 32) * (THREADS + 32) <= 65536 "a block's threads keep their part of the vectors in registers"
//!
//! cluster CLUSTER
//! launch  grid LENGTH == 0 ? 0 : TEAMS * CLUSTER  block THREADS + 32  smem SMEM
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/st_async.cuh"
#include "device/reduce/register_row.cuh"

// How a row is divided, as the manifest says.
template <int Threads, int Cluster, int Packs, int Chunks, int Slots, int Lag, int Vectors> struct RingShape {
  static constexpr int kThreads = Threads, kCluster = Cluster, kPacks = Packs, kChunks = Chunks, kSlots = Slots;
  static constexpr int kLag = Lag, kVectors = Vectors;
};

// A slot of a ring of so many, and the parity of the pass over the ring.
template <int Slots> struct RingPlace {
  u32 slot = 0, phase = 0;
  __device__ void advance() {
    if (++slot < Slots) return;
    slot = 0, phase ^= 1;
  }
};

// A RegisterRow of which threads hold a chunk at a time. `Join` says how what threads found is joined: neutral(), and
// joined<Width>(pair, size, all), called by the lanes of a warp, each with what it found of `size` elements, of `all`
// of each Width neighbouring lanes together.
template <class T, class Shape, class Join>
class RingRow
    : public RegisterRow<Shape::kThreads, Shape::kThreads, Shape::kCluster, 16 / sizeof(T), Shape::kPacks, true> {
 public:
  static constexpr int kThreads = Shape::kThreads, kCluster = Shape::kCluster, kPacks = Shape::kPacks;
  static constexpr int kChunks = Shape::kChunks, kSlots = Shape::kSlots, kWarps = kThreads / 32;
  static constexpr int kVectors = Shape::kVectors, kCount = 16 / sizeof(T);
  using Row = RegisterRow<kThreads, kThreads, kCluster, kCount, kPacks, true>;
  using Chunk = Words<T, kCount>[kPacks][kThreads];
  using Pair = Sums<2>;
  using Vectors = const T* const[2];

  // What is told of a row has one of four places: a block tells of row i + 4 when all have told of row i + 2, each of
  // whose warps had read what it was told of row i.
  static constexpr int kTold = 4;
  struct Smem {
    alignas(128) Chunk chunk[kSlots];
    alignas(8) Pair own[2][kWarps], told[kTold][kCluster];
    Barrier full[kSlots], empty[kSlots], all_told[kTold];
  };

  // Called by all threads of the grid, with the addresses of kVectors vectors.
  __device__ RingRow(const View<const T, 2>& from, Vectors& vectors, int rows, int columns, Smem& smem)
      : Row(rows, columns, initialised(smem)),
        from_(from),
        columns_(columns),
        first_(static_cast<int>(blockIdx.x) / kCluster),
        step_(static_cast<int>(gridDim.x) / kCluster),
        count_(first_ < rows ? (rows - first_ - 1) / step_ + 1 : 0),
        rank_(cluster::rank()),
        sizes_{size_of(rank_ * kThreads + threadIdx.x, kCount), size_of(rank_ * kWarps + threadIdx.x / 32, 32 * kCount),
               threadIdx.x % 32 < kWarps ? size_of(rank_ * kWarps + threadIdx.x % 32, 32 * kCount) : 0,
               size_of(rank_, kThreads * kCount), size_of(threadIdx.x % kCluster, kThreads * kCount)},
        smem_(smem) {
    if constexpr (kVectors > 0) {
      each_chunk([&](int c) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
#pragma unroll
          for (int p = 0; p < kPacks; ++p) kept_[c][v][p] = Row::load_anywhere(vectors[v], p);
      });
    }
    Row::wait_for_cluster();
    __syncthreads();
  }

  // Calls, for each of the cluster's rows, found(), which returns what the thread found in it, and later store(all),
  // with what all threads found joined. Called by all threads of the grid.
  template <class Found, class Store> __device__ void each_row(Found found, Store store) {
    if (threadIdx.x >= kThreads) {
      if (threadIdx.x == kThreads) load_rows();
      return;
    }
#pragma unroll 1
    for (int i = 0; i < count_ + Shape::kLag; ++i) {
      if (i < count_) {
        Row::row = first_ + i * step_;
        tell(i, found());
      }
      if (i < Shape::kLag) continue;
      Row::row = first_ + (i - Shape::kLag) * step_;
      store(told(i - Shape::kLag));
    }
  }

  // Calls f(all, chunk) for each chunk of the row, of which x are the elements g(element, column) of the thread and,
  // beyond the end of the row, `outside`: none of them if `all`, which the compiler knows.
  template <class G, class F> __device__ void read(f32 outside, G g, F f) {
    each_chunk<1>([&](int c) {
      smem_.full[read_.slot].wait(read_.phase);
      set(Row::template copied<T>(&smem_.chunk[read_.slot][0][threadIdx.x]), outside, g, [&](bool all) { f(all, c); });
      read_.advance();
    });
  }
  // The same for the second time.
  template <class G, class F> __device__ void read_again(f32 outside, G g, F f) {
    convert_again();
    each_chunk<(kVectors > 0 ? kChunks : 1)>([&](int c) {
      const auto in = Row::template copied<T>(&smem_.chunk[again_.slot][0][threadIdx.x]);
      __syncwarp();
      if (threadIdx.x % 32 == 0) smem_.empty[again_.slot].arrive();
      set(in, outside, g, [&](bool all) { f(all, c); });
      again_.advance();
    });
  }
  // Of a vector, the element in the column of element i of pack p of the chunk.
  template <int Vector> __device__ f32 vector(int chunk, int p, int i) const {
    return to_f32(kept_[chunk][Vector][p].at(i));
  }
  // How many elements of a row the thread has.
  __device__ int size() const {
    return sizes_.thread;
  }

 private:
  // The barriers are initialised before the row tells the cluster that the block has begun. Returns the block's number.
  __device__ static u32 initialised(Smem& smem) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < kSlots; ++i) smem.full[i].init(1), smem.empty[i].init(kWarps);
#pragma unroll
      for (Barrier& told : smem.all_told) told.init(1);
      fence_barrier_init();
    }
    return blockIdx.x;
  }
  // Calls f(chunk) with the row's column at each chunk in turn.
  template <int Unroll = kChunks, class F> __device__ void each_chunk(F f) {
    const int column = Row::column, left = Row::left;
#pragma unroll(Unroll)
    for (int c = 0; c < kChunks; ++c) {
      f(c);
      Row::advance_parts(1);
    }
    Row::column = column, Row::left = left;
  }
  template <class Raw, class G, class F> __device__ void set(const Raw& in, f32 outside, G g, F f) {
    if (Row::whole(kPacks - 1)) {
      Row::template set<true>(in, outside, g);
      f(true);
    } else {
      Row::template set<false>(in, outside, g);
      f(false);
    }
  }
  // Has the compiler convert the kept vectors in each row: as words they take fewer registers than as numbers.
  __device__ void convert_again() {
    if constexpr (kVectors == 0 || sizeof(T) == 4) return;
#pragma unroll
    for (auto& chunk : kept_)
#pragma unroll
      for (auto& vector : chunk)
#pragma unroll
        for (auto& words : vector)
#pragma unroll
          for (u32& word : words.word) asm volatile("" : "+r"(word));
  }

  // Columns of a row that are the index-th of the cluster to have `width` of each pack.
  __device__ int size_of(int index, int width) const {
    int size = 0;
#pragma unroll 1
    for (int begin = index * width; begin < columns_; begin += Row::kStep) size += min(width, columns_ - begin);
    return size;
  }

  // Tells all blocks of the cluster what this block's threads found in row number i.
  __device__ void tell(int i, const Pair& pair) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Pair of_warp = Join::template joined<32>(pair, sizes_.thread, sizes_.warp);
    Pair(&own)[kWarps] = smem_.own[i % 2];
    if (lane == 0) own[warp] = of_warp;
    sync(1, kThreads);
    if (warp > 0) return;
    Barrier& all_told = smem_.all_told[i % kTold];
    Pair(&told)[kCluster] = smem_.told[i % kTold];
    if (lane == 0) all_told.expect(sizeof(told));
    const Pair all =
        Join::template joined<32>(lane < kWarps ? own[lane] : Join::neutral(), sizes_.warp_of_lane, sizes_.block);
    if (lane < kCluster)
      remote::store(lane, reinterpret_cast<u32*>(&told[rank_]), reinterpret_cast<const u32(&)[2]>(all), all_told);
  }
  __device__ Pair told(int i) const {
    smem_.all_told[i % kTold].wait_cluster(i / kTold % 2);
    const Pair& pair = smem_.told[i % kTold][threadIdx.x % kCluster];
    return Join::template joined<kCluster>(pair, sizes_.block_of_lane, columns_);
  }

  // Copies the block's part of each row of the cluster, a chunk when there is a slot for it. Called by one thread.
  __device__ void load_rows() const {
    RingPlace<kSlots> at;
#pragma unroll 1
    for (int i = 0; i < count_; ++i) {
      const T* const begin = from_.data + (first_ + i * step_) * from_.stride[0];
#pragma unroll 1
      for (int c = 0; c < kChunks; ++c, at.advance()) {
        smem_.empty[at.slot].wait(at.phase ^ 1);
        fence::proxy_async_shared();
        smem_.full[at.slot].expect(bytes_of(c));
        load(smem_.chunk[at.slot], begin, c, smem_.full[at.slot]);
      }
    }
  }
  // The column of pack p of chunk c of the block's first thread, and how many columns of the row its threads have
  // there.
  __device__ int column_at(int c, int p) const {
    return (c * kPacks + p) * Row::kStep + rank_ * kThreads * kCount;
  }
  __device__ int columns_at(int c, int p) const {
    return max(0, min(kThreads * kCount, columns_ - column_at(c, p)));
  }
  __device__ int bytes_of(int c) const {
    int columns = 0;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) columns += columns_at(c, p);
    return columns * static_cast<int>(sizeof(T));
  }
  __device__ void load(Chunk& to, const T* begin, int c, Barrier& full) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int columns = columns_at(c, p);
      if (columns > 0) bulk::load(to[p], begin + column_at(c, p), columns * static_cast<int>(sizeof(T)), full);
    }
  }

  const View<const T, 2>& from_;
  const int columns_, first_, step_, count_;  // rows are first_, first_ + step_, ...
  const int rank_;                            // of the block in its cluster
  // Elements of a row that the thread has, its warp, the block's warp and the cluster's block of the lane's number, and
  // the block.
  const struct { int thread, warp, warp_of_lane, block, block_of_lane; } sizes_;
  Smem& smem_;
  RingPlace<kSlots> read_, again_;
  Words<T, kCount> kept_[kChunks][kVectors > 0 ? kVectors : 1][kPacks];
};
