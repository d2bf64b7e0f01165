#pragma once
// Applies the hook `epilogue` to the registers of a tile. How it reads operands of a request is in read_operands.cuh,
// which only kernels that have some are compiled with.
#include "device/tile/register_tile.cuh"

// The epilogue of a tile of layout L whose first element is (row, column). It is constructed when the operands are to
// be read, and applied to the tile by all lanes of the warp, with the place of the tile in the shared tile, if there is
// one, which is the warp's own. More are the hook's arguments after the column.
template <class L, class H, bool Transposed = false, class Shared = void, class = void> class Epilogue {
  const H* hooks_;
  int row_, column_;

 public:
  static constexpr int kRegisters = 0;  // of operands that are read

  __device__ Epilogue() {}
  __device__ Epilogue(const H& hooks, int row, int column) : hooks_(&hooks), row_(row), column_(column) {}
  template <class S, class Through, class... More>
  __device__ void apply_through(Through&, int, int, RegisterTile<L, S>& tile, More... more) const {
    apply(tile, more...);
  }
  template <class S, class... More> __device__ void apply(RegisterTile<L, S>& tile, More... more) const {
    const int row = row_ + (Transposed ? L::column(0) : L::row(0));
    const int column = column_ + (Transposed ? L::row(0) : L::column(0));
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i)
      tile.x[i] = hooks_->epilogue(tile.x[i], row + (Transposed ? L::across(i) : L::down(i)),
                                   column + (Transposed ? L::down(i) : L::across(i)), more...);
  }
};

// The matrices that could be copied to a shared tile, in 16-byte units, and a shared tile that holds one.
template <class H, class Shared, class = void> constexpr int kCopied = 0;
template <class Shared> struct Holding;

// Applies the epilogue to a tile: 16 columns after the other if it reads operands, so that few of them are in registers
// at a time.
template <bool Transposed = false, class L, class H, class S, class... More>
__device__ inline void apply_epilogue(const H& hooks, RegisterTile<L, S>& tile, int row, int column, More... more) {
  if constexpr (Epilogue<L, H, Transposed>::kRegisters == 0) {
    Epilogue<L, H, Transposed>(hooks, row, column).apply(tile, more...);
  } else {
    constexpr int kPart = L::kColumns % 16 == 0 ? 16 : L::kColumns;
#pragma unroll
    for (int first = 0; first < L::kColumns; first += kPart) {
      auto part = tile.template columns<kPart>(first);
      Epilogue<typename L::template WithColumns<kPart>, H, Transposed>(hooks, row + (Transposed ? first : 0),
                                                                       column + (Transposed ? 0 : first))
          .apply(part, more...);
      tile.put_columns(first, part);
    }
  }
}

// The same, Columns after the other, through the part of a shared tile from (at, beside) on, which is the warp's own,
// so that a matrix is read in units of 16 bytes.
template <bool Transposed, int Columns, class L, class H, class S, class Shared>
__device__ inline void apply_epilogue_through(const H& hooks, Shared& through, int at, int beside,
                                              RegisterTile<L, S>& tile, int row, int column) {
#pragma unroll
  for (int first = 0; first < L::kColumns; first += Columns) {
    const int down = Transposed ? first : 0, across = Transposed ? 0 : first;
    auto part = tile.template columns<Columns>(first);
    Epilogue<typename L::template WithColumns<Columns>, H, Transposed, Shared>(hooks, row + down, column + across)
        .apply_through(through, at + down, beside + across, part);
    tile.put_columns(first, part);
  }
}

#ifdef TMA_JIT_OPERANDS
#include "device/epilogue/read_operands.cuh"
#endif
