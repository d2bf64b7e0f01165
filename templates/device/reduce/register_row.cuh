#pragma once
// Rows of a matrix that threads keep in registers between reading and writing them. A row belongs to some lanes of a
// warp, a block or the blocks of a cluster; each of its threads holds Packs packs of Count adjacent elements.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/block.cuh"
#include "device/reduce/cluster.cuh"
#include "device/tile/pack.cuh"
#include "device/tile/unaligned.cuh"

// Shared memory of as many reductions; each is used once by a launch.
template <int Threads, int Cluster, int Reductions> struct RowSmem {
  f32 warps[Reductions][Threads / 32];
  ClusterReduction<Cluster, f32> cluster[Reductions];

  // Called by all threads, before they make a RegisterRow.
  __device__ void init() {
    if (Cluster == 1 || threadIdx.x > 0) return;
#pragma unroll
    for (auto& reduction : cluster) reduction.init();
  }
};

// Count adjacent elements as the words in which they were read: as elements of 16 bits each would take a register.
template <class T, int Count> struct alignas(Count * sizeof(T)) Words {
  static_assert((Count * sizeof(T) == 16 || Count * sizeof(T) == 8) && sizeof(T) <= 4);
  u32 word[Count * sizeof(T) / 4];

  __device__ T at(int i) const {
    if constexpr (sizeof(T) == 4) return *reinterpret_cast<const T*>(&word[i]);
    const u16 half = static_cast<u16>(word[i / 2] >> i % 2 * 16);
    return *reinterpret_cast<const T*>(&half);
  }
  // Sets element i, which is 0.
  __device__ void set(int i, T x) {
    if constexpr (sizeof(T) == 4)
      word[i] = *reinterpret_cast<const u32*>(&x);
    else
      word[i / 2] |= u32{*reinterpret_cast<const u16*>(&x)} << i % 2 * 16;
  }
};

// Lanes of the block's Threads threads share a row: a power of two up to 32, or all of them, which a cluster of more
// than one block requires. Blocks are counted along x. Whole states that every row consists of whole packs and that all
// rows and vectors begin at multiples of a pack's bytes, up to 16.
template <int Threads, int Lanes, int Cluster, int Count, int Packs, bool Whole = false> struct RegisterRow {
  static_assert(Lanes <= 32 || Lanes == Threads);
  static_assert(Cluster == 1 || Lanes == Threads);
  static constexpr int kThreads = Threads, kCount = Count, kPacks = Packs, kCluster = Cluster;
  static constexpr bool kWhole = Whole;
  static constexpr int kStep = Lanes * Cluster * Count;  // columns from one pack of a thread to its next
  static constexpr int kHeld = kStep * Packs;            // columns of which the threads hold elements

  int row, column;  // of this thread's first element; up to Count - 1 columns before the row where it begins in a pack
  int left;         // elements of the row from `column` on; 0 or fewer where the thread holds none
  f32 x[Packs * Count];

  // Packs begin at column 0 and every Count columns. Every thread calls wait_for_cluster() before the first reduction.
  // `block` is the number of the block among those that have the rows.
  __device__ RegisterRow(int rows, int columns, u32 block = blockIdx.x) {
    if constexpr (Cluster > 1) cluster::arrive_relaxed();
    row = block / Cluster * (Threads / Lanes) + threadIdx.x / Lanes;
    column = (threadIdx.x % Lanes + (Cluster == 1 ? 0 : cluster::rank()) * Lanes) * Count;
    left = row < rows ? columns - column : 0;
  }
  // Packs begin where addresses of the row are multiples of a pack's bytes.
  template <class T>
  __device__ RegisterRow(const View<const T, 2>& of, int rows, int columns, u32 block = blockIdx.x)
      : RegisterRow(rows, columns, block) {
    if constexpr (Whole) return;
    const int before = reinterpret_cast<u64>(of.data + row * of.stride[0]) / sizeof(T) % Count;
    column -= before;
    if (row < rows) left += before;
  }
  // Goes `step` rows on.
  __device__ void advance(int step, int rows, int columns) {
    row = step < rows - row ? row + step : rows;
    left = row < rows ? columns - column : 0;
  }
  // Goes on along the row by as many times what its threads hold.
  __device__ void advance_parts(int parts) { column += parts * kHeld, left -= parts * kHeld; }
  // Returns when every block of the cluster has begun.
  __device__ void wait_for_cluster() const {
    if constexpr (Cluster > 1) cluster::wait();
  }

  // Of element i of pack p: its column, and whether the row has it.
  __device__ int column_of(int p, int i) const { return column + p * kStep + i; }
  __device__ bool holds(int p, int i) const {
    return Whole ? whole(p) : p * kStep + i < left && (p > 0 || column + i >= 0);
  }
  // Whether the row has all elements of pack p, and whether it has some but not all elements of one of the packs.
  __device__ bool whole(int p) const {
    return Whole ? p * kStep < left : p * kStep + Count <= left && (p > 0 || column >= 0);
  }
  __device__ bool ragged() const {
    return !Whole && left > 0 && (column < 0 || (left % kStep > 0 && left % kStep < Count));
  }

  // Calls f(pack, all), which may take the pack's elements to be the row's if `all`, for each pack.
  template <class F> __device__ void each_pack(F f) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) f(p, false);
  }
  // Rows that follow each other, of which there is one here, and which of two uses of shared memory a row has: what
  // AlikeRows has more of.
  template <class T, class F> __device__ void each(bool, const T* const (&)[2], F f) const {
    f();
  }
  __device__ int turn() const {
    return 0;
  }

  // The thread's elements of a row or a vector as they lie in memory; 0 where the row has none.
  template <class T> struct Raw { Words<T, Count> pack[Packs]; };

  // Loads the thread's elements; `begin` is the address of column 0. All whole packs are requested before any is used.
  template <class T> __device__ Raw<T> load_raw(const T* begin) const {
    Raw<T> in = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) load_whole(begin, p, in.pack[p]);
    if (aligned(begin) && !ragged()) return in;
