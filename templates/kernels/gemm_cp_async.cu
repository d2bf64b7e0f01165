//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = bf16  in {bf16, f16}            "elements of A and B"
//! type    O      = bf16  in {bf16, f16, f32}       "elements of D"
//! dim     M, N, K in 0..2147483647
//!
//! param   VEC     = 16   in {16, 8, 4, 2}          "bytes copied at once: the rows of A and B begin at multiples of it"
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 256  in {64, 128, 256}         "columns of D per block"
//! param   BK      = 32   in {32, 64}               "columns of A and B per step: one swizzled row of 64 or 128 bytes"
//! param   WM      = 64   in {32, 64}               "rows of D per warp"
//! param   WN      = 64   in {32, 64}               "columns of D per warp"
//! param   STAGES  = 3    in 2..6                   "tiles of A and B in flight"
//! param   BLOCKS  = 1    in {1, 2, 3}              "blocks that share an SM"
//! param   BAND    = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     WARPS_N   = BN / WN
//! let     WARPS     = BM / WM * WARPS_N
//! let     THREADS   = 32 * WARPS
//! let     PITCH     = WN * sizeof(O) + 16          "bytes of a staged row of D: no two rows meet in a bank"
//! let     SMEM      = align_up(STAGES * (BM + BN) * BK * sizeof(T) + WARPS * 16 * PITCH, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * BLOCKS))
//!
//! require alignment(A) >= VEC && alignment(B) >= VEC "A and B must begin at a multiple of the access"
//! require stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 "rows of A and B must begin at multiples of the access"
//! require VEC == 2 || (stride(A, 1) == 1 && stride(B, 1) == 1) "elements that move together must be neighbours"
//! require VEC != 4 || BK == 32                   "one pass of the block copies whole groups of 8 rows"
//! require WARPS == 4 || WARPS == 8                 "a block has 128 or 256 threads"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "the pipelines of an SM's blocks must fit in shared memory"
//! require (WM * WN / 32 + WM / 2 + WN / 2 + 60) * THREADS * BLOCKS <= device.registers_per_sm "accumulators and fragments must fit in registers"
//!
//! tensor  A : T[M, K]
//! tensor  B : T[N, K]
//! tensor  D : O[M, N]  out
//!
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to each element of the product before it is rounded"
//!
//! launch  grid ceil_div(TILES, WAVES)  block THREADS  smem SMEM
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  VEC = 16, BM = 64, BN = 64, BK = 64, WM = 32, WN = 32, STAGES = 4   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  VEC = 16, BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, STAGES = 5 when device.smem_per_block >= 180000 && ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
//! preset  VEC = 16, BM = 128, BN = 256, BK = 64, WM = 64, WN = 64, STAGES = 4 when device.smem_per_block >= 220000
//! preset  VEC = 16, BM = 128, BN = 256, BK = 32, WM = 64, WN = 64, STAGES = 3
//! preset  VEC = 8, BM = 128, BN = 128, BK = 32, WM = 64, WN = 32, STAGES = 3
//! preset  VEC = 4, BM = 128, BN = 128, BK = 32, WM = 64, WN = 32, STAGES = 3
//! preset  VEC = 2, BM = 64, BN = 64, BK = 32, WM = 32, WN = 32, STAGES = 2, BLOCKS = 3

#include "device/cp_async.cuh"
#include "device/fragment.cuh"
#include "device/gemm_problem.cuh"
#include "device/gemm_reference.cuh"
#include "device/pack.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kRowBytes = BK * sizeof(T);  // of a tile: the swizzle's width
constexpr int kSteps = BK / 16;

struct Smem {
  alignas(1024) T a[STAGES][BM][BK];
  alignas(1024) T b[STAGES][BN][BK];
  alignas(16) u8 staged[WARPS][16][PITCH];
};
static_assert(sizeof(Smem) == SMEM);

struct Problem : GemmProblem<1> {
  View<const T, 2> a, b;
  View<O, 2> d;
  __device__ int steps() const { return max(1, GemmProblem::steps()); }  // K = 0 is one step of zeros
};

