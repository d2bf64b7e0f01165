#pragma once
// Scans of the elements that the threads of a RegisterRow hold, always in the same order.
#include "device/reduce/register_row.cuh"
#include "device/tile/scan_operation.cuh"

// The part of the lane that is `distance` lower among Width lanes; the thread's own where there is none.
template <int Width, bool Segmented, class X> __device__ inline Part<X> shuffle_up(const Part<X>& part, int distance) {
  const X x = __shfl_up_sync(0xffffffff, part.x, distance, Width);
  if constexpr (!Segmented) return {x, false};
  return {x, __shfl_up_sync(0xffffffff, static_cast<int>(part.begins), distance, Width) != 0};
}
// That of lane `lane` of Width lanes.
template <int Width, bool Segmented, class X> __device__ inline Part<X> shuffle(const Part<X>& part, int lane) {
  const X x = __shfl_sync(0xffffffff, part.x, lane, Width);
  if constexpr (!Segmented) return {x, false};
  return {x, __shfl_sync(0xffffffff, static_cast<int>(part.begins), lane, Width) != 0};
}

// The parts of all lanes of Width up to this one, joined. Called by all lanes of the warp.
template <int Width, class Op>
__device__ inline Part<typename Op::X> warp_scan(Part<typename Op::X> part, const Op& op) {
#pragma unroll
  for (int distance = 1; distance < Width; distance *= 2) {
    const Part<typename Op::X> before = shuffle_up<Width, Op::kSegmented>(part, distance);
    if (threadIdx.x % Width >= distance) part = op.joined(before, part);
  }
  return part;
}
// What warp_scan gave the lane before; the neutral element in the first.
template <int Width, class Op>
__device__ inline Part<typename Op::X> preceding(const Part<typename Op::X>& scanned, const Op& op) {
  const Part<typename Op::X> before = shuffle_up<Width, Op::kSegmented>(scanned, 1);
  return threadIdx.x % Width == 0 ? op.neutral() : before;
}

// The parts of a block's warps. May be reused after another barrier of the block.
template <int Threads, int Packs, class X> struct ScanSmem { Part<X> part[Packs * (Threads / 32)]; };

// What scan_parts waits with for the threads that it is called by, where those are the block.
struct BlockBarrier {
  __device__ void operator()() const { __syncthreads(); }
};

// Replaces parts, which follow one another in the order of packs first and threads second, by what precedes each among
// those of Lanes lanes of a warp or of the block. Returns all of them joined. Called by Threads threads, which wait for
// each other by `barrier`.
template <int Threads, int Lanes, int Packs, class Op, class X = typename Op::X, class Wait = BlockBarrier>
__device__ inline Part<X> scan_parts(Part<X> (&part)[Packs], ScanSmem<Threads, Packs, X>& smem, const Op& op,
                                     Wait barrier = {}) {
  constexpr int kWidth = Lanes <= 32 ? Lanes : 32, kWarps = Threads / 32, kParts = Packs * kWarps;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Part<X> all = op.neutral();
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    const Part<X> scanned = warp_scan<kWidth>(part[p], op);
    part[p] = preceding<kWidth>(scanned, op);
    if constexpr (Lanes <= 32) {
      part[p] = op.joined(all, part[p]);
      all = op.joined(all, shuffle<kWidth, Op::kSegmented>(scanned, kWidth - 1));
    } else if (lane == 31) {
      smem.part[p * kWarps + warp] = scanned;
    }
  }
  if constexpr (Lanes <= 32) return all;
  barrier();
  // Invariant: `all` is what precedes the warps' part number `first`. Every warp scans them, 32 at a time.
#pragma unroll
  for (int first = 0; first < kParts; first += 32) {
    const Part<X> scanned = warp_scan<32>(first + lane < kParts ? smem.part[first + lane] : op.neutral(), op);
    const Part<X> before = op.joined(all, preceding<32>(scanned, op));
#pragma unroll
    for (int p = first / kWarps; p < Packs && p * kWarps < first + 32; ++p)
      part[p] = op.joined(shuffle<32, Op::kSegmented>(before, p * kWarps - first + warp), part[p]);
    all = op.joined(all, shuffle<32, Op::kSegmented>(scanned, 31));
  }
  return all;
}

