#include "small_dims.h"

#include <algorithm>
#include <array>
#include <vector>

#include "text.h"

namespace tma_jit::cli {
namespace {

// Of a dim without a range worth the name, by how many the kernel has: so large that there are several tiles and ragged
// ends, so small that a run takes tenths of a second.
constexpr std::array<std::int64_t, 5> kExtents = {0, 10'008, 264, 200, 24};
constexpr std::int64_t kUnbounded = 1 << 16;
constexpr std::int64_t kBounded = 4;  // of filters, paddings, counts of parts

// The range that "M, N in 0..2147483647" ends in; where there is none, none.
std::int64_t most_of(const std::string& declaration) {
  const std::size_t dots = declaration.rfind("..");
  if (dots == std::string::npos) return INT64_MAX;
  const std::string digits =
      declaration.substr(dots + 2, declaration.find_first_not_of("0123456789", dots + 2) - dots - 2);
  return integer_in(digits).value_or(INT64_MAX);
}

}  // namespace

std::map<std::string, std::int64_t> small_dims(const KernelInfo& kernel,
                                               const std::map<std::string, std::int64_t>& given) {
  std::map<std::string, std::int64_t> dims = given;
  std::vector<std::string> large;
  for (const KernelInfo::Item& item : kernel.dims) {
    if (dims.contains(item.name) || item.declaration.find('=') != std::string::npos) continue;
    const std::int64_t most = most_of(item.declaration);
    if (most > kUnbounded)
      large.push_back(item.name);
    else
      dims[item.name] = std::min(most, kBounded);
  }
  const std::int64_t extent = kExtents[std::min(large.size(), kExtents.size() - 1)];
  for (const std::string& name : large) dims[name] = extent;
  return dims;
}

}  // namespace tma_jit::cli
