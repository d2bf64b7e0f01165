#pragma once
// Products on shared tiles by tcgen05.mma, issued by one thread, and the use of their results. With Blocks 2 a pair of
// blocks of a cluster multiplies: each has half of the rows of `a` and half of the rows of `b`.
#include "device/ptx/cvt.cuh"
#include "device/ptx/tcgen05.cuh"
#include "device/ptx/tensor_memory.cuh"
#include "device/tile/operand_tile.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"
#include "device/tile/unit_types.cuh"

namespace tcgen05 {

// PTX's kind of product for an element type, the type's number in it, and the number of the accumulators' type.
template <class Type, u32 Number, u32 Sum> struct NumberedKind {
  using type = Type;
  static constexpr u32 number = Number, sum = Sum;
};
template <class T> struct KindOf : NumberedKind<F16, ptx::kSame<T, bf16>, 1> {};
template <> struct KindOf<e4m3> : NumberedKind<F8f6f4, 0, 1> {};
template <> struct KindOf<e5m2> : NumberedKind<F8f6f4, 1, 1> {};
template <> struct KindOf<f32> : NumberedKind<Tf32, 2, 1> {};
template <> struct KindOf<s8> : NumberedKind<I8, 1, 2> {};

// d (+)= a * b^T in f32, or in s32 for s8, over the columns of both; `d` is an address in tensor memory. Overwrites d
// unless `accumulate`; multiplies -a if `negative`.
template <int Blocks, class T, class U, int M, int N, int K, int Swizzle>
__device__ inline void multiply(u32 d, const SharedTile<T, M, K, Swizzle>& a, const SharedTile<U, N, K, Swizzle>& b,
                                bool accumulate, bool negative = false) {
  using Kind = KindOf<T>;
  constexpr int kDepth = 32 / sizeof(T);  // an instruction covers 32 bytes of K
  Instruction what = Instruction(M * Blocks, N * Blocks, Kind::number, KindOf<U>::number).accumulators(Kind::sum);
  what.negate(negative, false);
#pragma unroll
  for (int p = 0; p < a.kPanels; ++p) {
    const u64 a_panel = a.k_major(0, p) | kVersion, b_panel = b.k_major(0, p) | kVersion;
#pragma unroll
    for (int k = 0; k < a.kPanel; k += kDepth)
      mma<typename Kind::type, Blocks>(d, a_panel + k * sizeof(T) / 16, b_panel + k * sizeof(T) / 16, what,
                                       accumulate || p + k > 0);
  }
}

// Returns the descriptor of 32 bytes along K of an operand, from k on. Transposed tiles have a row for each element of
// K.
template <bool Transposed, class Tile> __device__ inline u64 along_k(const Tile& tile, int k) {
  if constexpr (Transposed)
    return tile.mn_major(k) | kVersion;
  else
    return (tile.k_major(0, k / Tile::kPanel) | kVersion) + k % Tile::kPanel * sizeof(typename Tile::Element) / 16;
}

// d (+)= a * b^T for tiles whose rows lie along K or, transposed, along M or N.
template <int Blocks, bool TransposedA, bool TransposedB, class A, class B>
__device__ inline void multiply_majors(u32 d, const A& a, const B& b, bool accumulate) {
  using T = typename A::Element;
  using Kind = KindOf<T>;
  constexpr int kRows = TransposedA ? A::kColumns : A::kRows, kDepth = TransposedA ? A::kRows : A::kColumns;
  constexpr int kColumns = TransposedB ? B::kColumns : B::kRows;
  static_assert(kDepth == (TransposedB ? B::kRows : B::kColumns));
  const Instruction what =
      Instruction(kRows * Blocks, kColumns * Blocks, Kind::number, KindOf<typename B::Element>::number)
          .accumulators(Kind::sum)
          .mn_major(TransposedA, TransposedB);
#pragma unroll
  for (int k = 0; k < kDepth; k += 32 / int{sizeof(T)})
    mma<typename Kind::type, Blocks>(d, along_k<TransposedA>(a, k), along_k<TransposedB>(b, k), what,
                                     accumulate || k > 0);
}

// The same for operands in either major order.
template <int Blocks, bool TransposedA, bool TransposedB, class T, class U, int M, int N, int K>
__device__ inline void multiply(u32 d, const OperandTile<TransposedA, T, M, K>& a,
                                const OperandTile<TransposedB, U, N, K>& b, bool accumulate) {
  if constexpr (!TransposedA && !TransposedB)
    multiply<Blocks>(d, static_cast<const typename OperandTile<false, T, M, K>::Shared&>(a),
                     static_cast<const typename OperandTile<false, U, N, K>::Shared&>(b), accumulate);
  else
    multiply_majors<Blocks, TransposedA, TransposedB>(d, a, b, accumulate);
}

// d (+)= a * b in f32, where `a` is in tensor memory, 128 rows a block of pairs of 16-bit elements, and `b` has a row
// for each column of `a` and a column for each column of the product, of which each block has its share. Overwrites d
// unless `accumulate`. Each Part columns of `a` begin Part columns of tensor memory after those before.
template <int Blocks, int Part = 0, class T, int K, int N, int Swizzle>
__device__ inline void multiply_rows(u32 d, u32 a, const SharedTile<T, K, N, Swizzle>& b, bool accumulate) {
  const Instruction what =
      Instruction(128 * Blocks, N * Blocks, KindOf<T>::number, KindOf<T>::number).accumulators(1).mn_major(false, true);
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    const int column = Part == 0 ? k / 2 : k / Part * Part + k % Part / 2;
    mma_ts<F16, Blocks>(d, a + column, b.mn_major(k) | kVersion, what, accumulate || k > 0);
  }
}

