#pragma once
// Shared by the probes of tcgen05.mma: the operand types of operands.cuh as this unit names them, the descriptors of
// the tiles that probe::fill makes, and a kernel's tensor memory.
#include "device/probe/operands.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tcgen05.cuh"
#include "device/ptx/tensor_memory.cuh"

namespace probe {

// The kind, the types' numbers in an instruction descriptor, and the elements of K in 128 bytes.
template <int Form> struct TensorCore {
  using TA = typename Types<Form>::A;
  using TB = typename Types<Form>::B;
  using TD = typename Types<Form>::D;
  using Integers = typename If<(Form < 12), tcgen05::F8f6f4, tcgen05::I8>::type;
  using Kind = typename If<(Form <= 2), tcgen05::F16, typename If<Form == 3, tcgen05::Tf32, Integers>::type>::type;
  static constexpr u32 a = Form == 0   ? 1
                           : Form <= 2 ? 0
                           : Form == 3 ? 2
                           : Form < 12 ? Form >> 1 & 1
                                       : (Form >> 1 & 1) ^ 1;
  static constexpr u32 b = Form <= 3 ? a : Form < 12 ? Form & 1 : (Form & 1) ^ 1;
  static constexpr u32 d = ptx::kSame<TD, f16> ? 0 : ptx::kSame<TD, f32> ? 1 : 2;
  static constexpr int depth = 128 / sizeof(TA);

  __device__ static constexpr tcgen05::Instruction instruction(int rows, int columns) {
    return tcgen05::Instruction(rows, columns, a, b).accumulators(d);
  }
  // Converts an accumulator from tensor memory to a number.
  __device__ static f32 number(u32 bits) {
    if constexpr (d == 1) return __uint_as_float(bits);
    return accumulator<TD>(&bits, 0);
  }
};

// Returns the descriptor of a tile of `rows` rows of T by 128 bytes of K, for the `step`-th product of 32 bytes along
// K.
template <class T> __device__ inline u64 descriptor(const u8* tile, Layout layout, int rows, int step) {
  constexpr int kDepth = 128 / sizeof(T);
  const u32 base = smem_address(tile), width = layout.swizzle, depth = 32 / sizeof(T);
  const u64 swizzle = matrix::swizzle_code(width) << 62;
  if (layout.mn_major && width == 0)
    return swizzle | tcgen05::descriptor<0>(base + step * depth / 8 * 128, 128, kDepth / 8 * 128);
  if (layout.mn_major) return swizzle | tcgen05::descriptor<0>(base + step * depth * width, kDepth * width, 8 * width);
  if (width == 0) return tcgen05::descriptor<0>(base + step * rows * 32, rows * 16, 128);
  return swizzle | tcgen05::descriptor<0>(base + step * 32 / width * rows * width + step * 32 % width, 16, 8 * width);
}

// Orders the threads' accesses against the unit's in both directions, with a barrier of the block.
__device__ inline void hand_over() {
  tcgen05::fence_before();
  publish();
  tcgen05::fence_after();
}

// Tensor memory and a barrier for one block, or for each block of a pair that allocates together. All threads call
// `open`, and `close` once nothing uses it any more; both are barriers of the block or the pair.
template <int Columns, int Blocks = 1> struct TensorMemory {
  u32 address;
  Barrier done;

  // Also makes what the threads have written to shared memory visible to the unit, including the barrier's init.
  __device__ void open() {
    if (threadIdx.x == 0) done.init(1);
    if (threadIdx.x < 32) {
      tensor_memory::alloc<Columns, Blocks>(&address);
      tensor_memory::relinquish_alloc_permit<Blocks>();
    }
    fence::proxy_async_shared();
    meet();
  }
  __device__ void close() {
    tcgen05::fence_before();
    meet();
    if (threadIdx.x < 32) tensor_memory::dealloc<Columns, Blocks>(address);
  }

 private:
  __device__ static void meet() {
    if constexpr (Blocks == 1)
      __syncthreads();
    else
      cluster::sync();
  }
};

// Loads eight columns of the warp's own 32 lanes.
__device__ inline void load_eight(u32 (&x)[8], u32 d, int column) {
  tensor_memory::ld<tensor_memory::Shape32x32b>(x, tensor_memory::at(d, threadIdx.x / 32 * 32, column));
  tensor_memory::wait_ld();
}

// Returns element (row, column) of the product of two s8 tensors.
template <int Form>
__device__ inline s32 product(const View<const s8, 2>& A, const View<const s8, 2>& B, int row, int column) {
  using Unit = TensorCore<Form>;
  s32 sum = 0;
  for (int k = 0; k < Unit::depth; ++k)
    sum += value<typename Unit::TA>(A.data[row * A.stride[0] + k * A.stride[1]]) *
           value<typename Unit::TB>(B.data[column * B.stride[0] + k * B.stride[1]]);
  return sum;
}

// Returns a probe's shared memory at its alignment in the block's dynamic shared memory.
template <class Smem> __device__ inline Smem& aligned(u8* raw) {
  return *reinterpret_cast<Smem*>(raw + (1024 - smem_address(raw) % 1024) % 1024);
}

}  // namespace probe
