#pragma once
// Gradients of a norm over groups of channels, as group_gradient.cuh describes them, by clusters that walk over groups:
// each block has its part of a few groups in shared memory, where some are loaded while one is added up and one stored.
// Groups are walked over channels first, batches second, so that a thread's packs stay in their channels from one group
// to the next, and it keeps their weights and their sums in registers.
//
// A warp's sums are joined with those of others by a warp of its own, which tells the cluster meanwhile.
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/st_async.cuh"
#include "device/reduce/group_pairs.cuh"
#include "device/reduce/group_walk.cuh"

// Threads: of a block that have elements of a group; kJoiners warps join sums, and one loads. Whole: channels are whole
// packs; Ragged: groups begin and end anywhere in 16 bytes, but those of all batches alike; Affine: 1: there are
// weights; 2: and biases.
template <class T, int Threads, int Cluster, int Packs, int Stages, bool Whole, bool Ragged, int Affine>
class GroupRing {
 public:
  static constexpr int kCount = 16 / sizeof(T), kWarps = Threads / 32, kJoiners = 2;
  using Walk = GroupWalk<T, Threads, Cluster, Packs, Whole, Ragged>;
  using Tensors = GroupTensors<T>;
  static constexpr int kThreads = Threads + 32 + 32 * kJoiners;  // of a block

  // What is known of a group has one of four places. A warp adds up group i when group i - 2 has been told by all
  // blocks, so that each block has read what it was told of group i - 3, and what its warps gave of it before.
  static constexpr int kKnown = 4;
  struct Smem {
    PartSums own[kKnown][kWarps], told[kKnown][Cluster];
    RowGradient gradients[kKnown];
    Barrier full[Stages], empty[Stages], own_given[kKnown], all_told[kKnown], ready[kKnown];
    bool last;
  };

  // Called by all threads of the grid, which then call run(). `ring`, at a multiple of 16 bytes, has room for 32 bytes
  // for each of `each` packs of Stages parts, and `pairs` for 8 for each pack and channel of a part. What the walks
  // give of the channels of their groups are `parts` in global memory, of each team and group; `counters` count those
  // of a group.
  __device__ GroupRing(const Tensors& of, Smem& smem, int each, u8* ring, float2* pairs, float2* parts, u32* counters)
      : walk_(of, each),
        smem_(initialised(smem)),
        ring_(reinterpret_cast<uint4*>(ring)),
        pairs_(pairs),
        parts_{parts, 1, of.channels, Cluster, each * kCount},
        counters_(counters) {
    if constexpr (Cluster > 1) cluster::arrive(), cluster::wait();
    __syncthreads();
  }

  // Stores DX, of which output(dx, batch, channel, element) gives the elements, and calls store(channel, sums) once in
  // the grid for each channel, with the gradients of its bias and its weight.
  template <class Output, class Store> __device__ void run(f32 eps, Output output, Store store) {
    const int warp = threadIdx.x / 32;
    if (warp < kWarps) {
      walk(output, store);
    } else if (warp < kWarps + kJoiners) {
      join_all(warp - kWarps, eps);
    } else {
      load_all();
    }
  }

 private:
  using Group = typename Walk::Group;
  using Place = typename Walk::Place;
  using Layout = typename Walk::Layout;
  static constexpr int kSides = Whole ? 1 : 2;  // channels of which a pack has elements

  // What a thread knows of a group that it has added up: the weights, and of the elements of each channel of each pack
  // the sums of DY and of DY times the distance from the origin.
  struct Added {
    f32 origin, weight[Packs][kSides];
    float2 pair[Packs][kSides];
  };

  __device__ static Smem& initialised(Smem& smem) {
    if (threadIdx.x > 0) return smem;
#pragma unroll
    for (int i = 0; i < Stages; ++i) smem.full[i].init(1), smem.empty[i].init(kWarps);
#pragma unroll
    for (int i = 0; i < kKnown; ++i) smem.own_given[i].init(kWarps), smem.all_told[i].init(1), smem.ready[i].init(1);
    fence_barrier_init();
    return smem;
  }
  __device__ uint4* slot(int i) const {
    return ring_ + i % Stages * 2 * walk_.each;
  }