// What a thread copies of one operand's tiles of Rows rows: the same columns of every kDown-th row.
template <int Rows> struct Share {
  static constexpr int kBytes = VEC == 2 ? 16 : VEC;  // elements that are no neighbours are gathered to 16 bytes
  static constexpr int kAcross = kRowBytes / kBytes, kDown = THREADS / kAcross, kPasses = Rows / kDown;
  static_assert(kDown % 8 == 0 && Rows % kDown == 0);  // so every pass has the same place in the swizzle

  const T* from;      // the first row's elements of the next step
  s64 pass, along;    // elements from one pass to the next, and from one element to the next
  int rows, columns;  // left in the tensor, from the thread's first ones; may be negative
  u32 to;             // in a slot, relative to the tile

  __device__ static int row() { return threadIdx.x / kAcross; }
  __device__ static int column() { return threadIdx.x % kAcross * (kBytes / int{sizeof(T)}); }

  __device__ void start(const View<const T, 2>& tensor, int first, int extent, int k) {
    along = VEC == 2 ? tensor.stride[1] : 1;
    from = tensor.data + s64{first + row()} * tensor.stride[0] + column() * along;
    pass = tensor.stride[0] * kDown;
    rows = extent - first - row();
    columns = k - column();
    const int byte = column() * sizeof(T);
    to = mma::swizzled<kRowBytes>(row(), byte / 16) + byte % 16;
  }
  __device__ void advance() {
    from += BK * along;
    columns -= BK;
  }
  // The index-th pass, into the tile at `tile`. What lies outside the tensor becomes zero.
  __device__ void copy(u32 tile, int index) const {
    const T* source = from + pass * index;
    const int inside = index * kDown < rows ? min(max(columns, 0), kBytes / int{sizeof(T)}) : 0;
    const u32 target = tile + to + index * (kDown * kRowBytes);
    if constexpr (VEC == 16)
      cp_async::cg(target, source, inside * sizeof(T));
    else if constexpr (VEC > 2)
      cp_async::ca<VEC>(target, source, inside * sizeof(T));
    else
      gather(target, source, inside);
  }
  __device__ void gather(u32 target, const T* source, int inside) const {
    u32 x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const u32 low = 2 * i < inside ? source[2 * i * along].bits : 0;
      const u32 high = 2 * i + 1 < inside ? source[(2 * i + 1) * along].bits : 0;
      x[i] = high << 16 | low;
    }
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(target), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
  }
};

// Walks all steps of all tiles of this block, STAGES - 1 steps ahead of the products.
struct Loader {
  Share<BM> a;
  Share<BN> b;
  int index, step = 0;
  u32 slot = 0;

  __device__ explicit Loader(const Problem& p) : index(p.first()) { start(p); }
  __device__ void start(const Problem& p) {
    const Tile tile = p.tile(index);
    a.start(p.a, tile.row * BM, p.m, p.k);
    b.start(p.b, tile.column * BN, p.n, p.k);
  }
  // One of Parts shares of the next step's copies; nothing once every tile is loaded.
  template <int Parts> __device__ void copy(Smem& smem, const Problem& p, int part) const {
    if (index >= p.tiles()) return;
    constexpr int kAll = Share<BM>::kPasses + Share<BN>::kPasses;
    const u32 a_tile = smem_address(smem.a[0]) + slot * sizeof(smem.a[0]),
              b_tile = smem_address(smem.b[0]) + slot * sizeof(smem.b[0]);
#pragma unroll(VEC == 2 ? 1 : kAll)  // gathering takes many registers
    for (int i = 0; i < kAll; ++i) {
      if (i * Parts / kAll != part) continue;
      if (i < Share<BM>::kPasses)
        a.copy(a_tile, i);
      else
        b.copy(b_tile, i - Share<BM>::kPasses);
    }
  }
  __device__ void finish(const Problem& p) {
    cp_async::commit();
    slot = slot + 1 == STAGES ? 0 : slot + 1;
    a.advance();
    b.advance();
    if (++step < p.steps()) return;
    step = 0;
    index += p.stride();
    if (index < p.tiles()) start(p);
  }
};

// What one k16 step of a warp multiplies.
struct Fragments {
  mma::FragmentA a[WM / 16];
  mma::FragmentB b[WN / 8];
};

using Accumulators = f32[WM / 16][WN / 8][4];

// One warp's reading end of the ring.
struct Reader {
  u32 a, b;  // of the current slot, with this lane's offset still to be added
  u32 slot = 0, a_offset, b_offset;

  __device__ Reader(Smem& smem, int row, int column)
      : a(smem_address(smem.a[0])),
        b(smem_address(smem.b[0])),
        a_offset(mma::offset_a<kRowBytes>(row)),
        b_offset(mma::offset_b<kRowBytes>(column)) {}

  __device__ void advance() {
    const bool wrap = ++slot == STAGES;
    a += wrap ? -(STAGES - 1) * int{sizeof(Smem::a[0])} : int{sizeof(Smem::a[0])};
    b += wrap ? -(STAGES - 1) * int{sizeof(Smem::b[0])} : int{sizeof(Smem::b[0])};
    if (wrap) slot = 0;
  }
  __device__ void load(Fragments& f, int k) const {
    const u32 a_row = a + (a_offset ^ k * 2), b_row = b + (b_offset ^ k * 2);
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) f.a[i] = mma::load_a(a_row + i * 16 * kRowBytes);
#pragma unroll
    for (int j = 0; j < WN / 8; j += 2) mma::load_b(b_row + j * 8 * kRowBytes, f.b[j], f.b[j + 1]);
  }
};

// Every other row of products is walked backwards, so that neighbours share an operand.
__device__ inline void multiply(Accumulators& acc, const Fragments& f) {
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int n = 0; n < WN / 8; ++n) {
      const int j = i % 2 == 0 ? n : WN / 8 - 1 - n;
      mma::multiply<T>(acc[i][j], f.a[i], f.b[j]);
    }
}

