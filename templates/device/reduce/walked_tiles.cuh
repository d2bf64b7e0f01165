#pragma once
// Gradients of a norm over groups of channels, as group_gradient.cuh describes them, whose groups are tiles that
// blocks walk over as tile_walk.cuh says: each block has a few tiles in shared memory, where some are loaded while one
// is worked on. Channels are whole packs and at least as long as a warp's part of a tile, which so has elements of two
// at most.
//
// A warp's sums are joined with those of others by a warp of its own, which tells other blocks meanwhile.
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/reduce/group_walk.cuh"
#include "device/reduce/tile_walk.cuh"

// Threads of a block have Packs packs each of a tile; two warps more join and load. Affine: 1: there are weights; 2:
// and biases.
template <class T, int Threads, int Packs, int Stages, int Affine> class WalkedTiles {
 public:
  static constexpr int kCount = 16 / sizeof(T), kWarps = Threads / 32, kThreads = Threads + 64;
  static constexpr int kPart = 32 * Packs, kHeld = Threads * Packs;  // packs of a warp's part, and of a tile
  using Tensors = GroupTensors<T>;

  struct Smem {
    PartSums own[Stages][kWarps];
    float2 pairs[Stages][kWarps][2];  // of the two channels of a warp's part, about its mean
    RowGradient gradients[Stages];
    WalkItem items[Stages];
    Barrier full[Stages], empty[Stages], given[Stages], ready[Stages];
  };
  // In global memory, of all groups of all batches: what each tile and what each group gives; and pair tile + c of the
  // channels of each, about the tile's mean.
  struct Given {
    PartSums* parts;
    RowGradient* gradients;
    float2* pairs;
    u32* counters;
  };

  // Called by all threads of the grid, which then call run(). `ring`, at a multiple of 16 bytes, has room for Stages
  // tiles.
  __device__ WalkedTiles(const Tensors& of, Smem& smem, u8* ring, const Given& given)
      : of_(of),
        by_channel_(of.extent),
        length_(of.channels * of.extent),
        tiles_(ceil_div(length_, kHeld * kCount)),
        smem_(initialised(smem)),
        ring_(reinterpret_cast<uint4*>(ring)),
        given_(given),
        counters_{given.counters} {
    __syncthreads();
  }

  // Stores DX, of which output(dx, batch, channel, element) gives the elements, and calls store(channel, sums) once in
  // the grid for each channel, with the gradients of its bias and its weight.
  template <class Output, class Store> __device__ void run(f32 eps, Output output, Store store) {
    const int warp = threadIdx.x / 32;
    if (warp < kWarps) {
      work(output, store);
    } else if (warp == kWarps) {
      join_all(eps);
    } else if (threadIdx.x % 32 == 0) {
      load_all();
    }
    counters_.leave(of_.batches * of_.groups);
  }

 private:
  using Group = GradientGroup<T, false>;

  // A warp's part of a tile.
  struct Part {
    int first, packs;   // of the group's packs; how many packs, 0 or fewer if there is none
    int channel, next;  // that of the first element, and the index in the group at which the next channel begins

    __device__ int size() const { return max(packs, 0) * kCount; }
    // Whether a pack that begins at index j is of the next channel.
    __device__ bool side(int j) const { return j >= next; }
    __device__ bool has_two() const { return (first + packs) * kCount > next; }
  };

  __device__ static Smem& initialised(Smem& smem) {
    if (threadIdx.x > 0) return smem;
#pragma unroll
    for (int i = 0; i < Stages; ++i) {
      smem.full[i].init(2), smem.empty[i].init(kWarps + 1);
      smem.given[i].init(kWarps), smem.ready[i].init(1);
    }
    fence_barrier_init();
    return smem;
  }
  __device__ Group group(int row) const {
    return {of_.X, of_.DY, of_.DX, row / of_.groups, row % of_.groups, of_.channels, of_.extent};
  }
  __device__ uint4* slot(int i) const {
    return ring_ + i * 2 * kHeld;
  }
  __device__ int packs_of(int tile) const {
    return min(kHeld, length_ / kCount - tile * kHeld);
  }
  __device__ Part part(int tile, int warp) const {
    Part part;
    part.first = tile * kHeld + warp * kPart;
    part.packs = min(kPart, length_ / kCount - part.first);
    part.channel = part.packs > 0 ? static_cast<int>(by_channel_.quotient(part.first * kCount)) : 0;
    part.next = (part.channel + 1) * of_.extent;
    return part;
  }
  __device__ float2* pairs_of(int row) const {
    return given_.pairs + row * s64{of_.channels + tiles_ - 1};
  }
  __device__ f32 weight(int first, int c) const {
    if constexpr (Affine == 0) return 1;
    return to_f32(of_.W.data[(first + min(c, of_.channels - 1)) * of_.W.stride[0]]);
  }

  // Copies tiles, each when its place is free. Called by one thread.
  __device__ void load_all() const {
    const int ends = Affine > 0 ? ceil_div(of_.groups * of_.channels, kWarps) : 0;
    TileWalk walk(counters_, of_.batches * of_.groups, tiles_, ends);
#pragma unroll 1
    for (int i = 0;; ++i) {
      const int place = i % Stages;
      smem_.empty[place].wait(i / Stages % 2 ^ 1);
      const WalkItem item = walk.next();
      smem_.items[place] = item;
      Barrier& full = smem_.full[place];
      if (item.kind == WalkItem::kReduce || item.kind == WalkItem::kFinish) {
        const Group of = group(item.row);
        const int bytes = packs_of(item.tile) * 16, at = item.tile * kHeld * kCount;
        full.expect(2 * bytes);
        bulk::load(slot(place), of.x + at, bytes, full);
        bulk::load(slot(place) + kHeld, of.dy + at, bytes, full);
      } else {
        full.arrive();
      }
      full.arrive();  // what is copied has the other arrival
      if (item.kind == WalkItem::kNone) return;
    }
  }

  template <class Output, class Store> __device__ void work(Output output, Store store) const {
#pragma unroll 1
    for (int i = 0;; ++i) {
      const int place = i % Stages, parity = i / Stages % 2;
      smem_.full[place].wait(parity);
      const WalkItem item = smem_.items[place];
      if (item.kind == WalkItem::kNone) return;
      if (item.kind == WalkItem::kReduce) {
        reduce(place, item);
      } else if (item.kind == WalkItem::kFinish) {
        finish(place, parity, item, output);
      } else {
        leave(place, true);
        add_batches(item.tile * kWarps + static_cast<int>(threadIdx.x) / 32, store);
      }
    }
  }
  // Gives back the warp's part of a place. All have `given` in each of its turns, so that its phases are as many: at
  // once unless the item is reduced, because the next turn may begin.
  __device__ void leave(int place, bool given) const {
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 > 0) return;
    if (given) smem_.given[place].arrive();
    smem_.empty[place].arrive();
  }
  // Adds up the warp's part of a tile.
  __device__ void reduce(int place, const WalkItem& item) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = item.row % of_.groups * of_.channels;
    const Part part = this->part(item.tile, warp);
    const f32 weights[2] = {weight(first, part.channel), weight(first, part.channel + 1)};
    const uint4 *const from = slot(place) + warp * kPart, *const from_dy = from + kHeld;
    f32 origin = 0;
    if (lane < part.packs) origin = mean_of({from[lane]});
    origin = __shfl_sync(0xffffffff, origin, 0);
    Sums<2> sums = {}, pairs[2] = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const int q = p * 32 + lane;
      if (q >= part.packs) continue;
      const Elements<T> x = {from[q]}, dy = {from_dy[q]};
      Sums<2> pair = {};
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const f32 distance = to_f32(x[k]) - origin, g = to_f32(dy[k]);
        sums.x[0] += distance, sums.x[1] += distance * distance;
        pair.x[0] += g, pair.x[1] += g * distance;
      }
      const bool next = part.side((part.first + q) * kCount);
      pairs[0] = pairs[0] + (next ? Sums<2>{} : pair), pairs[1] = pairs[1] + (next ? pair : Sums<2>{});
    }
    leave(place, false);
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    sums = warp_reduce(sums, add), pairs[0] = warp_reduce(pairs[0], add);
    if (part.has_two()) pairs[1] = warp_reduce(pairs[1], add);
    if (lane > 0) return;
    Sums<4> all = {sums.x[0], sums.x[1]};
