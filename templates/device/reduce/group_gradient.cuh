#pragma once
// Gradients of a norm over groups of channels, as row_gradient.cuh names their parts: y = h * w + b, with a weight and
// a bias for each channel. A group's channels lie side by side; it is packs of 16 bytes at addresses that are multiples
// of 16, of which the first and the last may belong to it only in part, and which are divided into parts. Threads copy
// a part of X and of DY to shared memory, where each reads its own packs: once for the mean, once for what else the
// part gives, and once more to store DX.
//
// The gradients of a channel's weight and bias need the sums of DY and of DY * h over it, in an order that no timing
// changes. So each pack leaves the sums of its elements in shared memory, a pair for each channel that it has elements
// of, from where they are added up. Pair p + c is that of channel c and pack p: each pair has another number, and those
// of a channel follow each other. Pairs of parts are numbered in the same way.
//
// What the files of such groups share of their manifests, which `use` this:
//! param   WHOLE   = 1     in {1, 0}                "1: channels begin at 16 bytes and are whole packs"
//! param   NARROW  = 0     in {0, 1}                "1: a channel has fewer elements than a pack"
//! param   RAGGED  = 0     in {0, 1}                "1: groups begin and end anywhere in 16 bytes, at the same place in X, DY and DX"
//!
//! let     LENGTH  = CHANNELS * S                   "elements of a group, which are neighbours"
//! let     GROUP_PACKS = ceil_div(LENGTH + RAGGED * (COUNT - 1), COUNT) "at most"
//!
//! require N > 0 && LENGTH > 0                      "there must be a group, and an element of it"
//! require LENGTH <= 2147480000                     "elements of a group are counted in 31 bits"
//! require C <= 1 || (stride(X, 1) == S && stride(DY, 1) == S && stride(DX, 1) == S) "the channels of a group are neighbours"
//! require RAGGED == 1 || (LENGTH % COUNT == 0 && alignment(X) % 16 == 0 && alignment(DY) % 16 == 0 && alignment(DX) % 16 == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(DY, 0) % COUNT == 0 && stride(DX, 0) % COUNT == 0))) "a group begins at 16 bytes in X, DY and DX, and is whole packs"
//! require RAGGED == 0 || (alignment(X) % 16 == 0 && alignment(DY) % 16 == 0 && alignment(DX) % 16 == 0 && (N <= 1 || (stride(X, 0) % COUNT == stride(DY, 0) % COUNT && stride(X, 0) % COUNT == stride(DX, 0) % COUNT))) "a group begins at the same place of 16 bytes in X, DY and DX"
//! require RAGGED == 0 || WHOLE == 0                "channels of ragged groups are not whole packs"
//! require WHOLE == 0 || S % COUNT == 0             "channels begin at 16 bytes and are whole packs"
//! require NARROW == (S < COUNT)                    "a channel may be narrower than a pack"
#include "device/ptx/bulk.cuh"
#include "device/ptx/bulk_prefetch.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/reduce/aligned_row.cuh"
#include "device/reduce/block.cuh"
#include "device/reduce/row_gradient.cuh"
#include "device/tile/channel_affine.cuh"
#include "device/tile/pack.cuh"

// A group of a batch: where its elements begin, and its first channel.
template <class T, bool Ragged> struct GradientGroup {
  static constexpr int kCount = 16 / sizeof(T);

  const T *x, *dy;
  T* dx;
  int n, first, length, skip;  // elements of the first pack before the group: 0 unless it is Ragged

  // Group g of batch n, of groups of so many channels.
  __device__ GradientGroup(const View<const T, 3>& X, const View<const T, 3>& DY, const View<T, 3>& DX, int n, int g,
                           int channels, int extent)
      : n(n), first(g * channels), length(channels * extent) {
    const s64 at = s64{g} * length;
    x = X.data + n * X.stride[0] + at, dy = DY.data + n * DY.stride[0] + at, dx = DX.data + n * DX.stride[0] + at;
    skip = Ragged ? static_cast<int>(reinterpret_cast<u64>(x) % 16 / sizeof(T)) : 0;
  }
  __device__ int packs() const { return Ragged ? ceil_div(skip + length, kCount) : length / kCount; }
  // The index in the group of the first element of pack p, which is negative where the pack begins before the group.
  __device__ int index_of(int p) const { return p * kCount - skip; }
  // Elements of the group in packs `begin` to before `end`.
  __device__ int size(int begin, int end) const {
    if (begin >= min(packs(), end)) return 0;
    return min(length, index_of(min(packs(), end))) - max(0, index_of(begin));
  }
  // Whether all elements of the pack that begins at index j belong to the group.
  __device__ bool has_whole(int j) const { return !Ragged || (j >= 0 && j <= length - kCount); }
  __device__ bool has(int j) const { return !Ragged || static_cast<u32>(j) < static_cast<u32>(length); }
};

