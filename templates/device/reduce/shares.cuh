#pragma once
// The sums of the blocks of a cluster, which are exchanged through distributed shared memory: each owner adds up those
// of its rows, in the order of the blocks' ranks.
#include "device/ptx/cluster.cuh"
#include "device/tile/four.cuh"
#include "device/tile/register_tile.cuh"

// What each of Threads threads of a block contributes to the share of each owner: Eights times four sums.
template <class X, int Owners, int Eights, int Threads> struct Shares {
  Four<X> x[Owners][Eights][Threads];

  // Writes this thread's sums of all owners' rows, one owner's after the other.
  template <class Sums> __device__ void publish(const Sums& sums) {
#pragma unroll
    for (int owner = 0; owner < Owners; ++owner) {
#pragma unroll
      for (int j = 0; j < Eights; ++j) x[owner][j][threadIdx.x] = four_of(&sums.x[(owner * Eights + j) * 4]);
    }
  }

  // Adds the sums of all of Blocks blocks for one owner's rows, after a barrier of the cluster.
  template <int Blocks, class Share> __device__ void collect(int owner, Share& share) const {
    share.fill(0);
#pragma unroll 1
    for (int rank = 0; rank < Blocks; ++rank) {
      const Shares& of_block = *cluster::map(this, rank);
#pragma unroll
      for (int j = 0; j < Eights; ++j) add_four(&share.x[4 * j], of_block.x[owner][j][threadIdx.x]);
    }
  }
};
