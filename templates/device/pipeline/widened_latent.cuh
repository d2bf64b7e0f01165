#pragma once
// The rows of an e4m3 cache of latent attention, converted to numbers of 16 bits on their way to shared memory by a
// warpgroup, whose warps go on without each other. T, E, KD, HD and BN are the template's.
#include "device/pipeline/attention_latent.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/lane.cuh"
#include "device/ptx/ld.cuh"

#ifndef TMA_JIT_REFERENCE

// Of the left half of the values of a step, of the right half and of the columns beyond, each thread has some parts of
// 16 bytes. As soon as it has stored one, it reads another of what comes next, so that loads are under way while it
// converts.
template <class Work> class WidenedLatent {
 public:
  __device__ WidenedLatent(Smem& smem, const View<const E, 3>& C, const PagedKeys<1>& table, const Work& work)
      : smem_(smem), cache_(C), table_(table), work_(work) {}

  // Loads the keys of the block's steps.
  __device__ void load() {
    Rows rows = found(work_.rounds.first);
#pragma unroll
    for (int i = 0; i < kHalfParts; ++i) part_[i] = read(rows, i / 4, Parts::of_half(0), i * 8);
#pragma unroll 1
    for (int round = work_.rounds.first; round < work_.rounds.end; ++round) {
      put_left(rows);
      put_rest(rows);
      rows = found(round + 1);
      put_right(rows);
      ring_.advance();
    }
  }

 private:
  static constexpr int kHalfParts = BN * kHalf / 16 / kWarpgroup, kRestParts = BN * (KD - HD) / 16 / kWarpgroup;
  static constexpr int kOfLane = BN / 32;  // rows that a lane looks up
  static_assert(kHalf == 256 && KD - HD == 64 && kRestParts == kOfLane);

  // Where the rows of a step are in the cache; none where that is negative.
  struct Rows {
    s64 at[kOfLane];
  };

  __device__ Rows found(int round) const {
    Rows rows;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      const int key = work_.key(round, 0) + i * 32 + threadIdx.x % 32;
      rows.at[i] = -1;
      if (round >= work_.rounds.end || key >= work_.keys) continue;
      const Place place = table_.place(key);
      if (table_.has(place.page)) rows.at[i] = place.page * cache_.stride[0] + place.row * cache_.stride[1];
    }
    return rows;
  }
  // Where a thread's parts are: from `row` and `column` on, of rows that are a multiple of 8 apart. It is computed anew
  // for each batch, because the compiler would keep every address.
  struct Parts {
    int row, column;
    static __device__ Parts of_half(int half) {
      const int thread = thread_anew();
      return {thread / 16, half * kHalf + thread % 16 * 16};
    }
    static __device__ Parts of_rest() {
      const int thread = thread_anew();
      return {thread / 4, HD + thread % 4 * 16};
    }
    static __device__ int thread_anew() { return threadIdx.x / 32 % 4 * 32 + lane_anew(); }
  };

  // Reads the part that is `down` rows below the first. Its row is the index-th that another lane has looked up.
  __device__ uint4 read(const Rows& rows, int index, const Parts& from, int down) const {
    const s64 at = __shfl_sync(0xffffffff, static_cast<long long>(rows.at[index]), (from.row + down) % 32);
    return global::load_16_if(at >= 0, cache_.data + at + from.column);
  }
  // Stores one likewise. Every other four lanes store their upper eight numbers first: so no two of eight lanes use the
  // same bank.
  __device__ void put(LatentTile& tile, const uint4& bytes, const Parts& to, int down) const {
    const bool upper = to.column / 64 % 2;
    const bool exact = has_nan(bytes.x) || has_nan(bytes.y) || has_nan(bytes.z) || has_nan(bytes.w);
    const auto eight = [&](bool second) {
      const u32 a = second ? bytes.z : bytes.x, b = second ? bytes.w : bytes.y;
      uint2 left = widen_four<T>(a), right = widen_four<T>(b);
      if (exact) {
        left = make_uint2(widen<T>(a), widen<T>(a >> 16));
        right = make_uint2(widen<T>(b), widen<T>(b >> 16));
      }
      T* const at = &tile.at(to.row, to.column + second * 8) + down * LatentTile::kPanel;
      *reinterpret_cast<uint4*>(at) = make_uint4(left.x, left.y, right.x, right.y);
    };
    eight(upper);
    eight(!upper);
  }
  __device__ u32 acquire(Pipeline<2>& pipeline) const {
    pipeline.empty[ring_.slot].wait(ring_.phase ^ 1);
    return ring_.slot;
  }
  // Tells that the warp's part of a slot has been stored.
  __device__ void tell(Pipeline<2>& pipeline, u32 slot) const {
    tma::fence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) pipeline.full[slot].arrive();
  }

  // The columns beyond take the registers of the first parts of the right half.
  __device__ void put_left(const Rows& rows) {
    const u32 slot = acquire(smem_.half[0]);
    const Parts left = Parts::of_half(0), rest = Parts::of_rest(), right = Parts::of_half(1);
#pragma unroll
    for (int i = 0; i < kHalfParts; ++i) {
      put(smem_.k[slot], part_[i], left, i * 8);
      part_[i] = i < kRestParts ? read(rows, i, rest, i * 32) : read(rows, i / 4, right, i * 8);
    }
    tell(smem_.half[0], slot);
  }
  __device__ void put_rest(const Rows& rows) {
    const u32 slot = acquire(smem_.rest);
    const Parts rest = Parts::of_rest(), right = Parts::of_half(1);
#pragma unroll
    for (int i = 0; i < kRestParts; ++i) {
      put(smem_.k[slot], part_[i], rest, i * 32);
      part_[i] = read(rows, i / 4, right, i * 8);
    }
    tell(smem_.rest, slot);
  }
  __device__ void put_right(const Rows& after) {
    const u32 slot = acquire(smem_.half[1]);
    const Parts right = Parts::of_half(1), left = Parts::of_half(0);
#pragma unroll
    for (int i = 0; i < kHalfParts; ++i) {
      put(smem_.k[slot], part_[i], right, i * 8);
      part_[i] = read(after, i / 4, left, i * 8);
    }
    tell(smem_.half[1], slot);
  }

  Smem& smem_;
  const View<const E, 3>& cache_;
  const PagedKeys<1> table_;
  const Work& work_;
  Ring<2> ring_;  // of all three
  uint4 part_[kHalfParts];
};

#endif