// A part of a group, which Lanes threads, a warp or a block, have in shared memory. Affine: 1: there are weights, and
// pairs; Whole, Narrow and Ragged as in the manifest.
template <class T, int Lanes, bool Whole, bool Narrow, bool Ragged, int Affine> class GroupPart {
 public:
  static constexpr int kCount = 16 / sizeof(T);
#if __CUDA_ARCH__ >= 900
  static constexpr bool kBulk = !Ragged;  // whether the part is copied by bulk copies, or by those of each thread
#else
  static constexpr bool kBulk = false;
#endif
  using Group = GradientGroup<T, Ragged>;

  const Group& group;

  // Packs `begin` to begin + packs, fewer where the group ends, or none. `memory`, at a multiple of 16 bytes, has room
  // for 32 bytes for each of `room` packs, and for 8 for each pack and channel of the part.
  __device__ GroupPart(const Group& group, const View<const T, 1>& W, const Divisor& by_channel, int begin, int packs,
                       u8* memory, int room)
      : group(group),
        W_(W),
        by_channel_(by_channel),
        lane_(threadIdx.x % Lanes),
        begin_(begin),
        packs_(max(0, min(packs, group.packs() - begin))),
        x_(reinterpret_cast<uint4*>(memory)),
        dy_(x_ + room),
        pairs_(reinterpret_cast<float2*>(dy_ + room)) {
    channel_ = by_channel.quotient(max(index_of(0), 0));
    channels_ = packs_ == 0 ? 0 : by_channel.quotient(min(index_of(packs_), group.length) - 1) + 1 - channel_;
  }

  // Elements of the part, its first channel, and how many it has elements of.
  __device__ int size() const {
    return group.size(begin_, begin_ + packs_);
  }
  __device__ int first_channel() const {
    return channel_;
  }
  __device__ int channels() const {
    return channels_;
  }

  // Begins to copy the part. Called by all its threads, after the barriers have been initialised for one arrival each,
  // if there are bulk copies.
  __device__ void load(Barrier (&full)[2]) const {
    if (kBulk && lane_ == 0) full[0].expect(packs_ * 16), full[1].expect(packs_ * 16);
    copy(x_, group.x, full[0]);
    copy(dy_, group.dy, full[1]);
    if constexpr (Ragged) copy_cut_packs();
  }
  // Begins to bring the part's whole packs to L2, for a block that copies it later; from sm_90 on. Called by one
  // thread.
  __device__ void prefetch() const {
    const int from = packs_ > 0 && !group.has_whole(index_of(0)) ? 1 : 0;
    const int count = packs_ - from - (packs_ > from && !group.has_whole(index_of(packs_ - 1)) ? 1 : 0);
    if (count <= 0) return;
    bulk::prefetch(group.x + index_of(from), count * 16);
    bulk::prefetch(group.dy + index_of(from), count * 16);
  }
  // Returns when the thread's packs of X have come, and of DY too. Each thread reads its own packs only. `parity` is 1
  // after the barriers have been used once.
  __device__ void wait_x(Barrier (&full)[2], int parity = 0) const {
    if constexpr (kBulk)
      full[0].wait(parity);
    else
      cp_async::wait<1>();
  }
  __device__ void wait_dy(Barrier (&full)[2], int parity = 0) const {
    if constexpr (kBulk)
      full[1].wait(parity);
    else
      cp_async::wait<0>();
  }

  // The sum of the thread's elements of X.
  __device__ f32 sum() const {
    f32 sum = 0;
#pragma unroll 2
    for (int q = lane_; q < packs_; q += Lanes) {
      const Elements<T> x = {x_[q]};
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum += to_f32(x[i]);
    }
    return sum;
  }
  // The sums over the thread's elements of (x - mean)^2, of g and of g * (x - mean). Leaves the pairs of its packs: of
  // DY and of DY * (x - mean).
  __device__ Sums<3> add_up(f32 mean) const {
    Sums<3> all = {};
#pragma unroll 2
    for (int q = lane_; q < packs_; q += Lanes) {
      const Elements<T> x = {x_[q]}, dy = {dy_[q]};
      const int channel = by_channel_.quotient(max(index_of(q), 0));
      if constexpr (Narrow) {
        add_up_each(q, channel, x, dy, mean, all);
      } else if constexpr (!Whole) {
        add_up_two(q, channel, x, dy, mean, all);
      } else {
        float2 pair = {};
#pragma unroll
        for (int i = 0; i < kCount; ++i) add(to_f32(x[i]) - mean, to_f32(dy[i]), pair, all);
        leave(q, channel, pair, all);
      }
    }
    return all;
  }
  // Calls f(c, pair, own) with the sums of the pairs of each channel of the part that the thread's warp has, whose
  // first pair is `own`, in one of its lanes. Called by all threads of the part, when all have left their pairs.
  template <class F> __device__ void each_channel(F f) const {
    if (packs_ > 64 * channels_)
      each_channel_by<32>(f);
    else
      each_channel_by<8>(f);
  }
  // The number of the first pair of channel c of the part.
  __device__ int pair_of(int c) const {
    return max(0, (c * extent() + group.skip) / kCount - begin_) + c - channel_;
  }
  __device__ const float2& pair(int i) const {
    return pairs_[i];
  }

  // Stores DX.
  template <class Output> __device__ void store(const RowGradient& at, Output output) const {
    const f32 tilt = -at.r * at.mean_gh, slope = at.r * tilt, origin = -at.r * at.mean_g;
#pragma unroll 2
    for (int q = lane_; q < packs_; q += Lanes) {
      const Elements<T> x = {x_[q]}, dy = {dy_[q]};
      const int j = index_of(q);
      Pack<T, kCount> out;
      if constexpr (Whole) {
        const int c = by_channel_.quotient(j);
        const f32 scale = at.r * weight(c);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const f32 dx = scale * to_f32(dy[i]) + (slope * (to_f32(x[i]) - at.mean) + origin);
          out.x[i] = from_f32<T>(output(dx, group.n, group.first + c, j - c * extent() + i));
        }
      } else {
        const ChannelAffine<T, kCount, Narrow, Affine >= 1> affine(W_, W_, end_channel(), by_channel_, group.first, j);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          // The product is rounded as that in the mean of g: DX of a group of one element is 0.
          f32 g = to_f32(dy[i]);
          if constexpr (Affine >= 1) g = __fmul_rn(g, affine.weight[i]);
          const f32 dx = at.r * (g - at.mean_g + tilt * (to_f32(x[i]) - at.mean));
          out.x[i] = from_f32<T>(output(dx, group.n, affine.channel_of(i), affine.position_of(i)));
        }
      }
      if (group.has_whole(j)) {
        store_whole_pack(group.dx + j, out);
        continue;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if (group.has(j + i)) group.dx[j + i] = out.x[i];
    }
  }

 private:
  static constexpr int kChunk = 512;  // packs that are copied at a time

  // Begins to copy the part's whole packs of a tensor, in which the group begins at `from`.
  __device__ void copy(uint4* to, const T* from, Barrier& full) const {
    if constexpr (kBulk) {
      if (lane_ > 0) return;
      for (int q = 0; q < packs_; q += kChunk)
        bulk::load(to + q, from + index_of(q), min(kChunk, packs_ - q) * 16, full);
    } else {
      for (int q = lane_; q < packs_; q += Lanes)
        if (group.has_whole(index_of(q))) cp_async::cg(smem_address(to + q), from + index_of(q));
      cp_async::commit();
    }
  }
  // Copies the packs that belong to the group only in part, with zeros for the other elements.
  __device__ void copy_cut_packs() const {
    for (int q = lane_; q < packs_; q += Lanes) {
      const int j = index_of(q);
      if (group.has_whole(j)) continue;
      Pack<T, kCount> x = {}, dy = {};
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if (group.has(j + i)) x.x[i] = group.x[j + i], dy.x[i] = group.dy[j + i];
      x_[q] = reinterpret_cast<const uint4&>(x), dy_[q] = reinterpret_cast<const uint4&>(dy);
    }
  }
  // The index in the group of the first element of the part's pack q.
  __device__ int index_of(int q) const {
    return group.index_of(begin_ + q);
  }
  __device__ int extent() const {
    return static_cast<int>(by_channel_.by);
  }
  __device__ int end_channel() const {
    return group.first + static_cast<int>(by_channel_.quotient(group.length));
  }
  __device__ f32 weight(int c) const {
    if constexpr (Affine >= 1) return to_f32(W_.data[(group.first + c) * W_.stride[0]]);
    return 1;
  }
  __device__ static void add(f32 distance, f32 dy, float2& pair, Sums<3>& all) {
    all.x[0] += distance * distance, pair.x += dy, pair.y += dy * distance;
  }
  __device__ void leave(int q, int channel, const float2& pair, Sums<3>& all) const {
    const f32 w = weight(channel);
    all.x[1] += w * pair.x, all.x[2] += w * pair.y;
    if constexpr (Affine >= 1) pairs_[q + channel - channel_] = pair;
  }
  // Of a pack that has elements of this channel and, at will, of the next.
  __device__ void add_up_two(int q, int channel, const Elements<T>& x, const Elements<T>& dy, f32 mean,
                             Sums<3>& all) const {
    const int first = index_of(q), next = (channel + 1) * extent();  // where the next channel begins
    float2 pairs[2] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const f32 d = to_f32(x[i]) - mean, g = to_f32(dy[i]);
      if (group.has(first + i)) all.x[0] += d * d;
      if (first + i < next)
        pairs[0].x += g, pairs[0].y += g * d;
      else
        pairs[1].x += g, pairs[1].y += g * d;
    }
    leave(q, channel, pairs[0], all);
    if (next < first + kCount && next < group.length) leave(q, channel + 1, pairs[1], all);
  }
  // Of a pack that has elements of any number of channels, of which this is the first.
  __device__ void add_up_each(int q, int channel, const Elements<T>& x, const Elements<T>& dy, f32 mean,
                              Sums<3>& all) const {
    float2 pair = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int j = index_of(q) + i;
      if (!group.has(j)) continue;
      add(to_f32(x[i]) - mean, to_f32(dy[i]), pair, all);
      const bool last = j + 1 == (channel + 1) * extent();  // of its channel
      if (!last && i + 1 < kCount) continue;
      leave(q, channel, pair, all);
      if (last) pair = {}, ++channel;
    }
  }
  template <int Width, class F> __device__ void each_channel_by(F f) const {
    const auto plus = [](const Sums<2>& a, const Sums<2>& b) { return a + b; };
    for (int base = 0; base < channels_; base += Lanes / Width) {
      const int c = channel_ + base + lane_ / Width, own = pair_of(c);
      Sums<2> sums = {};
      if (c < channel_ + channels_) {
        const int end = (c + 1) * extent() + group.skip;
        const int last = min((end - 1) / kCount, begin_ + packs_ - 1) - begin_ + c - channel_;
#pragma unroll 4
        for (int i = own + lane_ % Width; i <= last; i += Width) sums.x[0] += pairs_[i].x, sums.x[1] += pairs_[i].y;
      }
      sums = warp_reduce<Width>(sums, plus);
      if (lane_ % Width == 0 && c < channel_ + channels_) f(c, make_float2(sums.x[0], sums.x[1]), pairs_[own]);
    }
  }

  const View<const T, 1>& W_;
  const Divisor& by_channel_;
  const int lane_, begin_, packs_;
  uint4 *const x_, *const dy_;
  float2* const pairs_;
  int channel_, channels_;  // the first channel of the part, and how many it has elements of
};