#pragma unroll
    for (int side = 0; side < 2; ++side)
      all.x[2] += weights[side] * pairs[side].x[0], all.x[3] += weights[side] * pairs[side].x[1];
    const f32 share = 1.0F / static_cast<f32>(max(part.size(), 1)), mean = all.x[0] * share;
    smem_.own[place][warp] = PartSums::about(origin, all, share);
#pragma unroll
    for (int side = 0; side < 2; ++side)
      smem_.pairs[place][warp][side] = make_float2(pairs[side].x[0], pairs[side].x[1] - mean * pairs[side].x[0]);
    smem_.given[place].arrive();
  }
  __device__ static f32 mean_of(const Elements<T>& pack) {
    f32 sum = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum += to_f32(pack[k]);
    return sum / kCount;
  }

  // Stores DX of the warp's part of a tile.
  template <class Output> __device__ void finish(int place, int parity, const WalkItem& item, Output output) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Group group = this->group(item.row);
    const Part part = this->part(item.tile, warp);
    const f32 weights[2] = {weight(group.first, part.channel), weight(group.first, part.channel + 1)};
    const uint4 *const from = slot(place) + warp * kPart, *const from_dy = from + kHeld;
    Elements<T> x[Packs] = {}, dy[Packs] = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (p * 32 + lane < part.packs) x[p] = {from[p * 32 + lane]}, dy[p] = {from_dy[p * 32 + lane]};
    smem_.ready[place].wait(parity);
    const RowGradient of = smem_.gradients[place];
    // Before DX is stored: the fence waits for stores.
    leave(place, true);
    const f32 slope = -of.r * of.r * of.mean_gh, offset = -of.r * of.mean_g;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (p * 32 + lane >= part.packs) continue;
      const int j = (part.first + p * 32 + lane) * kCount;
      const bool next = part.side(j);
      const f32 scale = of.r * (next ? weights[1] : weights[0]);
      const int c = part.channel + next, position = j - c * of_.extent;
      Pack<T, kCount> out;
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const f32 dx = scale * to_f32(dy[p][k]) + (slope * (to_f32(x[p][k]) - of.mean) + offset);
        out.x[k] = from_f32<T>(output(dx, group.n, group.first + c, position + k));
      }
      global::store_16_once(group.dx + j, reinterpret_cast<const uint4&>(out));
    }
  }

  // Joins what the warps give of each tile, and what the tiles give of a group whose last one it is; and says what a
  // group gives when one of its tiles is to be stored. Called by a warp.
  __device__ void join_all(f32 eps) const {
#pragma unroll 1
    for (int i = 0;; ++i) {
      const int place = i % Stages, parity = i / Stages % 2, lane = threadIdx.x % 32;
      smem_.full[place].wait(parity);
      const WalkItem item = smem_.items[place];
      if (item.kind == WalkItem::kNone) return;
      if (item.kind == WalkItem::kReduce) {
        smem_.given[place].wait(parity);
        join_tile(place, item, eps);
      } else if (item.kind == WalkItem::kFinish && lane == 0) {
        smem_.gradients[place] = given_.gradients[item.row];
      }
      __syncwarp();
      if (lane == 0) smem_.ready[place].arrive(), smem_.empty[place].arrive();
    }
  }
  __device__ void join_tile(int place, const WalkItem& item, f32 eps) const {
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    const int lane = threadIdx.x % 32, packs = packs_of(item.tile);
    Part part = {};
    if (lane < kWarps) part = this->part(item.tile, lane);
    const PartSums own = part.packs > 0 ? smem_.own[place][lane] : PartSums{};
    const PartSums all = joined<true>(own, part.size(), packs * kCount);
    if constexpr (Affine > 0) {
      const f32 distance = own.mean - all.mean;
      const int begin = item.tile * kHeld * kCount;
      const int last = by_channel_.quotient(begin + packs * kCount - 1);
      for (int c = by_channel_.quotient(begin); c <= last; ++c) {
        Sums<2> sum = {};
        if (part.packs > 0 && (c == part.channel || c == part.channel + 1)) {
          const float2 pair = smem_.pairs[place][lane][c - part.channel];
          sum = {pair.x, pair.y + distance * pair.x};
        }
        sum = warp_reduce(sum, add);
        if (lane == 0) pairs_of(item.row)[item.tile + c] = make_float2(sum.x[0], sum.x[1]);
      }
    }
    bool last = false;
    if (lane == 0) {
      given_.parts[s64{item.row} * tiles_ + item.tile] = all;
      last = counters_.reduced(item.row, tiles_);
    }
    if (!__shfl_sync(0xffffffff, last, 0)) return;
    __syncwarp();  // so that all lanes see what lane 0 sees
    join_row(item.row, eps);
  }
  // Joins what the tiles of a group give.
  __device__ void join_row(int row, f32 eps) const {
    const auto add = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    const PartSums* const tiles = given_.parts + s64{row} * tiles_;
    const f32 share = 1 / static_cast<f32>(length_);
    Sums<2> means = {}, squares = {};
#pragma unroll 4
    for (int tile = threadIdx.x % 32; tile < tiles_; tile += 32)
      means.x[0] += tiles[tile].mean * static_cast<f32>(packs_of(tile) * kCount), means.x[1] += tiles[tile].g;
    means = warp_reduce(means, add);
    const f32 mean = means.x[0] * share;
#pragma unroll 4
    for (int tile = threadIdx.x % 32; tile < tiles_; tile += 32) {
      const PartSums of_tile = tiles[tile];
      const f32 distance = of_tile.mean - mean;
      squares.x[0] += of_tile.squares + distance * distance * static_cast<f32>(packs_of(tile) * kCount);
      squares.x[1] += of_tile.gx + distance * of_tile.g;
    }
    squares = warp_reduce(squares, add);
    if (threadIdx.x % 32 > 0) return;
    given_.gradients[row] = RowGradient::of<true>({mean, squares.x[0], means.x[1], squares.x[1]}, share, eps);
    counters_.joined(row);
  }

  // Adds up what the tiles of all batches have of a channel, always in the same order. Called by a warp.
  template <class Store> __device__ void add_batches(int channel, Store store) const {
    if (channel >= of_.groups * of_.channels) return;
    const int lane = threadIdx.x % 32, g = channel / of_.channels, c = channel % of_.channels;
    for (int n = lane; n < of_.batches; n += 32) counters_.wait(n * of_.groups + g);
    fence::acq_rel_gpu();
    __syncwarp();
    constexpr int kElements = kHeld * kCount;  // of a tile
    const int first = c * of_.extent / kElements, tiles = ((c + 1) * of_.extent - 1) / kElements + 1 - first;
    Sums<2> sum = {};
#pragma unroll 4
    for (int i = lane; i < of_.batches * tiles; i += 32) {
      const int row = i / tiles * of_.groups + g, tile = first + i % tiles;
      const float2 pair = pairs_of(row)[tile + c];
      const RowGradient of = given_.gradients[row];
      const f32 distance = given_.parts[s64{row} * tiles_ + tile].mean - of.mean;
      sum.x[0] += pair.x, sum.x[1] += of.r * (pair.y + distance * pair.x);
    }
    sum = warp_reduce(sum, [](const Sums<2>& a, const Sums<2>& b) { return a + b; });
    if (lane == 0) store(channel, make_float2(sum.x[0], sum.x[1]));
  }

  const Tensors& of_;
  const Divisor by_channel_;
  const int length_, tiles_;  // of a group
  Smem& smem_;
  uint4* const ring_;
  const Given given_;
  const WalkCounters counters_;
};
