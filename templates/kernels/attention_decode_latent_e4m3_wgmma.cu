//! kernel  attention_decode_latent  "latent attention of the last tokens of sequences, absorbed: O = softmax(scale * Q C^T) of the first 512 columns of C, a cache of rows that all heads share, in pages that sequences list; a number that is no page's reads as zeros"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/attention_latent.cuh"
//! use     "device/pipeline/attention_latent.cuh"
//!
//! require sizeof(E) == 1                           "the cache is e4m3"
//! require alignment(C) >= 16 && (stride(C, 0) | stride(C, 1)) % 16 == 0 "rows are loaded 16 bytes at a time"
//! require stride(C, 2) == 1                        "elements of a row are neighbours"

#include "device/reference/attention_latent.cuh"
#include "device/schedule/attention_decode.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/epilogue/attention_latent.cuh"
#include "device/pipeline/attention_latent_e4m3.cuh"
#include "device/pipeline/cache_rows.cuh"
#include "device/pipeline/latent_queries.cuh"

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode_latent(
    View<const T, 4> Q, View<const E, 3> C, View<const s32, 2> PAGES, View<const s32, 1> LENGTHS, View<const f32, 1> SC,
    View<T, 4> O, View<f32, 3> L, u8* parts, u8* counters, f32 scale, const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  __shared__ DecodeWork kept;  // for the end, as no registers are left for it meanwhile
  if (threadIdx.x == kConsumers) smem.init();
  prefetch_queries(Q, PAGES, dims);
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims); });
  if (work.part >= work.parts) return;
  if (threadIdx.x == kConsumers) kept = work;
  __syncthreads();
  if (threadIdx.x < kConsumers) {
    take_registers<232>();
    const DecodeOutput to = {O, L, numbers_of(SC), reinterpret_cast<BlockPart*>(parts),
                             reinterpret_cast<u32*>(counters)};
    attend_latent(smem, Q, work, to.numbers.product_scale(scale, 0, 0), dims);
    work = kept;
    work.find_rows(dims);
    combine_latent<kConsumers>(smem.part, work, to, [] { sync(5, kConsumers); });
  } else {
    give_registers<40>();
    const PagedKeys<1> table = {PAGES.data + work.sequence * PAGES.stride[0], PAGES.stride[1], dims.SIZE, dims.P};
    CacheRows<Smem, DecodeWork>(smem, C, table, work).load();
  }
}

#endif
