#pragma once
// Tensor memory of sm_100a and sm_103a: 128 lanes of 512 columns of 32 bits per SM. An address has the lane in its
// upper half and the column in its lower half. PTX ISA 9.0, "Tensor Memory and Register Load/Store", "tcgen05.alloc",
// "tcgen05.ld", "tcgen05.st", "tcgen05.cp", "tcgen05.shift".
#include "device/ptx/register_lists.cuh"
#include "device/ptx/text.cuh"

namespace tensor_memory {

__device__ constexpr u32 at(u32 base, u32 lane, u32 column) {
  return base + (lane << 16) + column;
}

// Returns how many columns an allocation of at least so many has: a power of two from 32 on.
__device__ constexpr int allocation(int columns) {
  int size = 32;
  while (size < columns) size *= 2;
  return size;
}

// Called by one whole warp. Columns is 32, 64, 128, 256 or 512; waits until so many are free. The address is written to
// shared memory; other warps may read it after a barrier and tcgen05::fence_after. The same warp must free the columns
// before the block exits. With Blocks 2 the same warp of both blocks of a pair calls it.
template <int Columns, int Blocks = 1> __device__ inline void alloc(u32* address) {
  static_assert(Columns == 32 || Columns == 64 || Columns == 128 || Columns == 256 || Columns == 512);
  asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(smem_address(address)),
               "n"(Columns), "C"(ptx::Number<Blocks>::text)
               : "memory");
}
template <int Columns, int Blocks = 1> __device__ inline void dealloc(u32 address) {
  asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(Columns),
               "C"(ptx::Number<Blocks>::text)
               : "memory");
}
// Declares that this block allocates no more, so that other blocks on the SM can allocate.
template <int Blocks = 1> __device__ inline void relinquish_alloc_permit() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"C"(ptx::Number<Blocks>::text)
               : "memory");
}

// The shapes of ld and st: the lanes by bits that one repetition covers, and the registers it takes. Warp w of a
// warpgroup can access only lanes 32w to 32w + 31, and the 16-lane shapes half of them; the address gives the first
// lane.
struct Shape32x32b : ptx::Text<'3', '2', 'x', '3', '2', 'b'> {
  static constexpr int registers = 1;
};
struct Shape16x64b : ptx::Text<'1', '6', 'x', '6', '4', 'b'> {
  static constexpr int registers = 1;
};
struct Shape16x128b : ptx::Text<'1', '6', 'x', '1', '2', '8', 'b'> {
  static constexpr int registers = 2;
};
struct Shape16x256b : ptx::Text<'1', '6', 'x', '2', '5', '6', 'b'> {
  static constexpr int registers = 4;
};

using Whole = ptx::Text<>;
using Pack = ptx::Text<'.', 'p', 'a', 'c', 'k', ':', ':', '1', '6', 'b'>;  // ld: two columns into one register
using Unpack =
    ptx::Text<'.', 'u', 'n', 'p', 'a', 'c', 'k', ':', ':', '1', '6', 'b'>;  // st: one register into two columns

template <int Count> struct Registers;

