#pragma once
// How clusters walk over the groups of a tensor: over those of the same number, of one batch after the other, before
// those of the next number. Each has as many groups as others, or one more or fewer. A thread has the same packs of all
// groups of a number, as group_gradient.cuh describes packs and parts.
#include "device/ptx/cluster.cuh"
#include "device/reduce/group_gradient.cuh"

template <class T> struct GroupTensors {
  const View<const T, 3>&X, &DY;
  const View<const T, 1>& W;
  const View<T, 3>& DX;
  int batches, groups, channels, extent;  // channels of a group, and elements of a channel
};

// The walk of a cluster, which is called a team, and the block's and the thread's part in it. Threads threads of a
// block have Packs packs each; Whole: channels are whole packs; Ragged: groups begin and end anywhere in 16 bytes, but
// those of all batches alike.
template <class T, int Threads, int Cluster, int Packs, bool Whole, bool Ragged> struct GroupWalk {
  static constexpr int kCount = 16 / sizeof(T);
  using Group = GradientGroup<T, Ragged>;

  // A group of the walk.
  struct Place {
    int g, n;

    __device__ void advance(int batches) {
      if (++n == batches) n = 0, ++g;
    }
  };
  // Where a thread's packs lie in the groups of the same number.
  struct Layout {
    int own;                              // packs of the block's part
    int channel[Packs], position[Packs];  // of a pack's first element; the position may be before the channel
    f32 share;                            // that an element is of the warp's part

    // The first of the pack's elements that are in another channel.
    __device__ int cut(int p, int extent) const { return Whole ? kCount : extent - position[p]; }
  };

  const GroupTensors<T>& of;
  const Divisor by_channel;
  const int team, teams, rank;
  const int each;          // packs of a block's part of a group, at most
  const int first, count;  // of the team's groups

  __device__ GroupWalk(const GroupTensors<T>& of, int each)
      : of(of),
        by_channel(of.extent),
        team(static_cast<int>(blockIdx.x) / Cluster),
        teams(static_cast<int>(gridDim.x) / Cluster),
        rank(Cluster == 1 ? 0 : static_cast<int>(cluster::rank())),
        each(each),
        first(begin_of(team)),
        count(begin_of(team + 1) - first) {}

  __device__ Group group(const Place& at) const { return {of.X, of.DY, of.DX, at.n, at.g, of.channels, of.extent}; }
  // Packs of a block's part of a group.
  __device__ int own_of(const Group& group) const { return max(0, min(each, group.packs() - rank * each)); }
  // Elements of a warp's part of that.
  __device__ int size_of_warp(const Group& group, int warp) const {
    int size = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const int first = p * Threads + warp * 32, begin = rank * each;
      size += group.size(begin + min(first, each), begin + min(first + 32, each));
    }
    return size;
  }
  __device__ static int place(int p) {
    return p * Threads + static_cast<int>(threadIdx.x);
  }
  __device__ Layout layout_of(const Group& group) const {
    Layout layout = {own_of(group)};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const int at = group.index_of(rank * each + place(p));
      layout.channel[p] = place(p) < layout.own ? by_channel.quotient(max(at, 0)) : 0;
      layout.position[p] = at - layout.channel[p] * of.extent;
    }
    layout.share = 1.0F / static_cast<f32>(max(size_of_warp(group, threadIdx.x / 32), 1));
    return layout;
  }
  // The number of the first group of a team.
  __device__ int begin_of(int team) const {
    return static_cast<int>(s64{of.batches} * of.groups * team / teams);
  }
  __device__ Place first_place() const {
    return {first / of.batches, first % of.batches};
  }
  // Whether element k of the thread's pack p is the group's.
  __device__ bool is_own(const Layout& layout, int p, int k) const {
    const int j = layout.position[p] + k + layout.channel[p] * of.extent;
    return !Ragged || static_cast<u32>(j) < static_cast<u32>(of.channels * of.extent);
  }

  // The team that has group `number`.
  __device__ int team_of(int number) const {
    int team = static_cast<int>(s64{number} * teams / (s64{of.batches} * of.groups));
    while (begin_of(team + 1) <= number) ++team;
    return team;
  }
};
