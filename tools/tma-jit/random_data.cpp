#include "random_data.h"

#include <cmath>
#include <numbers>
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

}  // namespace

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
