#pragma once
// Keys and values of one head, copied a step at a time by one warp with cp.async, 16 bytes a lane, from rows that are
// contiguous or in pages. Where a key's row is comes from a table, which has
//   kRun        neighbouring keys, from a multiple on, whose rows certainly are at one stride
//   kListed     whether a page's number must be loaded
//   place(key)  the key's page and its row there
//   has(page)   whether there is such a page; rows of others are read as zeros
#include "device/ptx/cp_async.cuh"
#include "device/tile/shared_tile.cuh"

struct Place {
  int page, row;
};

// The keys of a sequence are the rows of one page.
struct ContiguousKeys {
  static constexpr int kRun = 1 << 16;
  static constexpr bool kListed = false;
  int sequence;

  __device__ Place place(int key) const { return {sequence, key}; }
  __device__ bool has(int) const { return true; }
};

// The keys of a sequence are in pages of `size` rows, of which it lists the numbers. Run divides the size of a page.
template <int Run> struct PagedKeys {
  static constexpr int kRun = Run;
  static constexpr bool kListed = true;
  const s32* number;
  s64 stride;
  int size, pages;

  __device__ Place place(int key) const {
    const int index = key / size;
    return {number[index * stride], key - index * size};
  }
  __device__ bool has(int page) const { return static_cast<u32>(page) < static_cast<u32>(pages); }
};

template <class T, int Keys, int Size> struct KeysAndValues { SharedTile<T, Keys, Size> k, v; };

// Returns the largest power of two that divides x.
__device__ constexpr int power_of_two_in(int x) {
  return x & -x;
}

// Copies of one head of K and V, tensors of pages, rows, heads and Size elements. A step has Keys keys and begins at a
// multiple of Keys. Keys from `keys` on become zeros, and their places are not looked up.
template <class Table, class T, int Keys, int Size> class KeyCopy {
  static constexpr int kElements = 16 / sizeof(T);                   // of a lane at a time
  static constexpr int kAcross = power_of_two_in(Size / kElements);  // lanes that share a row
  static constexpr int kDown = 32 / kAcross;                         // rows that the warp copies at once
  static constexpr int kRun = Table::kRun < Keys ? Table::kRun : Keys, kApart = kRun < kDown ? kDown : kRun;
  static constexpr int kPlaces = Keys / kApart;                                      // of a step
  static constexpr bool kShared = Table::kListed && kApart == kRun && kPlaces <= 2;  // by the lanes
  static constexpr int kHeld = kShared ? kPlaces : 1;                                // by a lane
  static_assert(Keys <= 32 && kAcross <= 32 && Size % kElements == 0 && Keys % kApart == 0);

 public:
  static constexpr int kSteps = kShared ? 32 : 1;  // that are looked up together

  __device__ KeyCopy(const Table& table, const View<const T, 4>& K, const View<const T, 4>& V, int head, int keys)
      : table_(table), keys_(keys), k_(K, head, column()), v_(V, head, column()) {}

  // Looks up where the rows of kSteps steps are, which are `apart` keys apart, from the one at `first` on. If rows of a
  // page are copied by all lanes, each lane looks up one step, for after the next `advance`. If not, each lane looks up
  // one key of the step at `first`, the next to start. The values are not needed before.
  __device__ void look_up(int first, int apart) {
    const int lane = threadIdx.x % 32;
    if constexpr (Table::kListed)
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        const int key = kShared ? first + lane * apart + i * kApart : first + lane;
        (kShared ? ahead_[i] : places_[i]) = key < keys_ ? table_.place(key) : Place{0, 0};
      }
  }
  // The steps that were looked up last are those to start next.
  __device__ void advance() {
    if (kShared)
#pragma unroll
      for (int i = 0; i < kHeld; ++i) places_[i] = ahead_[i];
  }
  // Starts copying the step at `first`, the step-th of those looked up. Called by all lanes of the warp.
  __device__ void start(KeysAndValues<T, Keys, Size>& to, int first, int step) const {
    const int left = keys_ - first - row();
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      Place place = {};
      if (!Table::kListed)
        place = table_.place(first + i * kApart + row());
      else if (kShared)
        place = held(places_[i % kHeld], step), place.row += row();
      else
        place = held(places_[0], i * kApart + row());
      const bool has = table_.has(place.page);
      const T *k = k_.row(place), *v = v_.row(place);
#pragma unroll
      for (int down = i * kApart; down < (i + 1) * kApart; down += kDown) {
        const u32 bytes = has && down < left ? 16 : 0;
#pragma unroll
        for (int along = 0; along < Size; along += kAcross * kElements) {
          cp_async::cg(smem_address(&to.k.at(row() + down, column() + along)), k + along, bytes);
          cp_async::cg(smem_address(&to.v.at(row() + down, column() + along)), v + along, bytes);
        }
        k += k_.pass, v += v_.pass;
      }
    }
  }

 private:
  // Returns the place that a lane holds.
  __device__ static Place held(const Place& place, int lane) {
    return {__shfl_sync(0xffffffff, place.page, lane), __shfl_sync(0xffffffff, place.row, lane)};
  }
  __device__ static int row() {
    return threadIdx.x % 32 / kAcross;
  }
  __device__ static int column() {
    return threadIdx.x % kAcross * kElements;
  }

  // What a lane reads of a tensor.
  struct Source {
    const T* data;
    s64 page, along, pass;  // elements between pages, between rows, and between the warp's passes

    __device__ Source(const View<const T, 4>& tensor, int head, int column)
        : data(tensor.data + head * tensor.stride[2] + column),
          page(tensor.stride[0]),
          along(tensor.stride[1]),
          pass(tensor.stride[1] * kDown) {}
    __device__ const T* row(const Place& at) const { return data + at.page * page + at.row * along; }
  };

  Table table_;
  int keys_;
  Source k_, v_;
  Place places_[kHeld], ahead_[kHeld];
};