  // Copies the block's parts of the groups, each when its place is free. Called by a warp.
  __device__ void load_all() const {
    Place at = walk_.first_place();
#pragma unroll 1
    for (int i = 0; i < walk_.count; ++i, at.advance(walk_.of.batches)) {
      const Group group = walk_.group(at);
      Barrier &full = smem_.full[i % Stages], &empty = smem_.empty[i % Stages];
      const int begin = walk_.rank * walk_.each, own = walk_.own_of(group), parity = i / Stages % 2 ^ 1;
      int from = 0, to = own;
      if constexpr (Ragged) {
        from = own > 0 && !group.has_whole(group.index_of(begin));
        to -= own > from && !group.has_whole(group.index_of(begin + own - 1));
        copy_cut_packs(group, begin, from, to, own, slot(i), [&] { empty.wait(parity); });
        __syncwarp();
      }
      if (threadIdx.x % 32 > 0) continue;
      if (!Ragged) empty.wait(parity);
      if (from >= to) {
        full.arrive();
        continue;
      }
      full.expect(2 * (to - from) * 16);
      bulk::load(slot(i) + from, group.x + group.index_of(begin + from), (to - from) * 16, full);
      bulk::load(slot(i) + walk_.each + from, group.dy + group.index_of(begin + from), (to - from) * 16, full);
    }
  }
  // Copies the packs before `from` and from `to` on, one each at most, an element a lane, with zeros for what is not
  // the group's; wait() returns when their place is free.
  template <class Wait>
  __device__ void copy_cut_packs(const Group& group, int begin, int from, int to, int own, uint4* slot,
                                 Wait wait) const {
    const int lane = threadIdx.x % 32, tensor = lane / (2 * kCount), k = lane % kCount;
    const bool last = lane / kCount % 2 != 0, cut = tensor < 2 && (last ? to < own : from > 0);
    const int q = last ? own - 1 : 0, j = group.index_of(begin + q) + k;
    T x = {};
    if (cut && group.has(j)) x = (tensor == 0 ? group.x : group.dy)[j];
    wait();
    if (cut) reinterpret_cast<T*>(slot + tensor * walk_.each + q)[k] = x;
  }

  template <class Output, class Store> __device__ void walk(Output output, Store store) {
    Place at = walk_.first_place(), before = at;
    Added now = {}, last = {};
    Layout layout = {}, last_layout = {};
    float2 sums[Packs][kSides] = {};
#pragma unroll 1
    for (int i = 0; i <= walk_.count; ++i) {
      if (i < walk_.count) {
        if (i == 0 || (Ragged && at.g != before.g)) layout = walk_.layout_of(walk_.group(at));
        if (i == 0 || at.g != before.g) load_weights(at.g, layout, now.weight);
        add_up(i, layout, now);
      }
      if (i > 0) {
        const Layout& of = Ragged ? last_layout : layout;
        this->store(i - 1, before, of, last, sums, output);
        if (Affine > 0 && (i == walk_.count || at.g != before.g)) give(walk_.group(before), before.g, of, sums, store);
      }
      last = now, before = at;
      if constexpr (Ragged) last_layout = layout;
      at.advance(walk_.of.batches);
    }
  }
  __device__ void load_weights(int g, const Layout& layout, f32 (&weight)[Packs][kSides]) const {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int side = 0; side < kSides; ++side) {
        const int c = min(layout.channel[p] + side, walk_.of.channels - 1);
        weight[p][side] =
            Affine > 0 ? to_f32(walk_.of.W.data[(g * walk_.of.channels + c) * walk_.of.W.stride[0]]) : 1.0F;
      }
    }
  }
  // Adds up the warp's part of group number i.
  __device__ void add_up(int i, const Layout& layout, Added& added) const {
    const int known = i % kKnown;
    smem_.full[i % Stages].wait(i / Stages % 2);
    added.origin = mean_of_first_pack(layout, slot(i));
    Sums<4> sums = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      float2(&pair)[kSides] = added.pair[p];
#pragma unroll
      for (auto& of_side : pair) of_side = {};
      if (Walk::place(p) >= layout.own) continue;
      const Elements<T> x = {slot(i)[Walk::place(p)]}, dy = {slot(i)[walk_.each + Walk::place(p)]};
      const int cut = layout.cut(p, walk_.of.extent);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const f32 distance = walk_.is_own(layout, p, k) ? to_f32(x[k]) - added.origin : 0.0F, g = to_f32(dy[k]);
        sums.x[0] += distance, sums.x[1] += distance * distance;
        if (Whole || k < cut)
          pair[0].x += g, pair[0].y += g * distance;
        else
          pair[kSides - 1].x += g, pair[kSides - 1].y += g * distance;
      }