// The next slot's bytes have arrived for every thread, and no thread reads the slot before the current one any more.
__device__ inline void next_slot() {
  cp_async::wait<STAGES - 2>();
  __syncthreads();
}

// One tile's products. Invariant: `fragments[0]` holds the first k16 step; while one k16 step is multiplied the
// fragments of the next are on their way, across slots and tiles too.
__device__ inline void accumulate(Smem& smem, const Problem& p, Loader& loader, Reader& reader,
                                  Fragments (&fragments)[2], Accumulators& acc) {
#pragma unroll 1
  for (int step = 0; step < p.steps(); ++step) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (i == kSteps - 1) {
        loader.finish(p);
        next_slot();
        reader.advance();
      }
      reader.load(fragments[(i + 1) % 2], (i + 1) % kSteps * 16);
      if (i < kSteps - 1) loader.copy<kSteps - 1>(smem, p, i);
      multiply(acc, fragments[i % 2]);
    }
  }
}

template <class E> __device__ inline void put_pair(u8* to, f32 x, f32 y) {
  if constexpr (sizeof(E) == 2)
    *reinterpret_cast<u32*>(to) = pack<E>(x, y);
  else
    *reinterpret_cast<float2*>(to) = make_float2(x, y);
}

// Round 16 rows of a warp's tile into its staging rows.
__device__ inline void round_rows(u8 (&staged)[16][PITCH], int row, int column, const f32 (&acc)[WN / 8][4]) {
  const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < WN / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + g + half * 8, c = column + j * 8 + q * 2;
      const f32 x = epilogue(acc[j][half * 2], r, c), y = epilogue(acc[j][half * 2 + 1], r, c + 1);
      u8* to = &staged[g + half * 8][(j * 8 + q * 2) * sizeof(O)];
      put_pair<O>(to, x, y);
    }
}

// Store a warp's 16 staged rows: 16 bytes a lane where D's rows allow it, else neighbouring elements by neighbouring
// lanes.
__device__ inline void store_rows(const u8 (&staged)[16][PITCH], const Problem& p, int row, int column, bool whole) {
  constexpr int kCount = 16 / sizeof(O), kLanes = WN / kCount;
  const int lane = threadIdx.x % 32;
  if (whole && column + WN <= p.n) {
#pragma unroll
    for (int r = lane / kLanes; r < 16; r += 32 / kLanes) {
      const int c = lane % kLanes * kCount;
      if (row + r < p.m)
        *reinterpret_cast<Pack<O, kCount>*>(p.d.data + (row + r) * p.d.stride[0] + column + c) =
            *reinterpret_cast<const Pack<O, kCount>*>(&staged[r][c * sizeof(O)]);
    }
    return;
  }
#pragma unroll 1
  for (int i = lane; i < 16 * WN; i += 32) {
    const int r = i / WN, c = i % WN;
    if (row + r < p.m && column + c < p.n)
      p.d.data[(row + r) * p.d.stride[0] + (column + c) * p.d.stride[1]] =
          *reinterpret_cast<const O*>(&staged[r][c * sizeof(O)]);
  }
}

__device__ inline void store(Smem& smem, const Problem& p, int row, int column, const Accumulators& acc) {
  u8(&staged)[16][PITCH] = smem.staged[threadIdx.x / 32];
  const bool whole =
      reinterpret_cast<u64>(p.d.data) % 16 == 0 && p.d.stride[0] * sizeof(O) % 16 == 0 && p.d.stride[1] == 1;
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
    __syncwarp();
    round_rows(staged, row + i * 16, column, acc[i]);
    __syncwarp();
    store_rows(staged, p, row + i * 16, column, whole);
  }
}

// Fragments are read one step ahead, at the end of a short problem from slots that no copy has filled. What is read
// there is not used, but shared memory that nothing has written is nobody's to read.
__device__ inline void clear(Smem& smem) {
  auto* const words = reinterpret_cast<uint4*>(&smem);
#pragma unroll 1
  for (u32 i = threadIdx.x; i < (sizeof(smem.a) + sizeof(smem.b)) / 16; i += THREADS) words[i] = {};
  __syncthreads();
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm(View<const T, 2> A, View<const T, 2> B, View<O, 2> D,
                                                                   const Dims dims) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  const Problem p = {{static_cast<int>(dims.M), static_cast<int>(dims.N), static_cast<int>(dims.K)}, A, B, D};
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;

  if (p.steps() < STAGES) clear(smem);
  Loader loader(p);
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) {
    loader.copy<1>(smem, p, 0);
    loader.finish(p);
  }
  next_slot();
  Reader reader(smem, row, column);
  Fragments fragments[2];
  reader.load(fragments[0], 0);
#pragma unroll 1
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    Accumulators acc = {};
    accumulate(smem, p, loader, reader, fragments, acc);
    const Tile tile = p.tile(index);
    store(smem, p, tile.row * BM + row, tile.column * BN + column, acc);
  }
}

#endif
