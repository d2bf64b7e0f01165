#pragma once
// Latent attention over a cache of e4m3 by wgmma. Rows of the cache stay in shared memory as they are stored, and are
// converted to f16 on their way to the registers from which the tensor cores read the first factor: the products are
// transposed, keys by queries and elements of values by queries. Two warpgroups compute the scores of steps in turn,
// consumer 0 those of the first of two; each has half of the elements of the values, and gets the other's weights
// through shared memory. T, E, KD, HD, BN, ROWS and SMEM are the template's, and WarpPart the results that a cluster
// combines.
#include "device/pipeline/halved_queries.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/ex2.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kHalf = HD / 2, kConsumers = 2 * kWarpgroup, kStages = 3;

using CacheTile = SharedTile<E, BN, KD, 64>;          // rows as they are stored
using Weights = SharedTile<f16, BN, ROWS>;            // keys by queries
using Columns = RegisterTile<layout::Mma<16, ROWS>>;  // of a warp: 16 keys or elements of values by the queries
using Factor = wgmma::Words<f16, 32>;                 // 64 keys or elements by 32 of what is summed over

struct Smem {
  SharedTile<f16, ROWS, KD> q;  // with the columns of each 64 in the order of place_of
  union {
    struct {
      CacheTile rows[kStages];
      Weights weights[kStages];
    };
    WarpPart part;
  };
  // In units in which weights are powers of two: what products are multiplied by, what each consumer's sums of values
  // are relative to, near its greatest product, and by how much its last step that raised this did so.
  f32 factor[ROWS], base[2][ROWS], rise[2][ROWS];
  int last[ROWS];          // key that each row sees
  int seen_by_all;         // keys that every token sees
  Range rounds;            // steps of the block
  f32 across[2][4][ROWS];  // of each consumer's warps: maxima, and sums at the end
  int raised[2];           // the last step of each consumer that raised its base, plus 1
  Pipeline<kStages> ring;

  // Called by one thread, followed by a barrier of the block.
  __device__ void init() {
    raised[0] = raised[1] = 0;
    ring.init(kConsumers / 32, kWarpgroup);
  }
};
static_assert(sizeof(Smem) <= SMEM && ROWS == 64 && BN == 64);

// One consumer. Uses the named barriers 1 to 5. What its loop needs seldom is in shared memory, not in registers.
class LatentAttention {
 public:
  __device__ explicit LatentAttention(Smem& smem) : smem_(smem) {
#pragma unroll
    for (Columns& part : o_) part.fill(0);
    sums_[0] = sums_[1] = 0;
  }

  // Adds the block's steps, of which this consumer scores every second one while the other adds values. Loop invariant:
  // before a step, the sums of all steps but the one before are complete, relative to `base`.
  __device__ void attend() {
    const int first = smem_.rounds.first, end = smem_.rounds.end;
    int step = first + own_;
#pragma unroll 1
    for (; step < end; step += 2) {
      score(step);
      if (step > first) receive(step - 1);
      f32 sum[16];
      weigh(step, sum);
      if (step > first) add(step - 1);
      follow(own_, step);
#pragma unroll
      for (int i = 0; i < 2; ++i) sums_[i] += sum[i];
      add(step);
      wgmma::wait<0>();
    }
    if (step != end || end == first) return;
    receive(end - 1);
    add(end - 1);
    wgmma::wait<0>();
  }

