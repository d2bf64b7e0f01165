#pragma once
// The rows of a cache of latent attention as they are stored, copied to shared memory by a warpgroup with cp.async, 16
// bytes a lane. E, KD and BN are the template's.
#include "device/pipeline/key_copy.cuh"
#include "device/pipeline/pipeline.cuh"

#ifndef TMA_JIT_REFERENCE

// Each of a warp's lanes copies 16 bytes in 64 of two of its 16 rows of a step. Rows that do not exist become zeros.
template <class Smem, class Work> class CacheRows {
 public:
  __device__ CacheRows(Smem& smem, const View<const E, 3>& C, const PagedKeys<1>& table, const Work& work)
      : smem_(smem), cache_(C), table_(table), work_(work) {}

  // Loads the rows of the block's steps.
  __device__ void load() {
    Sources from = find(work_.rounds.first);
#pragma unroll 1
    for (int round = work_.rounds.first; round < work_.rounds.end; ++round, ring_.advance()) {
      const Sources ahead = find(round + 1);
      smem_.ring.empty[ring_.slot].wait(ring_.phase ^ 1);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool exists = from.row[i] != nullptr;
        const E* const source = exists ? from.row[i] : cache_.data;
#pragma unroll
        for (int column = 0; column < KD; column += 64)
          cp_async::cg(smem_address(&smem_.rows[ring_.slot].at(row(i), column + along())),
                       source + (exists ? column : 0), exists ? 16 : 0);
      }
      cp_async::arrive_noinc(smem_.ring.full[ring_.slot]);
      from = ahead;
    }
    cp_async::wait_all();  // no thread exits while its copies are under way
  }

 private:
  struct Sources {
    const E* row[2];
  };

  __device__ static int row(int i) {
    return threadIdx.x / 32 % 4 * (BN / 4) + threadIdx.x % 32 / 4 + i * 8;
  }
  __device__ static int along() {
    return threadIdx.x % 4 * 16;
  }
  __device__ Sources find(int round) const {
    Sources from = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int key = work_.key(round, 0) + row(i);
      if (round >= work_.rounds.end || key >= work_.keys) continue;
      const Place place = table_.place(key);
      if (table_.has(place.page))
        from.row[i] = cache_.data + place.page * cache_.stride[0] + place.row * cache_.stride[1] + along();
    }
    return from;
  }

  Smem& smem_;
  const View<const E, 3>& cache_;
  const PagedKeys<1> table_;
  const Work& work_;
  Ring<3> ring_;
};

#endif
