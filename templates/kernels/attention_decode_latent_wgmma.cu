//! kernel  attention_decode_latent  "latent attention of the last tokens of sequences, absorbed: O = softmax(scale * Q C^T) of the first 512 columns of C, a cache of rows that all heads share, in pages that sequences list; a number that is no page's reads as zeros"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/attention_latent.cuh"
//! use     "device/pipeline/attention_latent.cuh"
//!
//! param   RUN     = 64    in {64, 32, 16, 8}       "neighbouring keys that are certainly in one page"
//!
//! require sizeof(E) == sizeof(T)                   "TMA copies rows as they are multiplied"
//! require SIZE % RUN == 0                          "keys that are copied together must be in one page"
//! require P > 0 || N == 0                          "TMA has no map of a cache without pages"
//!
//! tensor  C  box [1, RUN, 64]  swizzle 128  l2 256

#include "device/reference/attention_latent.cuh"
#include "device/schedule/attention_decode.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/epilogue/attention_latent.cuh"
#include "device/pipeline/tma_latent.cuh"

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode_latent(
    View<const T, 4> Q, const __grid_constant__ CUtensorMap C, View<const s32, 2> PAGES, View<const s32, 1> LENGTHS,
    View<const f32, 1> SC, View<T, 4> O, View<f32, 3> L, u8* parts, u8* counters, f32 scale, const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  if (threadIdx.x == kConsumers) {
    if (dims.P > 0 && dims.SIZE > 0) tma::prefetch(C);
    smem.init();
  }
  prefetch_queries(Q, PAGES, dims);
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims); });
  if (work.part >= work.parts) return;
  if (threadIdx.x < kConsumers) {
    start_consumer(THREADS);
    take_registers<232>();
    const DecodeOutput to = {O, L, numbers_of(SC), reinterpret_cast<BlockPart*>(parts),
                             reinterpret_cast<u32*>(counters)};
    attend_latent(smem, Q, work, to.numbers.product_scale(scale, 0, 0), dims);
    combine_latent<kConsumers>(smem.part, work, to, [] { sync(5, kConsumers); });
  } else {
    start_producer(THREADS);
    give_registers<40>();
    const PagedKeys<RUN> table = {PAGES.data + work.sequence * PAGES.stride[0], PAGES.stride[1], dims.SIZE, dims.P};
    if (threadIdx.x < kConsumers + 32) load_latent(smem, C, table, work);
  }
}

#endif
