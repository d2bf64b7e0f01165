#pragma once
// How threads read the sums that they round: four packs each at a time, while the next four are on their way. Each kind
// has pair(pack, i), two numbers of a current pack, and finish(), after which none is under way. Where a step has one
// sum, `advance(from, exists)` fetches the packs at `from`, 128 packs apart, and makes those fetched before the current
// ones.
#include "device/ptx/cp_async.cuh"
#include "device/tile/plus.cuh"

// Returns two numbers of a pack, the first for 0 and the last for 1.
__device__ inline float2 pair_of(const float4& pack, int i) {
  return i == 0 ? make_float2(pack.x, pack.y) : make_float2(pack.z, pack.w);
}

// In shared memory, for threads that have few registers.
template <int Threads> struct SharedSums { float4 packs[2][4][Threads]; };

template <int Threads> class SharedSumsReader {
 public:
  static constexpr int kThreads = Threads;

  __device__ SharedSumsReader(SharedSums<Threads>& in, int thread) : in_(in), thread_(thread) {}

  __device__ void advance(const float4* from, bool exists) {
    slot_ ^= 1;
#pragma unroll
    for (int i = 0; i < 4 && exists; ++i) cp_async::cg(smem_address(&in_.packs[slot_ ^ 1][i][thread_]), from + i * 128);
    cp_async::commit();
    cp_async::wait<1>();
  }
  __device__ float2 pair(int pack, int i) const {
    return reinterpret_cast<const float2*>(&in_.packs[slot_][pack][thread_])[i];
  }
  __device__ static void finish() {
    cp_async::wait<0>();
  }

 private:
  SharedSums<Threads>& in_;
  const int thread_;
  int slot_ = 1;
};

// In registers, read once they are needed.
template <int Threads> class RegisterSumsReader {
 public:
  static constexpr int kThreads = Threads;

  __device__ void advance(const float4* from, bool) {
    if (next_ != nullptr)
#pragma unroll
      for (int i = 0; i < 4; ++i) packs_[i] = next_[i * 128];
    next_ = from;
  }
  __device__ float2 pair(int pack, int i) const {
    return pair_of(packs_[pack], i);
  }
  __device__ static void finish() {}

 private:
  const float4* next_ = nullptr;
  float4 packs_[4];
};

// Of several splits, in registers, of which threads have enough for the next packs of each.
template <int Threads, int Splits> class SplitSumsReader {
 public:
  static constexpr int kThreads = Threads;

  // Fetches the packs at pack_of(split) of each split, and whether a tile has added to them, is_there(split).
  template <class PackOf, class IsThere>
  __device__ void advance(const PackOf& pack_of, const IsThere& is_there, bool exists) {
#pragma unroll
    for (int split = 0; split < Splits && exists; ++split) {
      there_[split] = is_there(split);
#pragma unroll
      for (int i = 0; i < 4; ++i) next_[split][i] = pack_of(split)[i * 128];
    }
  }
  // Makes the sums of the packs fetched before the current ones, first split to last, and returns whether a tile has
  // added to any.
  __device__ bool add() {
    bool any = false;
#pragma unroll
    for (int split = 0; split < Splits; ++split) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (there_[split]) packs_[i] = any ? plus(packs_[i], next_[split][i]) : next_[split][i];
      any |= there_[split];
    }
    return any;
  }
  __device__ float2 pair(int pack, int i) const {
    return pair_of(packs_[pack], i);
  }
  __device__ static void finish() {}

 private:
  float4 packs_[4], next_[Splits][4];
  bool there_[Splits];
};