  // Leaves the results in `smem.part`.
  __device__ void store() {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; ++i) smem_.across[own_][warp()][summed(i)] = sums_[i];
    sync(5, kConsumers);  // the tiles are free for the results, too
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
      for (int i = 0; i < Columns::Layout::kRegisters; i += 4)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int element = own_ * kHalf + m * 64 + warp() * 16 + lane / 4 * 2;
          *reinterpret_cast<float2*>(&smem_.part.value[Columns::Layout::column(i) + j][element]) =
              make_float2(o_[m].x[i + j], o_[m].x[i + j + 2]);
        }
    if (threadIdx.x >= ROWS) return;
    f32 sum = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) sum += smem_.across[w / 4][w % 4][threadIdx.x];
    smem_.part.state[threadIdx.x] = make_float2(sum == 0 ? kLeast : smem_.base[0][threadIdx.x] / kLog2e, sum);
  }

 private:
  __device__ static int warp() {
    return threadIdx.x % kWarpgroup / 32;
  }
  // Returns the slot of a step, and its phase.
  __device__ Ring<kStages> at(int step) const {
    const u32 index = step - smem_.rounds.first;
    return {index % kStages, index / kStages & 1};
  }
  __device__ void meet() const {
    sync(3 + own_, kWarpgroup);
  }
  // Two neighbouring columns' values of an array in shared memory.
  __device__ static float2 pair(const f32 (&from)[ROWS], int i) {
    return *reinterpret_cast<const float2*>(&from[Columns::Layout::column(i)]);
  }

  // Returns a step's rows once they are there.
  __device__ const CacheTile& wait(int step) {
    const Ring<kStages> ring = at(step);
    smem_.ring.full[ring.slot].wait(ring.phase);
    return smem_.rows[ring.slot];
  }
  // Computes the scores of a step, transposed. A chunk of 64 elements is converted while the one before is multiplied.
  __device__ void score(int step) {
    const CacheTile& rows = wait(step);
    const int row = warp() * 16 + threadIdx.x % 32 / 4, along = threadIdx.x % 4 * 16;
    Factor factor[2];
    s_.fill(0);
    uint4 upper = rows.template at<uint4>(row, along), lower = rows.template at<uint4>(row + 8, along);
#pragma unroll
    for (int c = 0; c < KD / 64; ++c) {
      const u32 bytes[2][4] = {{upper.x, upper.y, upper.z, upper.w}, {lower.x, lower.y, lower.z, lower.w}};
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        Factor& own = factor[part];
        if (c > 0) wgmma::wait<1>();
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const uint2 wide = widen_four(bytes[i][part * 2 + k]);
            own.x[k][i] = wide.x, own.x[k][i + 2] = wide.y;
          }
        if (part == 1 && c + 1 < KD / 64) {
          upper = rows.template at<uint4>(row, (c + 1) * 64 + along);
          lower = rows.template at<uint4>(row + 8, (c + 1) * 64 + along);
        }
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 2; ++k)
          wgmma::Mma<ROWS, f16>::template rs<wgmma::Mode<>>(s_.x, own.x[k], smem_.q.k_major(0, c) + part * 4 + k * 2,
                                                            true);
        wgmma::commit();
      }
    }
    wgmma::wait<0>();
  }
  // Converts the scores to weights, which it gives to both consumers with what raises the base. The first two of `sum`
  // become the sums of the warp's weights of the columns of which this lane has the sums.
  __device__ void weigh(int step, f32 (&sum)[16]) {
    bool above = own_ == 0 && step == smem_.rounds.first;
#pragma unroll
    for (int i = 0; i < Columns::Layout::kRegisters; i += 4) {
      const float2 factor = pair(smem_.factor, i), base = pair(smem_.base[own_], i);
#pragma unroll
      for (int j = 0; j < 4; j += 2)
        s_.x[i + j] = fmaf(s_.x[i + j], factor.x, -base.x), s_.x[i + j + 1] = fmaf(s_.x[i + j + 1], factor.y, -base.y);
    }
    if (step * BN + BN > smem_.seen_by_all) mask(step * BN + warp() * 16);
#pragma unroll
    for (f32 x : s_.x) above |= x > kSlack;
    if (__any_sync(0xffffffff, above) && threadIdx.x % 32 == 0) atomicMax(&smem_.raised[own_], step + 1);
    meet();
    if (smem_.raised[own_] == step + 1) raise(step == smem_.rounds.first);
    s_.map([](f32 x) { return ex2(x); });
    ::store(smem_.weights[at(step).slot], warp() * 16, 0, s_);
    tma::fence();
    meet();
    arrive(1 + own_, kConsumers);
    sum_keys(sum);
  }
  // Masks the keys that a query does not see, from the warp's first on.
  __device__ void mask(int first) {
#pragma unroll
    for (int i = 0; i < Columns::Layout::kRegisters; ++i)
      if (first + Columns::Layout::row(Columns::Layout::slot(i)) > smem_.last[Columns::Layout::column(i)])
        s_.x[i] = kMasked;
  }
  // Raises the base to the maxima that are more than the slack above it; in the block's first step to all.
  __device__ void raise(bool all) {
#pragma unroll
    for (int i = 0; i < Columns::Layout::kRegisters; i += 4)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        f32 most = fmaxf(s_.x[i + j], s_.x[i + j + 2]);
#pragma unroll
        for (int distance = 4; distance < 32; distance *= 2)
          most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
        if (threadIdx.x % 32 < 4) smem_.across[own_][warp()][Columns::Layout::column(i) + j] = most;
      }
    meet();
    const int column = threadIdx.x % kWarpgroup;
    if (column < ROWS) {
      f32 most = kMasked;
#pragma unroll
      for (int w = 0; w < 4; ++w) most = fmaxf(most, smem_.across[own_][w][column]);
      smem_.rise[own_][column] = most > (all ? kLeast : kSlack) ? most : 0;
    }
    meet();
