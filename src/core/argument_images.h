// The bytes of arguments as a kernel's parameters have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tma_jit/plan.h>

namespace tma_jit {

inline constexpr std::size_t kMapBytes = 128;             // sizeof(CUtensorMap)
inline constexpr std::size_t kMapAlignment = 64;          // alignof(CUtensorMap)
inline constexpr std::uint32_t kWorkspaceAlignment = 16;  // that kernels may assume, e.g. for 16-byte accesses

// Returns the bytes of a View: the address, then one stride in elements per dimension.
std::size_t view_bytes(std::size_t rank);
// Writes a View at `offset`; the image must have room.
void put_view(std::vector<std::byte>& image, std::size_t offset, std::uint64_t address,
              std::span<const std::int64_t> strides);

// The extent that an operand's image has of a dimension that is broadcast, whose stride is 0.
inline constexpr std::int64_t kEveryIndex = std::numeric_limits<std::int64_t>::max();
// Returns the image of device/tile/operand.cuh's struct: the address, strides in elements, extents.
std::vector<std::byte> operand_image(std::uint64_t address, std::span<const std::int64_t> strides,
                                     std::span<const std::int64_t> extents);

// Lays out `struct Dims` as a C++ compiler does: members that are not fixed, in declaration order, each at a multiple
// of its size. Without members it is an empty struct, which takes one byte.
Argument dims_argument(const std::vector<DimValue>& dims);

// Lays out `struct alignas(8) Hooks` as a C++ compiler does, and gives each operand its offset: members in order, each
// at a multiple of its alignment. An empty struct takes 8 bytes.
Argument hooks_argument(std::span<Argument> operands);

}  // namespace tma_jit
