// Random indices, lengths and offsets for tuning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tma_jit/plan.h>
#include <tma_jit/tensor.h>

namespace tma_jit::tuning {

// Returns the bytes of a tensor's memory, from its lowest element on, `span` elements: valid values, the same for a
// seed. Those that rise go from the least value to the greatest. Where more elements must be distinct than there are
// valid values, the others are one that is not valid.
[[nodiscard]] std::vector<std::byte> random_indices(const Tensor& tensor, std::int64_t span, const ValueRange& range,
                                                    std::uint64_t seed);

}  // namespace tma_jit::tuning