#pragma unroll
    for (int i = 0; i < Columns::Layout::kRegisters; i += 4) {
      const float2 rise = pair(smem_.rise[own_], i);
#pragma unroll
      for (int j = 0; j < 4; ++j) s_.x[i + j] -= j % 2 == 0 ? rise.x : rise.y;
    }
  }
  // Makes the sums so far relative to the base after a consumer's step, if it has raised it.
  __device__ void follow(int consumer, int step) {
    if (smem_.raised[consumer] != step + 1) return;
    wgmma::wait<0>();
#pragma unroll
    for (int i = 0; i < Columns::Layout::kRegisters; i += 4) {
      const float2 rise = pair(smem_.rise[consumer], i);
      const f32 factor[2] = {ex2(-rise.x), ex2(-rise.y)};
#pragma unroll
      for (Columns& part : o_)
#pragma unroll
        for (int j = 0; j < 4; ++j) part.x[i + j] *= factor[j % 2];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) sums_[i] *= ex2(-smem_.rise[consumer][summed(i)]);
    const int column = threadIdx.x % kWarpgroup;
    if (column < ROWS) smem_.base[own_][column] += smem_.rise[consumer][column];
    meet();
  }
  // Sums the weights of the warp's keys.
  __device__ void sum_keys(f32 (&sum)[16]) const {
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i] = s_.x[i / 2 * 4 + i % 2] + s_.x[i / 2 * 4 + i % 2 + 2];
    exchange<8>(sum), exchange<4>(sum), exchange<2>(sum);
  }
  // Adds what another lane has of the half of 2 * Half columns that this lane goes on with.
  template <int Half> __device__ static void exchange(f32 (&sum)[16]) {
    const bool upper = (threadIdx.x & Half * 2) != 0;
#pragma unroll
    for (int i = 0; i < Half; ++i) {
      const f32 given = upper ? sum[i] : sum[i + Half], kept = upper ? sum[i + Half] : sum[i];
      sum[i] = kept + __shfl_xor_sync(0xffffffff, given, Half * 2);
    }
  }
  // Returns the column of which a lane has the i-th sum.
  __device__ static int summed(int i) {
    const int lane = threadIdx.x % 32;
    return ((lane & 16) / 16 * 4 + (lane & 8) / 8 * 2 + (lane & 4) / 4) * 8 + lane % 4 * 2 + i;
  }

  // Starts adding the values of a step by its weights, and releases its rows.
  __device__ void add(int step) {
    const CacheTile& rows = wait(step);
    const u32 slot = at(step).slot;
    const Weights& weights = smem_.weights[slot];
    const int lane = threadIdx.x % 32;
    Factor factor[2];
#pragma unroll
    for (int group = 0; group < 8; ++group) {
      const int m = group / 2, first = group % 2 * 32, column = own_ * kHalf + m * 64 + warp() * 16;
      const auto bytes = mma::ldmatrix_x4_trans(smem_address(&rows.at(first + lane, column)));
      Factor& own = factor[group % 2];
      if (group >= 2) wgmma::wait<1>();
#pragma unroll
      for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          // The even element's two keys, then the odd one's.
          const uint2 wide = widen_four(__byte_perm(bytes.r[k * 2 + i], 0, 0x3120));
          own.x[k][i * 2] = wide.x, own.x[k][i * 2 + 1] = wide.y;
        }
      wgmma::fence();
#pragma unroll
      for (int k = 0; k < 2; ++k)
        wgmma::Mma<ROWS, f16>::template rs<wgmma::Mode<wgmma::Major::k, wgmma::Major::mn>>(
            o_[m].x, own.x[k], weights.mn_major(first + k * 16), true);
      wgmma::commit();
    }
    __syncwarp();
    if (lane == 0) smem_.ring.empty[slot].arrive();
  }
  // Waits for the weights of the other consumer's step, and adopts its base.
  __device__ void receive(int step) {
    sync(1 + (own_ ^ 1), kConsumers);
    follow(own_ ^ 1, step);
  }

  static constexpr f32 kSlack = 8, kMasked = -3.0e38F, kLeast = -1.0e30F;

  Smem& smem_;
  const int own_ = uniform(threadIdx.x / kWarpgroup);
  Columns s_, o_[4];
  f32 sums_[2];
};

// The consumers' part of a kernel until their results are in `smem.part`.
template <class Work>
__device__ inline void attend_latent(Smem& smem, const View<const T, 4>& Q, Work& work, f32 scale, const Dims& dims) {
  work.find_rows(dims);
  halve_queries<kConsumers>(smem.q, smem.factor, Q, work);
  tma::fence();
  sync(5, kConsumers);
  if (threadIdx.x < ROWS) {
    smem.factor[threadIdx.x] *= scale * kLog2e;
    smem.base[0][threadIdx.x] = smem.base[1][threadIdx.x] = 0;
    smem.last[threadIdx.x] = work.query(min(static_cast<int>(threadIdx.x), work.rows - 1));
  }
  if (threadIdx.x == 0) smem.seen_by_all = work.keys - dims.TOKENS + 1, smem.rounds = work.rounds;
  sync(5, kConsumers);
  LatentAttention attention(smem);
  attention.attend();
  attention.store();
}

#endif
