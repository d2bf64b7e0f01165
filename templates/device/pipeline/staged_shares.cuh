#pragma once
// How sums of the gradients of queries are added in a fixed order: two consumer warpgroups leave their shares of a
// step's sums in shared memory and go on, and one thread adds both when their turn has come.
#include "device/ptx/acquire.cuh"
#include "device/ptx/bulk.cuh"
#include "device/ptx/bulk_group.cuh"
#include "device/ptx/bulk_reduce.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/tile/query_sums.cuh"

struct StagedShares {
  alignas(128) f32 sums[2][kSums];
  Barrier full, empty;

  __device__ void init() {
    full.init(8);
    empty.init(1);
  }
  // Leaves a consumer's registers, as its index-th share, once those before have been read.
  template <class Tile> __device__ void put(int consumer, u32 index, const Tile& x) {
    auto* const to = reinterpret_cast<float4*>(sums[consumer]) + threadIdx.x % 128;
    empty.wait(index % 2 ^ 1);
#pragma unroll
    for (int i = 0; i < kSums / 512; ++i)
      to[i * 128] = make_float4(x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
    fence::proxy_async_shared();
    announce();
  }
  // Leaves nothing, for a tile without steps.
  __device__ void put_none(u32 index) {
    empty.wait(index % 2 ^ 1);
    announce();
  }
  // Adds the shares, which are neighbours in `to`, once `*rank` tiles have added theirs, and counts the tile: the
  // `turn`-th, of which the first stores its shares. Called by one thread.
  __device__ void add(f32* to, u32* rank, u32 turn) {
    if (turn == 0) {
      bulk::store(to, sums, sizeof(sums));
    } else {
      global::await(rank, turn);
      bulk::reduce<Reduction::add>(to, sums[0], sizeof(sums));
    }
    bulk::commit();
    bulk::wait_read<0>();
    empty.arrive();
    bulk::wait<0>();
    global::store_release(rank, turn + 1);
  }

 private:
  __device__ void announce() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) full.arrive();
  }
};