#pragma unroll
      for (int side = 0; side < kSides; ++side) {
        sums.x[2] += added.weight[p][side] * pair[side].x;
        sums.x[3] += added.weight[p][side] * pair[side].y;
      }
    }
    sums = warp_reduce(sums, [](const Sums<4>& a, const Sums<4>& b) { return a + b; });
    if (threadIdx.x % 32 > 0) return;
    smem_.own[known][threadIdx.x / 32] = PartSums::about(added.origin, sums, layout.share);
    smem_.own_given[known].arrive();
  }
  // That of the warp's part, 0 if there is none.
  __device__ f32 mean_of_first_pack(const Layout& layout, const uint4* x) const {
    f32 sum = 0;
    int count = 0;
    if (Walk::place(0) < layout.own) {
      const Elements<T> pack = {x[Walk::place(0)]};
#pragma unroll
      for (int k = 0; k < kCount; ++k) sum += to_f32(pack[k]), count += walk_.is_own(layout, 0, k);
    }
    const f32 mean = !Ragged || count == kCount ? sum / kCount : sum / static_cast<f32>(max(count, 1));
    return __shfl_sync(0xffffffff, mean, 0);
  }

  // Joins what the warps give of each group, tells it to all blocks of the cluster, and joins what they tell. Called by
  // joiner number `joiner`, a warp.
  __device__ void join_all(int joiner, f32 eps) const {
    const int lane = threadIdx.x % 32, length = walk_.of.channels * walk_.of.extent;
    Place at = walk_.first_place();
    int own_size = 0, own_all = 0, told_size = 0;
#pragma unroll 1
    for (int i = 0; i < walk_.count; ++i, at.advance(walk_.of.batches)) {
      if (i == 0 || (Ragged && at.n == 0)) {
        const Group group = walk_.group(at);
        own_size = lane < kWarps ? walk_.size_of_warp(group, lane) : 0;
        own_all = group.size(walk_.rank * walk_.each, (walk_.rank + 1) * walk_.each);
        told_size = lane < Cluster ? group.size(lane * walk_.each, (lane + 1) * walk_.each) : 0;
      }
      if (i % kJoiners != joiner) continue;
      const int known = i % kKnown, parity = i / kKnown % 2;
      Barrier& all_told = smem_.all_told[known];
      if (Cluster > 1 && lane == 0) all_told.expect(sizeof(smem_.told[0]));
      smem_.own_given[known].wait(parity);
      PartSums all = joined<true>(lane < kWarps ? smem_.own[known][lane] : PartSums{}, own_size, own_all);
      if constexpr (Cluster > 1) {
        if (lane < Cluster)
          remote::store(lane, reinterpret_cast<u32*>(&smem_.told[known][walk_.rank]), reinterpret_cast<u32(&)[4]>(all),
                        all_told);
        all_told.wait_cluster(parity);
        all = joined<true>(lane < Cluster ? smem_.told[known][lane] : PartSums{}, told_size, length);
      }
      if (lane > 0) continue;
      smem_.gradients[known] = RowGradient::of<true>(all, 1 / static_cast<f32>(length), eps);
      smem_.ready[known].arrive();
    }
  }

  // Stores DX of group number i, and adds what its packs give to `sums`.
  template <class Output>
  __device__ void store(int i, const Place& at, const Layout& layout, const Added& added, float2 (&sums)[Packs][kSides],
                        Output output) const {
    smem_.ready[i % kKnown].wait(i / kKnown % 2);
    const RowGradient of = smem_.gradients[i % kKnown];
    const f32 slope = -of.r * of.r * of.mean_gh, offset = -of.r * of.mean_g, distance = added.origin - of.mean;
    Elements<T> x[Packs] = {}, dy[Packs] = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (Walk::place(p) < layout.own) x[p] = {slot(i)[Walk::place(p)]}, dy[p] = {slot(i)[walk_.each + Walk::place(p)]};
    // Before DX is stored: the fence waits for stores.
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.empty[i % Stages].arrive();
    const Group group = walk_.group(at);
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (Walk::place(p) >= layout.own) continue;
      f32 scale[kSides];
#pragma unroll
      for (int side = 0; side < kSides; ++side) {
        const float2& pair = added.pair[p][side];
        sums[p][side].x += pair.x, sums[p][side].y += of.r * (pair.y + distance * pair.x);
        scale[side] = of.r * added.weight[p][side];
      }
      const int cut = layout.cut(p, walk_.of.extent), position = layout.position[p];
      Pack<T, kCount> out;
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const bool next = !Whole && k >= cut;
        const f32 g = (next ? scale[kSides - 1] : scale[0]) * to_f32(dy[p][k]);
        const f32 dx = g + (slope * (to_f32(x[p][k]) - of.mean) + offset);
        out.x[k] = from_f32<T>(output(dx, at.n, group.first + layout.channel[p] + next, next ? k - cut : position + k));
      }
      T* const to = group.dx + group.index_of(walk_.rank * walk_.each + Walk::place(p));
      if (!Ragged || (walk_.is_own(layout, p, 0) && walk_.is_own(layout, p, kCount - 1))) {
        store_whole_pack(to, out);
        continue;
      }
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        if (walk_.is_own(layout, p, k)) to[k] = out.x[k];
    }
  }

  // Gives what the team's groups of number g, such as `group`, have for each channel, and, if it is the last to do so,
  // adds it up. Called by all Threads threads; clears `sums`.
  template <class Store>
  __device__ void give(const Group& group, int g, const Layout& layout, float2 (&sums)[Packs][kSides],
                       Store store) const {
    const auto sync_all = [] { sync(1, Threads); };
    const int begin = walk_.rank * walk_.each, end = begin + layout.own;
    const int channel = walk_.by_channel.quotient(max(group.index_of(begin), 0));  // the first of the part
    const int channels =
        layout.own == 0 ? 0 : walk_.by_channel.quotient(min(group.index_of(end), group.length) - 1) + 1;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int side = 0; side < kSides; ++side) {
        const int c = layout.channel[p] + side;
        const bool some = side == 0 || layout.cut(p, walk_.of.extent) < kCount;
        if (Walk::place(p) < layout.own && some && c < channels) pairs_[Walk::place(p) + c - channel] = sums[p][side];
        sums[p][side] = {};
      }
    }
    sync_all();
    for (int c = channel + threadIdx.x / 32; c < channels; c += kWarps) {
      const int first = c * walk_.of.extent + group.skip;
      const int from = max(first / kCount, begin), to = min((first + walk_.of.extent - 1) / kCount + 1, end);
      Sums<2> sum = {};
      for (int q = from + threadIdx.x % 32; q < to; q += 32) {
        const float2& pair = pairs_[q - begin + c - channel];
        sum.x[0] += pair.x, sum.x[1] += pair.y;
      }
      sum = warp_reduce(sum, [](const Sums<2>& a, const Sums<2>& b) { return a + b; });
      if (threadIdx.x % 32 == 0) parts_.of(walk_.team + g, 0)[c + walk_.rank] = make_float2(sum.x[0], sum.x[1]);
    }
    sync_all();
    const int first = walk_.team_of(g * walk_.of.batches), last = walk_.team_of((g + 1) * walk_.of.batches - 1);
    if (threadIdx.x == 0) smem_.last = last_arriver(counters_ + g, (last - first + 1) * Cluster);
    sync_all();
    if (!smem_.last) return;
    for (int c = threadIdx.x; c < walk_.of.channels; c += Threads) {
      float2 sum = {};
      for (int team = first; team <= last; ++team) {
        const float2 more = parts_.of_channel(team + g, 0, c, walk_.of.extent, group.skip);
        sum.x += more.x, sum.y += more.y;
      }
      store(group.first + c, sum);
    }
  }

  const Walk walk_;
  Smem& smem_;
  uint4* const ring_;
  float2* const pairs_;
  const GroupPairs parts_;
  u32* const counters_;
};
