#pragma once
// How threads read the sums that they round: four packs each at a time, while the next four are on their way. Each kind
// has `advance(from, exists)`, which fetches those at `from`, 128 packs apart, and makes those fetched before the
// current ones; add(from, sums), which adds others to the current ones, or puts them in their place unless these are
// `sums`; pair(pack, i), two numbers of a current one; and finish(), after which none is under way.
#include "device/ptx/cp_async.cuh"

__device__ inline void add_pack(float4& to, const float4& from, bool sum) {
  to = sum ? make_float4(to.x + from.x, to.y + from.y, to.z + from.z, to.w + from.w) : from;
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
  __device__ void add(const float4* from, bool sums) {
#pragma unroll
    for (int i = 0; i < 4; ++i) add_pack(in_.packs[slot_][i][thread_], from[i * 128], sums);
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
  __device__ void add(const float4* from, bool sums) {
#pragma unroll
    for (int i = 0; i < 4; ++i) add_pack(packs_[i], from[i * 128], sums);
  }
  __device__ float2 pair(int pack, int i) const {
    const float4& x = packs_[pack];
    return i == 0 ? make_float2(x.x, x.y) : make_float2(x.z, x.w);
  }
  __device__ static void finish() {}

 private:
  const float4* next_ = nullptr;
  float4 packs_[4];
};
