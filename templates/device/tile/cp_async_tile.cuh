#pragma once
// Shared tiles filled by cp.async from tensors with any address and pitch: every thread of the block copies a share.
#include "device/ptx/cp_async.cuh"
#include "device/tile/shared_tile.cuh"

namespace cp_async {

// What one of Threads threads copies of each tile along a band of rows: the same columns of every kDown-th row. Access
// is the size of one copy in bytes, and rows must begin at multiples of it; where it is the size of an element,
// elements may have any stride, and those of 1 or 2 bytes are gathered. Elements outside the tensor become zero.
template <class Tile, int Threads, int Access> class TileCopy {
 public:
  using T = typename Tile::Element;
  static constexpr bool kGathers = Access < 4;
  static constexpr int kBytes = kGathers ? 16 : Access;
  static constexpr int kAcross = Tile::kRowBytes / kBytes, kDown = Threads / kAcross, kPasses = Tile::kRows / kDown;
  static_assert(kDown % 8 == 0 && Tile::kRows % kDown == 0);  // so that every pass has the same position in the swizzle
  static_assert(Tile::kPanels == 1 && (!kGathers || sizeof(T) == Access));

  // Starts at (row, 0) of a tensor of `extent` rows and k columns.
  __device__ void start(const View<const T, 2>& tensor, int row, int extent, int k) {
    const int down = threadIdx.x / kAcross, column = threadIdx.x % kAcross * kElements;
    const s64 pitch = extent > 1 ? tensor.stride[0] : 0;  // of a single row it is arbitrary, and need not be aligned
    along_ = Access == sizeof(T) ? tensor.stride[1] : 1;
    from_ = tensor.data + (row + down) * pitch + column * along_;
    pass_ = pitch * kDown;
    rows_ = extent - row - down;
    columns_ = k - column;
  }
  // Advances to the tile to the right.
  __device__ void advance() {
    from_ += Tile::kColumns * along_;
    columns_ -= Tile::kColumns;
  }
  // Copies the index-th of kPasses parts of this thread's share of the tile.
  __device__ void copy(Tile& tile, int index) const {
    const T* const source = from_ + pass_ * index;
    const int inside = index * kDown < rows_ ? min(max(columns_, 0), kElements) : 0;
    const u32 to = smem_address(&tile.at(threadIdx.x / kAcross, threadIdx.x % kAcross * kElements)) +
                   index * (kDown * Tile::kRowBytes);
    if constexpr (Access == 16)
      cg(to, source, inside * sizeof(T));
    else if constexpr (!kGathers)
      ca<Access>(to, source, inside * sizeof(T));
    else
      gather(to, source, inside);
  }

 private:
  static constexpr int kElements = kBytes / sizeof(T);

  template <class E> __device__ static u32 bits(E x) {
    if constexpr (sizeof(E) == 1)
      return reinterpret_cast<const u8&>(x);
    else
      return x.bits;
  }
  __device__ void gather(u32 to, const T* source, int inside) const {
    constexpr int kPerWord = kElements / 4;
    u32 x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[i] = 0;
#pragma unroll
      for (int j = kPerWord - 1; j >= 0; --j) {
        const int at = kPerWord * i + j;
        x[i] = x[i] << (32 / kPerWord) | (at < inside ? bits(source[at * along_]) : 0);
      }
    }
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
  }

  const T* from_;       // the first row's elements in the next tile
  s64 pass_, along_;    // elements between passes, and between elements
  int rows_, columns_;  // left in the tensor from the thread's first ones on; may be negative
};

// Copies one of Parts parts of this thread's shares of two tiles, so that copies can be interleaved with products.
template <int Parts, class CopyA, class TileA, class CopyB, class TileB>
__device__ inline void copy_part(const CopyA& from_a, TileA& a, const CopyB& from_b, TileB& b, int part) {
  constexpr int kAll = CopyA::kPasses + CopyB::kPasses;
#pragma unroll(CopyA::kGathers ? 1 : kAll)  // gathering needs many registers
  for (int i = 0; i < kAll; ++i) {
    if (i * Parts / kAll != part) continue;
    if (i < CopyA::kPasses)
      from_a.copy(a, i);
    else
      from_b.copy(b, i - CopyA::kPasses);
  }
}

}  // namespace cp_async