// The elements that a thread holds, as they lie in memory, and where segments begin among them.
template <class Row, class T, class Op> struct ScannedRow {
  using X = typename Op::X;
  static constexpr int kPacks = Row::kHeld / Row::kStep;

  const Row& row;
  const Op& op;
  typename Row::template Raw<T> in;
  u32 begins[kPacks];  // bit i: a segment begins with element i of the pack

  __device__ ScannedRow(const Row& row, const Op& op, const View<const T, 2>& from, const View<const u8, 2>& flags)
      : ScannedRow(row, op, row.load_raw(from.data + row.row * from.stride[0]), flags) {}
  __device__ ScannedRow(const Row& row, const Op& op, const typename Row::template Raw<T>& in,
                        const View<const u8, 2>& flags)
      : row(row), op(op), in(in) {
    if constexpr (Op::kSegmented) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) begins[p] = load_flags(flags.data + row.row * flags.stride[0], p);
    }
  }

  // Sets part[p] to the elements of pack p, joined.
  __device__ void join(Part<X> (&part)[kPacks]) const {
    if (whole())
      join_elements<true>(part);
    else
      join_elements<false>(part);
  }
  // Given 0, which the compiler must not know, has it convert the elements again from here on: as words they take
  // fewer registers than as numbers.
  __device__ void convert_again(u32 zero) {
#pragma unroll
    for (auto& pack : in.pack)
#pragma unroll
      for (u32& word : pack.word) word ^= zero;
  }
  // Stores the results; before[p] is what precedes pack p.
  template <bool Exclusive, class O> __device__ void store(const View<O, 2>& to, Part<X> (&before)[kPacks]) const {
    if (whole())
      store_results<true, Exclusive>(to, before);
    else
      store_results<false, Exclusive>(to, before);
  }

 private:
  // Whether the row has all elements of the thread's packs.
  __device__ bool whole() const {
    return row.whole(0) && row.whole(kPacks - 1);
  }
  // What element i of pack p contributes; the neutral element where the row has none.
  template <bool Whole> __device__ Part<X> element(int p, int i) const {
    if (!Whole && !row.holds(p, i)) return op.neutral();
    return {op.element(in.pack[p].at(i), row.row, row.column_of(p, i)), Op::kSegmented && (begins[p] >> i & 1) != 0};
  }
  template <bool Whole> __device__ void join_elements(Part<X> (&part)[kPacks]) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      part[p] = element<Whole>(p, 0);
#pragma unroll
      for (int i = 1; i < Row::kCount; ++i) part[p] = op.joined(part[p], element<Whole>(p, i));
    }
  }
  template <bool Whole, bool Exclusive, class O>
  __device__ void store_results(const View<O, 2>& to, Part<X> (&before)[kPacks]) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      Pack<O, Row::kCount> out;
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i) {
        const X y = op.template next<Exclusive>(before[p], element<Whole>(p, i));
        out.x[i] = op.template result<O>(y, row.row, row.column_of(p, i));
      }
      row.store_pack(to.data + row.row * to.stride[0], p, out);
    }
  }
  __device__ u32 load_flags(const u8* begin, int p) const {
    const u8* const at = begin + row.column_of(p, 0);
    Pack<u8, Row::kCount> flags = {};
    if (row.whole(p) && reinterpret_cast<u64>(at) % Row::kCount == 0) {
      flags = *reinterpret_cast<const Pack<u8, Row::kCount>*>(at);
    } else {
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i)
        if (row.holds(p, i)) flags.x[i] = at[i];
    }
    u32 bits = 0;
#pragma unroll
    for (int i = 0; i < Row::kCount; ++i) bits |= (flags.x[i] != 0 ? 1U : 0U) << i;
    return bits;
  }
};

// Scans the rows of a block, of which Lanes threads keep each in registers, as packs of Count elements, before its
// results are stored: `to` may be `from`. `flags` says where segments begin. Called by all Threads threads.
template <bool Exclusive, int Threads, int Lanes, int Packs, int Count, class T, class O, class Op>
__device__ inline void scan_rows(const View<const T, 2>& from, const View<const u8, 2>& flags, const View<O, 2>& to,
                                 int rows, int columns, const Op& op) {
  __shared__ ScanSmem<Threads, Packs, typename Op::X> smem;
  const RegisterRow<Threads, Lanes, 1, Count, Packs> row(from, rows, columns);
  const ScannedRow<decltype(row), T, Op> scanned(row, op, from, flags);
  Part<typename Op::X> part[Packs];
  scanned.join(part);
  scan_parts<Threads, Lanes>(part, smem, op);
  scanned.template store<Exclusive>(to, part);
}