// Arrives once at the barrier of each of Blocks blocks when everything that this thread has issued before is complete.
template <int Blocks> __device__ inline void commit_blocks(Barrier& barrier) {
  if constexpr (Blocks == 1)
    commit(barrier);
  else
    commit_multicast<Blocks>(barrier, (1 << Blocks) - 1);
}

// Loads 32 lanes of tensor memory, starting at `from`, into the registers of the warp that may read them, at most 32
// columns an instruction: of one with 128 ptxas counts the registers that a block is launched with. No instruction may
// access the registers before the wait, not even a move that changes their type.
template <int Columns, class X> __device__ inline void load(RegisterTile<layout::Lane<Columns>, X>& to, u32 from) {
  constexpr int kPart = Columns < 32 ? Columns : 32;
  u32 bits[Columns / kPart][kPart];
#pragma unroll
  for (int i = 0; i < Columns / kPart; ++i) tensor_memory::ld<tensor_memory::Shape32x32b>(bits[i], from + i * kPart);
  tensor_memory::wait_ld();
#pragma unroll
  for (int i = 0; i < Columns; ++i) to.x[i] = reinterpret_cast<const X&>(bits[i / kPart][i % kPart]);
}
// Loads 16 lanes, starting at `from`, as accumulators of mma.sync.
template <int Columns> __device__ inline void load(RegisterTile<layout::Mma<16, Columns>>& to, u32 from) {
  constexpr int kPart = Columns < 64 ? Columns : 64;  // 32 registers
  u32 bits[Columns / kPart][kPart / 2];
#pragma unroll
  for (int i = 0; i < Columns / kPart; ++i) tensor_memory::ld<tensor_memory::Shape16x256b>(bits[i], from + i * kPart);
  tensor_memory::wait_ld();
#pragma unroll
  for (int i = 0; i < Columns / 2; ++i) to.x[i] = __uint_as_float(bits[i / (kPart / 2)][i % (kPart / 2)]);
}
// Starts storing registers into 32 lanes, each element as it is. Its end is tensor_memory::wait_st.
template <int Columns> __device__ inline void store(u32 to, const RegisterTile<layout::Lane<Columns>>& from) {
  u32 bits[Columns];
#pragma unroll
  for (int i = 0; i < Columns; ++i) bits[i] = __float_as_uint(from.x[i]);
  tensor_memory::st<tensor_memory::Shape32x32b>(to, bits);
}
// The same, rounded to pairs of a 16-bit T.
template <class T, int Columns>
__device__ inline void store_rounded(u32 to, const RegisterTile<layout::Lane<Columns>>& from) {
  u32 bits[Columns / 2];
#pragma unroll
  for (int i = 0; i < Columns / 2; ++i) bits[i] = pack<T>(from.x[2 * i], from.x[2 * i + 1]);
  tensor_memory::st<tensor_memory::Shape32x32b>(to, bits);
}

}  // namespace tcgen05
