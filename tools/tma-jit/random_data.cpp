#include "random_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_set>
#include <vector>

#include "element.h"

namespace tma_jit::cli {
namespace {

// SplitMix64 (Steele, Lea and Flood, 2014).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  double unit() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

bool is_unsigned(DType type) {
  return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
}

constexpr std::size_t kPool = 1 << 16;

// Returns integers that do not overflow when added, in every integer type.
std::int64_t small_integer(Generator& generator, DType type, std::int64_t range) {
  const auto value = static_cast<std::int64_t>(generator.next() % static_cast<std::uint64_t>(2 * range + 1));
  return is_unsigned(type) ? value : value - range;
}

double draw(Generator& generator, DType type, DataKind kind) {
  if (kind == DataKind::integers) return static_cast<double>(small_integer(generator, type, 4));
  if (!is_floating_point(type)) return static_cast<double>(small_integer(generator, type, 50));
  const double radius = std::sqrt(-2 * std::log(generator.unit()));
  return radius * std::cos(2 * std::numbers::pi * generator.unit());
}

// Elements are drawn from a pool of samples, so that a draw costs only a table look-up.
std::vector<std::uint64_t> pool_of(DType type, DataKind kind) {
  Generator generator(0x746d612d6a6974U);
  std::vector<std::uint64_t> pool(kPool);
  for (std::uint64_t& bits : pool) bits = encode(type, draw(generator, type, kind));
  return pool;
}

std::int64_t draw_in(Generator& generator, const ValueRange& range) {
  const std::uint64_t least = static_cast<std::uint64_t>(range.least), random = generator.next();
  const std::uint64_t count = static_cast<std::uint64_t>(range.most) - least + 1;  // 0: all of 64 bits
  return static_cast<std::int64_t>(least + (count == 0 ? random : random % count));
}

// Returns the number just above or below the range; one in the range if the other cannot be represented.
std::int64_t draw_outside(Generator& generator, const ValueRange& range) {
  const bool above = generator.next() % 2 == 0;
  if (above) return range.most < std::numeric_limits<std::int32_t>::max() ? range.most + 1 : range.most;
  return range.least > std::numeric_limits<std::int32_t>::min() ? range.least - 1 : range.least;
}

std::vector<std::int64_t> draw_row(Generator& generator, const ValueRange& range, std::int64_t count, bool strays) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(count), range.least);
  if (range.least > range.most || row.empty()) return row;
  const std::uint64_t more = static_cast<std::uint64_t>(range.most) - static_cast<std::uint64_t>(range.least);
  std::unordered_set<std::int64_t> taken;  // of distinct values
  for (std::int64_t& value : row) {
    const bool stray = (strays && range.checked && !range.rising && generator.next() % 16 == 0) || taken.size() > more;
    do value = stray ? draw_outside(generator, range) : draw_in(generator, range);
    while (range.distinct && !stray && !taken.insert(value).second);
  }
  if (!range.rising) return row;
  row.back() = range.most;
  row.front() = range.least;
  std::sort(row.begin(), row.end());
  return row;
}

}  // namespace

void fill_indices(std::span<std::byte> buffer, DType type, const Layout& layout, const ValueRange& range,
                  const Recipe& recipe, std::string_view name) {
  const std::size_t size = size_of(type);
  Generator generator(recipe.seed ^ hash_of(name));
  for_each_row(layout, [&](std::int64_t offset, std::int64_t, std::int64_t count, std::int64_t stride) {
    std::byte* element = buffer.data() + static_cast<std::size_t>(offset) * size;
    for (const std::int64_t value : draw_row(generator, range, count, recipe.strays)) {
      store_bits(element, size, static_cast<std::uint64_t>(value));
      element += static_cast<std::size_t>(stride) * size;
    }
  });
}

void fill_random(std::span<std::byte> buffer, DType type, const Layout& layout, const Recipe& recipe,
                 std::string_view name) {
  const std::vector<std::uint64_t> pool = pool_of(type, recipe.kind);
  const std::size_t size = size_of(type);
  Generator generator(recipe.seed ^ hash_of(name));
  std::uint64_t random = 0;
  int left = 0;
  for_each_row(layout, [&](std::int64_t offset, std::int64_t, std::int64_t count, std::int64_t stride) {
    std::byte* element = buffer.data() + static_cast<std::size_t>(offset) * size;
    for (std::int64_t i = 0; i < count; ++i, element += static_cast<std::size_t>(stride) * size) {
      if (left == 0) {
        random = generator.next();
        left = 4;
      }
      store_bits(element, size, pool[random % kPool]);
      random >>= 16;
      --left;
    }
  });
}

}  // namespace tma_jit::cli
