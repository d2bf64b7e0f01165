// The text of the multiplications, included once for each instruction set in a namespace of its own. No other header's
// functions may be used here: the linker could keep this file's copies for machines that cannot run them.
// NOLINTBEGIN(misc-definitions-in-headers)

using V8 = float __attribute__((vector_size(32)));
using I8 = int __attribute__((vector_size(32)));

// Rows lie at multiples of an element only.
template <class Vector, class T> static inline __attribute__((always_inline)) void load(const T* from, Vector& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class Vector, class T> static inline __attribute__((always_inline)) void store(const Vector& from, T* to) {
  __builtin_memcpy(to, &from, sizeof from);
}

// kRows rows by 8 * kVectors columns, held in registers over all of k.
template <class Vector, class T, int kRows, int kVectors>
static inline __attribute__((always_inline)) void multiply_block(const Tile<T>& tile, u32 row, u32 column) {
  Vector sums[kRows][kVectors] = {};
  T* c = tile.c + row * tile.c_stride + column;
  if (tile.onto) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kVectors; ++j) load(c + static_cast<u32>(i) * tile.c_stride + 8 * j, sums[i][j]);
    }
  }
  const T* a = tile.a + row * tile.a_stride;
  const T* b = tile.b + column;
  for (u32 k = 0; k < tile.k; ++k, b += tile.b_stride) {
    Vector values[kVectors];
    for (int j = 0; j < kVectors; ++j) load(b + 8 * j, values[j]);
    for (int i = 0; i < kRows; ++i) {
      const T factor = a[static_cast<u32>(i) * tile.a_stride + k];
      for (int j = 0; j < kVectors; ++j) sums[i][j] += factor * values[j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) store(sums[i][j], c + static_cast<u32>(i) * tile.c_stride + 8 * j);
  }
}

template <class Vector, class T, int kRows>
static inline __attribute__((always_inline)) void multiply_rows(const Tile<T>& tile, u32 row) {
  u32 column = 0;
  for (; column + 16 <= tile.n; column += 16) multiply_block<Vector, T, kRows, 2>(tile, row, column);
  if (column < tile.n) multiply_block<Vector, T, kRows, 1>(tile, row, column);
}

template <class Vector, class T> static inline __attribute__((always_inline)) void multiply(const Tile<T>& tile) {
  u32 row = 0;
  for (; row + 4 <= tile.m; row += 4) multiply_rows<Vector, T, 4>(tile, row);
  for (; row < tile.m; ++row) multiply_rows<Vector, T, 1>(tile, row);
}

static void multiply_f32(const Tile<float>& tile) {
  multiply<V8>(tile);
}
static void multiply_s32(const Tile<s32>& tile) {
  multiply<I8>(tile);
}

static void store_block(const Block& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    const float* sums = block.sums + row * block.stride;
    for (std::size_t i = 0; i < 4; ++i) {
      block.even[4 * row + i] = sums[2 * i];
      block.odd[4 * row + i] = sums[2 * i + 1];
    }
  }
}

static void add_block(const Block& block) {
  for (std::size_t row = 0; row < 8; ++row) {
    const float* sums = block.sums + row * block.stride;
    for (std::size_t i = 0; i < 4; ++i) {
      block.even[4 * row + i] += sums[2 * i];
      block.odd[4 * row + i] += sums[2 * i + 1];
    }
  }
}

static void add_row(const float* sums, float* row, u32 count) {
  for (u32 i = 0; i < count; ++i) row[i] += sums[i];
}

extern const Kernels kKernels;
const Kernels kKernels = {multiply_f32, multiply_s32, store_block, add_block, add_row};
// NOLINTEND(misc-definitions-in-headers)
