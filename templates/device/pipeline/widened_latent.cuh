#pragma once
// The rows of an e4m3 cache of latent attention, converted to f16 in shared memory by a warpgroup, whose warps go on
// without each other. E, KD, HD and BN are the template's.
#include "device/pipeline/attention_latent.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/lane.cuh"
#include "device/tile/half_rows.cuh"

#ifndef TMA_JIT_REFERENCE

// A warp has 16 rows of each step. It copies their bytes to the first half of where their numbers are to be, and then
// reads all of them before it stores any. What follows a wait for a slot are only instructions for the bytes
// themselves: the other warps of the block wait for them.
template <class Work> class WidenedLatent {
 public:
  __device__ WidenedLatent(Smem& smem, const View<const E, 3>& C, const PagedKeys<1>& table, const Work& work)
      : smem_(smem), cache_(C), table_(table), work_(work) {}

  // Loads the keys of the block's steps.
  __device__ void load() {
    Sources from = find(work_.rounds.first);
#pragma unroll 1
    for (int round = work_.rounds.first; round < work_.rounds.end; ++round) {
      copy_half(from, 0);
      copy_rest(from);
      copy_half(from, 1);
      from = find(round + 1);
      cp_async::wait<2>();
      widen_half(0);
      cp_async::wait<1>();
      widen_rest();
      cp_async::wait<0>();
      widen_half(1);
      ring_.advance();
    }
  }

 private:
  static constexpr int kRows = BN / 4;                // of a warp
  static constexpr int kAcross = 8, kRestAcross = 4;  // lanes that copy 16 bytes each of a row at a time
  static constexpr int kDown = 32 / kAcross, kRestDown = 32 / kRestAcross;
  static constexpr int kLines = kHalf / 128;  // of a row of a half, of 128 bytes
  static constexpr int kPanel = LatentTile::kPanel, kRestPanel = HD / kPanel;
  static_assert(kRows == 16 && kPanel == 64 && KD - HD == 64 && kHalf % 128 == 0);

  // What a lane copies of a step: from where in the cache, of every fourth row of the halves and every eighth of the
  // rest; nothing of rows that do not exist.
  struct Sources {
    const E *half[kRows / kDown], *rest[kRows / kRestDown];
  };

  __device__ Sources find(int round) const {
    const int lane = threadIdx.x % 32, key = work_.key(round, 0) + first() + lane % kRows;
    const E* row = nullptr;
    if (round < work_.rounds.end && key < work_.keys) {
      const Place place = table_.place(key);
      if (table_.has(place.page)) row = cache_.data + place.page * cache_.stride[0] + place.row * cache_.stride[1];
    }
    Sources from;
#pragma unroll
    for (int i = 0; i < kRows / kDown; ++i)
      from.half[i] = column_of(row, i * kDown + lane / kAcross, lane % kAcross * 16);
#pragma unroll
    for (int i = 0; i < kRows / kRestDown; ++i)
      from.rest[i] = column_of(row, i * kRestDown + lane / kRestAcross, HD + lane % kRestAcross * 16);
    return from;
  }
  // Returns where a column is of the row that another lane has found.
  __device__ static const E* column_of(const E* row, int lane, int column) {
    const u64 at = __shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(row), lane);
    return at == 0 ? nullptr : reinterpret_cast<const E*>(at) + column;
  }
  // The warp's first row.
  __device__ static int first() {
    return threadIdx.x / 32 % 4 * kRows;
  }

  // Where the bytes of a row are: of a half in its first panels, a line in each, of the rest in its panel.
  __device__ static Factor* bytes_of(LatentTile& tile, int panel, int row, int column) {
    return &tile.panel[panel][first() + row][half_row_byte(row, column) / int{sizeof(Factor)}];
  }
  __device__ void copy(Factor* to, const E* from, int further) const {
    const bool exists = from != nullptr;
    cp_async::cg(smem_address(to), exists ? from + further : cache_.data, exists ? 16 : 0);
  }
  __device__ void copy_half(const Sources& from, int half) const {
    LatentTile& tile = acquire(smem_.half[half]);
    const int down = lane_anew() / kAcross, along = lane_anew() % kAcross;
    Factor* const to = bytes_of(tile, half * (kHalf / kPanel), down, along * 16);
#pragma unroll
    for (int i = 0; i < kRows / kDown; ++i)
#pragma unroll
      for (int line = 0; line < kLines; ++line)
        copy(to + line * kPanelSize + i * kDown * kPanel, from.half[i], half * kHalf + line * 128);
    cp_async::commit();
  }
  __device__ void copy_rest(const Sources& from) const {
    LatentTile& tile = acquire(smem_.rest);
    const int down = lane_anew() / kRestAcross, along = lane_anew() % kRestAcross;
    Factor* const to = bytes_of(tile, kRestPanel, down, along * 16);
#pragma unroll
    for (int i = 0; i < kRows / kRestDown; ++i) copy(to + i * kRestDown * kPanel, from.rest[i], 0);
    cp_async::commit();
  }

  // Converts Lines lines of 64 bytes, two from a panel's bytes, to as many panels from `panel` on. A lane has 16
  // numbers of every eighth row, so that no two of eight lanes use the same bank.
  template <int Lines> __device__ void widen(int panel) const {
    LatentTile& tile = smem_.k[ring_.slot];
    const int down = lane_anew() / 4, along = lane_anew() % 4;
    const Factor* const lower = bytes_of(tile, panel, down, along * 16);
    const Factor* const upper = bytes_of(tile, panel, down, along * 16 + 64);
    uint4 bytes[kRows / 8][Lines];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kRows / 8; ++i)
#pragma unroll
      for (int line = 0; line < Lines; ++line)
        bytes[i][line] =
            *reinterpret_cast<const uint4*>((line % 2 == 0 ? lower : upper) + line / 2 * kPanelSize + i * 8 * kPanel);
    __syncwarp();
    Factor* const left = &tile.at(first() + down, panel * kPanel + along * 16);
    Factor* const right = &tile.at(first() + down, panel * kPanel + along * 16 + 8);
#pragma unroll
    for (int i = 0; i < kRows / 8; ++i)
#pragma unroll
      for (int line = 0; line < Lines; ++line) {
        const int further = line * kPanelSize + i * 8 * kPanel;
        const uint4& of = bytes[i][line];
        put(left + further, of.x, of.y), put(right + further, of.z, of.w);
      }
  }
  __device__ static void put(Factor* to, u32 a, u32 b) {
    const uint2 first = widen_four(a), second = widen_four(b);
    *reinterpret_cast<uint4*>(to) = make_uint4(first.x, first.y, second.x, second.y);
  }
  __device__ void widen_half(int half) const {
    widen<kHalf / kPanel>(half * (kHalf / kPanel));
    tell(smem_.half[half]);
  }
  __device__ void widen_rest() const {
    widen<1>(kRestPanel);
    tell(smem_.rest);
  }
  __device__ LatentTile& acquire(Pipeline<2>& pipeline) const {
    pipeline.empty[ring_.slot].wait(ring_.phase ^ 1);
    return smem_.k[ring_.slot];
  }
  // Tells that the warp's part of the present slot has been stored.
  __device__ void tell(Pipeline<2>& pipeline) const {
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) pipeline.full[ring_.slot].arrive();
  }

  static constexpr int kPanelSize = BN * kPanel;

  Smem& smem_;
  const View<const E, 3>& cache_;
  const PagedKeys<1> table_;
  const Work& work_;
  Ring<2> ring_;  // of all three
};

#endif