#define TENSOR_MEMORY_OUT(x) "=r"(x)
#define TENSOR_MEMORY_IN(x) "r"(x)
// clang-format off
#define TENSOR_MEMORY_DEFINE(COUNT, ADDRESS, SHAPE, TIMES, PACK, SPLIT) \
  template <> struct Registers<COUNT> { \
    template <class Shape, class Times, class Packing> __device__ static void ld(u32 (&d)[COUNT], u32 address) { \
      asm volatile("tcgen05.ld.sync.aligned.%" #SHAPE ".x%" #TIMES "%" #PACK ".b32 {" REGISTER_NAMES_##COUNT "}, [%" #ADDRESS "];" \
                   : REGISTER_OPERANDS_##COUNT(TENSOR_MEMORY_OUT) \
                   : "r"(address), "C"(Shape::text), "C"(Times::text), "C"(Packing::text)); \
    } \
    template <class Shape, class Times, class Packing> __device__ static void st(u32 address, const u32 (&d)[COUNT]) { \
      asm volatile("tcgen05.st.sync.aligned.%" #SHAPE ".x%" #TIMES "%" #PACK ".b32 [%" #ADDRESS "], {" REGISTER_NAMES_##COUNT "};" \
                   :: REGISTER_OPERANDS_##COUNT(TENSOR_MEMORY_IN), \
                      "r"(address), "C"(Shape::text), "C"(Times::text), "C"(Packing::text) : "memory"); \
    } \
    template <class Split, class Packing> __device__ static void ld_halves(u32 (&d)[COUNT], u32 address) { \
      asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x" #COUNT "%" #PACK ".b32 {" REGISTER_NAMES_##COUNT "}, [%" #ADDRESS "], %" #SPLIT ";" \
                   : REGISTER_OPERANDS_##COUNT(TENSOR_MEMORY_OUT) \
                   : "r"(address), "C"(Split::text), "C"(Split::text), "C"(Packing::text), "C"(Split::text)); \
    } \
    template <class Split, class Packing> __device__ static void st_halves(u32 address, const u32 (&d)[COUNT]) { \
      asm volatile("tcgen05.st.sync.aligned.16x32bx2.x" #COUNT "%" #PACK ".b32 [%" #ADDRESS "], %" #SPLIT ", {" REGISTER_NAMES_##COUNT "};" \
                   :: REGISTER_OPERANDS_##COUNT(TENSOR_MEMORY_IN), \
                      "r"(address), "C"(Split::text), "C"(Split::text), "C"(Packing::text), "C"(Split::text) : "memory"); \
    } \
  };
TENSOR_MEMORY_DEFINE(1, 1, 2, 3, 4, 5)
TENSOR_MEMORY_DEFINE(2, 2, 3, 4, 5, 6)
TENSOR_MEMORY_DEFINE(4, 4, 5, 6, 7, 8)
TENSOR_MEMORY_DEFINE(8, 8, 9, 10, 11, 12)
TENSOR_MEMORY_DEFINE(16, 16, 17, 18, 19, 20)
TENSOR_MEMORY_DEFINE(32, 32, 33, 34, 35, 36)
TENSOR_MEMORY_DEFINE(64, 64, 65, 66, 67, 68)
TENSOR_MEMORY_DEFINE(128, 128, 129, 130, 131, 132)
// clang-format on

// Asynchronous: wait_ld must precede any use of the registers, wait_st any use of the stored data. Called by a warp.
template <class Shape, class Packing = Whole, int Count> __device__ inline void ld(u32 (&d)[Count], u32 address) {
  Registers<Count>::template ld<Shape, ptx::Number<Count / Shape::registers>, Packing>(d, address);
}
template <class Shape, class Packing = Whole, int Count> __device__ inline void st(u32 address, const u32 (&d)[Count]) {
  Registers<Count>::template st<Shape, ptx::Number<Count / Shape::registers>, Packing>(address, d);
}
// Shape 16x32bx2: the second 16 lanes of a warp access columns at a distance of Split from the first lanes'.
template <int Split, class Packing = Whole, int Count> __device__ inline void ld_halves(u32 (&d)[Count], u32 address) {
  Registers<Count>::template ld_halves<ptx::Number<Split>, Packing>(d, address);
}
template <int Split, class Packing = Whole, int Count>
__device__ inline void st_halves(u32 address, const u32 (&d)[Count]) {
  Registers<Count>::template st_halves<ptx::Number<Split>, Packing>(address, d);
}
__device__ inline void wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
__device__ inline void wait_st() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

// Copies a tile from shared memory, given by its descriptor. Issued by one thread, ordered with tcgen05::mma, and
// completed by tcgen05::commit. The shapes are lanes by bits; those of fewer than 128 lanes specify to which warps'
// lanes they are copied.
using Cp128x256b = ptx::Text<'1', '2', '8', 'x', '2', '5', '6', 'b'>;
using Cp4x256b = ptx::Text<'4', 'x', '2', '5', '6', 'b'>;
using Cp128x128b = ptx::Text<'1', '2', '8', 'x', '1', '2', '8', 'b'>;
using Cp64x128bWarps02_13 =
    ptx::Text<'6', '4', 'x', '1', '2', '8', 'b', '.', 'w', 'a', 'r', 'p', 'x', '2', ':', ':', '0', '2', '_', '1', '3'>;
using Cp64x128bWarps01_23 =
    ptx::Text<'6', '4', 'x', '1', '2', '8', 'b', '.', 'w', 'a', 'r', 'p', 'x', '2', ':', ':', '0', '1', '_', '2', '3'>;
using Cp32x128b = ptx::Text<'3', '2', 'x', '1', '2', '8', 'b', '.', 'w', 'a', 'r', 'p', 'x', '4'>;
using FromB6 = ptx::Text<'.', 'b', '8', 'x', '1', '6', '.', 'b', '6', 'x', '1', '6', '_', 'p', '3', '2'>;
using FromB4 = ptx::Text<'.', 'b', '8', 'x', '1', '6', '.', 'b', '4', 'x', '1', '6', '_', 'p', '6', '4'>;
template <class Shape, int Blocks = 1, class Format = Whole> __device__ inline void cp(u32 address, u64 tile) {
  asm volatile("tcgen05.cp.cta_group::%2.%3%4 [%0], %1;" ::"r"(address), "l"(tile), "C"(ptx::Number<Blocks>::text),
               "C"(Shape::text), "C"(Format::text)
               : "memory");
}
// Moves lanes 1 to 31 of each 32 down by one, for 32 bytes of columns. Issued by one thread.
template <int Blocks = 1> __device__ inline void shift_down(u32 address) {
  asm volatile("tcgen05.shift.cta_group::%1.down [%0];" ::"r"(address), "C"(ptx::Number<Blocks>::text) : "memory");
}

}  // namespace tensor_memory