#pragma unroll
    for (int p = 0; p < Packs; ++p) load_part(begin, p, in.pack[p]);
    return in;
  }
  // What load_raw returns, of a row whose packs lie at multiples of 16 bytes, without a load that waits for another: a
  // pack of which the row has a part is read whole if it ends before `end`, where the memory of the matrix does. Its
  // other elements may be those of the rows beside it until clear_outside() is called. If `end` is null, because these
  // may be written meanwhile, only the row is read.
  template <class T> __device__ Raw<T> load_units(const T* begin, const T* end) const {
    Raw<T> in = {};
    const int room = end == nullptr ? left : static_cast<int>(min(s64{kHeld}, s64{end - (begin + column)}));
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (p * kStep >= left) continue;
      if (p * kStep + Count <= room && (p > 0 || column >= 0 || end != nullptr))
        in.pack[p] = *reinterpret_cast<const Words<T, Count>*>(begin + column + p * kStep);
      else
        load_part<false>(begin, p, in.pack[p]);
    }
    return in;
  }
  // The packs of which a thread of the warp has a part only, a bit each. Called by all threads of the warp.
  __device__ u32 parts() const {
    u32 bits = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (!Whole && __any_sync(0xffffffff, p * kStep < left && !whole(p))) bits |= 1u << p;
    return bits;
  }
  // Sets the elements of pack p to 0 that are not the row's.
  template <class T> __device__ void clear_outside(Words<T, Count>& in, int p) const {
    constexpr int kEach = 4 / sizeof(T);  // elements of a word
#pragma unroll
    for (int i = 0; i < Count; i += kEach) {
      u32 mask = holds(p, i) ? (kEach == 1 ? ~0u : 0xffffu) : 0;
      if (kEach == 2 && holds(p, i + 1)) mask |= 0xffff0000u;
      in.word[i / kEach] &= mask;
    }
  }
  // The elements of a row whose whole packs lie in shared memory, pack p at from[p * Threads].
  template <class T> __device__ Raw<T> copied(const Words<T, Count>* from) const {
    static_assert(Whole);
    Raw<T> in = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (whole(p)) in.pack[p] = from[p * Threads];
    }
    return in;
  }
  // Loads the elements of a vector in the columns of pack p; 0 beyond its ends. Where packs of the row are aligned,
  // those of the vector need not be.
  template <class T> __device__ Words<T, Count> load_vector(const View<const T, 1>& from, int p) const {
    return load_anywhere(from.data, p);
  }
  template <int, class T> __device__ Words<T, Count> vector(const View<const T, 1>& from, int p) const {
    return load_vector(from, p);
  }
  // The same of a row or vector whose column 0 is at `begin`, wherever its packs lie.
  template <class T> __device__ Words<T, Count> load_anywhere(const T* begin, int p) const {
    Words<T, Count> in = {};
    if constexpr (!Whole && sizeof(in) == 16) {
      const u8* const first = reinterpret_cast<const u8*>(begin + column);
      // Elements from the multiple of 8 bytes before the thread's packs to them, and what a read goes beyond a pack.
      const int before = static_cast<int>(reinterpret_cast<u64>(first) % 8 / sizeof(T));
      const int behind = before == 0 ? 0 : int{8 / sizeof(T)} - before;
      if (p * kStep + Count + behind <= left && (p > 0 || column >= before)) {
        const uint4 words = unaligned::load_by_halves<sizeof(T)>(first + p * kStep * sizeof(T));
        return *reinterpret_cast<const Words<T, Count>*>(&words);
      }
    } else {
      load_whole(begin, p, in);
    }
    load_part<false>(begin, p, in);
    return in;
  }
  // What load_raw returns, of a row whose packs begin at column 0, wherever they lie.
  template <class T> __device__ Raw<T> load_raw_anywhere(const T* begin) const {
    Raw<T> in;
#pragma unroll
    for (int p = 0; p < Packs; ++p) in.pack[p] = load_anywhere(begin, p);
    return in;
  }

  // Sets x to f(element, column) and, beyond the ends of the row, to `outside`. With All the row has all elements.
  template <bool All = false, class T, class F> __device__ void set(const Raw<T>& in, f32 outside, F f) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int i = 0; i < Count; ++i)
        x[p * Count + i] = All || holds(p, i) ? f(to_f32(in.pack[p].at(i)), column_of(p, i)) : outside;
    }
  }
  template <class T, class F> __device__ void load(const View<const T, 2>& from, f32 outside, F f) {
    set(load_raw(from.data + row * from.stride[0]), outside, f);
  }

  // The pack of what element(i) returns. If Paired, two elements of 16 or 8 bits are rounded together, which takes
  // fewer instructions and more registers.
  template <class O, bool Paired = true, class F> __device__ static Pack<O, Count> rounded(F element) {
    Pack<O, Count> out;
    if constexpr (Paired && sizeof(O) == 2) {
#pragma unroll
      for (int i = 0; i < Count; i += 2) reinterpret_cast<u32*>(out.x)[i / 2] = ::pack<O>(element(i), element(i + 1));
    } else if constexpr (Paired && sizeof(O) == 1) {
#pragma unroll
      for (int i = 0; i < Count; i += 4)
        reinterpret_cast<u32*>(out.x)[i / 4] =
            ::pack<O>(element(i), element(i + 1)) | ::pack<O>(element(i + 2), element(i + 3)) << 16;
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i) out.x[i] = from_f32<O>(element(i));
    }
    return out;
  }
  // Stores, as element i of pack p, what f(p)(i) returns: f(p) loads what belongs to a pack.
  template <bool Paired = true, class O, class F> __device__ void store(const View<O, 2>& to, F f) const {
    O* const begin = to.data + row * to.stride[0];
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const auto element = f(p);
      store_pack(begin, p, rounded<O, Paired>(element));
    }
  }
  // The same of a row whose packs begin at column 0, wherever they lie: what a thread stores are the 16 bytes at an
  // aligned address that end in its pack, of which it has the first from its neighbour. Called by all threads.
  template <class O, class F> __device__ void store_anywhere(const View<O, 2>& to, int rows, int columns, F f) const {
    if constexpr (Whole || Count * sizeof(O) != 16) {
      store(to, f);
      return;
    }
    constexpr int kWidth = Lanes < 32 ? Lanes : 32;
    O* const begin = to.data + row * to.stride[0];
    const int lane = threadIdx.x % kWidth, end = row < rows ? columns : 0;
    const int shift = static_cast<int>(reinterpret_cast<u64>(begin + column) % 16 / sizeof(O));
    uint4 last = {};  // the pack before
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const auto element = f(p);
      const Pack<O, Count> out = rounded<O>(element);
      const uint4 own = reinterpret_cast<const uint4&>(out), given = lane == kWidth - 1 ? last : own;
      last = own;
      const uint4 before = shuffled(given, (lane + kWidth - 1) % kWidth, kWidth);
      const bool has_before = lane > 0 || (p > 0 && Lanes <= 32);
      const uint4 unit = shift == 0 ? own : unaligned::shifted<sizeof(O)>(before, own, 16 - shift * sizeof(O));
      store_unit(begin, column_of(p, 0) - shift, has_before ? 0 : shift, end, unit);
      // No thread has the last elements from here.
      if (lane == kWidth - 1 && (p == Packs - 1 || Lanes > 32))
        store_unit(begin, column_of(p, 0), Count - shift, end, own);
    }
  }
  // Stores x.
  template <class O> __device__ void store(const View<O, 2>& to) const {
    store(to, [this](int p) { return [this, p](int i) { return x[p * Count + i]; }; });
  }
  // Stores pack p of the row whose column 0 is at `begin`.
  template <class O> __device__ void store_pack(O* begin, int p, const Pack<O, Count>& out) const {
    O* const at = begin + column + p * kStep;
    if (whole(p) && aligned(begin)) {
      store_whole_pack(at, out);
      return;
    }
    if (Whole) return;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (holds(p, i)) at[i] = out.x[i];
  }

  // Combines one value of each thread of the row into one that all get. `turn` numbers the reductions of a launch.
  template <int Reductions, class F>
  __device__ f32 reduce(RowSmem<Threads, Cluster, Reductions>& smem, int turn, f32 value, f32 neutral, F f) const {
    if constexpr (Lanes <= 32 && Cluster == 1) return warp_reduce<Lanes>(value, f);
    return smem.cluster[turn](block_reduce<Threads>(value, smem.warps[turn], neutral, f), f);
  }
  template <int Reductions> __device__ f32 sum(RowSmem<Threads, Cluster, Reductions>& smem, int turn, f32 value) const {
    return reduce(smem, turn, value, 0.0F, [](f32 a, f32 b) { return a + b; });
  }
  template <int Reductions> __device__ f32 max(RowSmem<Threads, Cluster, Reductions>& smem, int turn) const {
    const f32 none = -infinity();
    f32 most = none;
#pragma unroll
    for (const f32 e : x) most = fmaxf(most, e);
    return reduce(smem, turn, most, none, [](f32 a, f32 b) { return fmaxf(a, b); });
  }

  // The sums over the row of several values of each thread. The block's threads may reuse `partial` after another
  // barrier of theirs.
  template <int Values> __device__ Sums<Values> sums(Sums<Values> (&partial)[Threads / 32], Sums<Values> values) const {
    static_assert(Cluster == 1);
    const auto add = [](const Sums<Values>& a, const Sums<Values>& b) { return a + b; };
    if constexpr (Lanes <= 32) return warp_reduce<Lanes>(values, add);
    return block_reduce<Threads>(values, partial, Sums<Values>{}, add);
  }

 private:
  __device__ static uint4 shuffled(const uint4& x, int lane, int width) {
    const auto word = [&](u32 w) { return __shfl_sync(0xffffffff, w, lane, width); };
    return make_uint4(word(x.x), word(x.y), word(x.z), word(x.w));
  }
  // Stores 16 bytes to `at` columns behind `begin`: elements from `first` on that lie before `end`.
  template <class O> __device__ static void store_unit(O* begin, int at, int first, int end, const uint4& x) {
    if (first == 0 && at >= 0 && at + Count <= end) {
      global::store_16(begin + at, x);
      return;
    }
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (i >= first && at + i >= 0 && at + i < end) begin[at + i] = reinterpret_cast<const Pack<O, Count>&>(x).x[i];
  }
  // Whether the thread's packs of the row whose column 0 is at `begin` lie at multiples of their bytes.
  template <class T> __device__ bool aligned(const T* begin) const {
    return Whole || reinterpret_cast<u64>(begin + column) % alignof(Pack<T, Count>) == 0;
  }
  // Loads pack p where one access can, and where none can.
  template <class T> __device__ void load_whole(const T* begin, int p, Words<T, Count>& in) const {
    if (whole(p) && aligned(begin)) in = *reinterpret_cast<const Words<T, Count>*>(begin + column + p * kStep);
  }
  template <bool Tried = true, class T> __device__ void load_part(const T* begin, int p, Words<T, Count>& in) const {
    if (Whole || (Tried && whole(p) && aligned(begin))) return;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (holds(p, i)) in.set(i, (begin + column)[p * kStep + i]);
  }
};
