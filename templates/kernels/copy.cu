//! kernel  copy     "D[i] = S[i], bit for bit"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     N : s64        in 0..576460752303423488
//!
//! param   VEC    = 16    in {16, 8, 4, 2, 1}       "bytes: both addresses are a multiple; 16 goes through the copy engine"
//! param   CHUNK  = 16384 in {4096, 8192, 16384, 32768} "bytes of one bulk copy"
//! param   STAGES = 4     in 2..8                   "chunks in flight in a block"
//! param   BLOCKS = 2     in {1, 2, 4}              "blocks per SM"
//!
//! let     BULK    = VEC == 16
//! let     THREADS = BULK ? 32 : 256
//! let     SMEM    = BULK ? align_up(STAGES * CHUNK + 8 * STAGES, 128) : 0
//! let     BYTES   = N * sizeof(T)
//!
//! require alignment(S) >= VEC && alignment(D) >= VEC  "both addresses must be multiples of the access"
//! require SMEM <= device.smem_per_block               "the chunks in flight must fit in shared memory"
//! require BLOCKS * (SMEM + 1024) <= device.smem_per_sm "the blocks of an SM share its memory"
//! require stride(S, 0) == 1 && stride(D, 0) == 1      "the elements must be neighbours"
//!
//! tensor  S : T[N]
//! tensor  D : T[N]  out
//!
//! launch  grid min(ceil_div(BYTES, CHUNK), device.sm_count * BLOCKS)  block THREADS  smem SMEM
//! work    flops 0  bytes 2 * BYTES
//! reference copy_reference  grid min(ceil_div(N, 256), 65536)  block 256
//!
//! preset  CHUNK = 16384, STAGES = 3, BLOCKS = 2          when device.smem_per_sm < 131072
//! preset  CHUNK = 16384, STAGES = 4, BLOCKS = 2

#include "device/bulk.cuh"
#include "device/convert.cuh"
#include "device/pack.cuh"
#include "device/tma.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(128) u8 chunk[BULK ? STAGES : 1][CHUNK];
  Barrier full[STAGES];
};

// The chunks of one block: every gridDim.x-th, the last one shorter.
struct Chunks {
  s64 bytes;
  __device__ s64 begin(s64 i) const { return (blockIdx.x + i * gridDim.x) * CHUNK; }
  __device__ s64 count() const {
    const s64 all = ceil_div<s64>(bytes, CHUNK);
    return all > blockIdx.x ? ceil_div<s64>(all - blockIdx.x, gridDim.x) : 0;
  }
  __device__ u32 size(s64 i) const { return static_cast<u32>(min(bytes - begin(i), s64{CHUNK})); }
};

__device__ inline void load(Smem& smem, int slot, const u8* from, Chunks chunks, s64 i) {
  smem.full[slot].expect(chunks.size(i));
  bulk::load(smem.chunk[slot], from + chunks.begin(i), chunks.size(i), smem.full[slot]);
}

// One thread keeps STAGES chunks in flight. Invariant: when chunk i is stored, the slots of chunks i + 1 to i + STAGES - 1
// are being filled, and the slot of chunk i - 1 is refilled as soon as its store has read it.
__device__ void copy_chunks(Smem& smem, u8* to, const u8* from, Chunks chunks) {
  const s64 count = chunks.count();
  for (int i = 0; i < STAGES && i < count; ++i) load(smem, i, from, chunks, i);
  Ring<STAGES> ring;
  for (s64 i = 0; i < count; ++i, ring.advance()) {
    smem.full[ring.slot].wait(ring.phase);
    bulk::store(to + chunks.begin(i), smem.chunk[ring.slot], chunks.size(i));
    tma::commit();
    tma::wait_read<1>();
    if (i >= 1 && i - 1 + STAGES < count) load(smem, ring.slot == 0 ? STAGES - 1 : ring.slot - 1, from, chunks, i - 1 + STAGES);
  }
  tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

__device__ void copy_packs(u8* to, const u8* from, s64 bytes) {
  using Access = Pack<u8, VEC>;
  const s64 stride = s64{gridDim.x} * THREADS;
  for (s64 i = s64{blockIdx.x} * THREADS + threadIdx.x; i < bytes / VEC; i += stride)
    reinterpret_cast<Access*>(to)[i] = reinterpret_cast<const Access*>(from)[i];
}

extern "C" __global__ __launch_bounds__(THREADS)
void copy(View<const T, 1> S, View<T, 1> D, const Dims dims) {
  const u8* from = reinterpret_cast<const u8*>(S.data);
  u8* to = reinterpret_cast<u8*>(D.data);
  const s64 bytes = dims.N * s64{sizeof(T)}, whole = bytes / VEC * VEC;
  if (blockIdx.x == 0 && threadIdx.x < bytes - whole) to[whole + threadIdx.x] = from[whole + threadIdx.x];
  if constexpr (BULK) {
    extern __shared__ __align__(128) u8 raw[];
    Smem& smem = *reinterpret_cast<Smem*>(raw);
    if (threadIdx.x != 0) return;
    for (Barrier& full : smem.full) full.init(1);
    fence_barrier_init();
    copy_chunks(smem, to, from, {whole});
  } else {
    copy_packs(to, from, whole);
  }
}

#else

extern "C" __global__ void copy_reference(View<const T, 1> S, View<f64, 1> D, const Dims dims) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.N; i += s64{gridDim.x} * blockDim.x)
    D.data[i * D.stride[0]] = to_f64(S.data[i * S.stride[0]]);
}

#endif
