#pragma once
// The gradients of keys and values whose tiles several blocks share: each block leaves f32 sums of its part of a tile's
// steps in a workspace, and once all of a head's tiles have been made, the blocks round the sums of the parts, added
// first to last. T, HD, HV and Dims are the template's.
#include "device/epilogue/round_sums.cuh"
#include "device/tile/plus.cuh"

#ifndef TMA_JIT_REFERENCE

// Rounds a piece of the sums of DQ by `round_queries`, and the piece's share of the head's keys. Made from workspaces:
// `parts` are f32[head of keys][part][key][HD elements of DK, then HV of DV], `counters` two of each head, which are
// zero before and after a launch: warps that have stored a tile's part, and pieces that have been rounded.
template <int Split, class RoundQueries> struct KeysRounder {
  const RoundQueries& round_queries;
  f32* parts;
  u32* counters;
  const View<T, 3>&DK, &DV;
  const Dims& dims;

  // Return where the parts of DK and DV are.
  __device__ View<f32, 3> key_parts() const { return {parts, {s64{dims.N} * kColumns, kColumns, 1}}; }
  __device__ View<f32, 3> value_parts() const { return {parts + HD, {s64{dims.N} * kColumns, kColumns, 1}}; }

  // Tells that a consumer warp has stored what it has of a tile's part. Called by all lanes of the warp.
  template <class Work> __device__ void made(const Work& work) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) global::add_release(counters + 2 * s64{work.kv_head}, 1);
  }

  template <class Reader>
  __device__ void operator()(const SumsPiece& piece, const Reader& reader, int thread, int barrier) const {
    round_queries(piece, reader, thread, barrier);
    u32* const stored = counters + 2 * s64{piece.kv_head};
    constexpr int kWarps = Reader::kThreads / 32;  // of the consumers
    if (thread % 32 == 0) global::await(stored, kWarps * piece.tiles);
    __syncwarp();
    const int end = (piece.end_key - piece.first_key) * kEights;
#pragma unroll 1
    for (int item = thread; item < end; item += Reader::kThreads)
      round_eight(piece.kv_head, piece.first_key + item / kEights, item % kEights * 8);
    sync(barrier, Reader::kThreads);
    if (thread == 0 && last_arriver(stored + 1, piece.pieces)) *stored = 0;
  }

 private:
  static constexpr int kColumns = HD + HV, kEights = kColumns / 8;

  // Adds and rounds eight columns of a key, of DK and then of DV.
  __device__ void round_eight(s64 kv_head, s64 key, int column) const {
    float4 x[Split][2];
#pragma unroll
    for (int part = 0; part < Split; ++part)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        x[part][i] = *reinterpret_cast<const float4*>(parts + ((kv_head * Split + part) * dims.N + key) * kColumns +
                                                      column + 4 * i);
#pragma unroll
    for (int part = 1; part < Split; ++part)
#pragma unroll
      for (int i = 0; i < 2; ++i) x[0][i] = plus(x[0][i], x[part][i]);
    T* const to = column < HD ? DK.data + kv_head * DK.stride[0] + key * DK.stride[1] + column
                              : DV.data + kv_head * DV.stride[0] + key * DV.stride[1] + column - HD;
    const float4 &a = x[0][0], &b = x[0][1];
    *reinterpret_cast<uint4*>(to) =
        make_uint4(pack<T>(a.x, a.y), pack<T>(a.z, a.w), pack<T>(b.x, b.y), pack<T>(b.z, b.w));
  }
};

#endif
