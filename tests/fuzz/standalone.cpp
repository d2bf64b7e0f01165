// A target without libFuzzer: mutates the seeds at random, always the same way, so that it is a test. And writes the
// seeds for libFuzzer.
//
//   fuzz_NAME [EXECUTIONS]        fuzz_NAME --seeds FOLDER
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "target.h"

namespace tma_jit::fuzz {
namespace {

using Numbers = std::mt19937;

std::size_t below(Numbers& numbers, std::size_t limit) {
  return limit == 0 ? 0 : numbers() % limit;
}

// Lengths and counts are where parsers go wrong: extreme numbers at any place.
void put_number(std::string& text, Numbers& numbers) {
  static constexpr std::uint64_t kNumbers[] = {0,      1,          0x7f,       0xff,  0x7fff,
                                               0xffff, 0x7fffffff, 0xffffffff, ~0ULL, 1ULL << 63};
  const std::uint64_t number = kNumbers[below(numbers, std::size(kNumbers))];
  const std::size_t size = std::size_t{1} << below(numbers, 4);
  if (text.size() < size) return;
  std::memcpy(text.data() + below(numbers, text.size() - size + 1), &number, size);
}

void mutate(std::string& text, const std::vector<std::string>& others, Numbers& numbers) {
  switch (below(numbers, 7)) {
    case 0:
      if (!text.empty()) {
        char& changed = text[below(numbers, text.size())];
        changed = static_cast<char>(changed ^ (1 << below(numbers, 8)));
      }
      break;
    case 1:
      if (!text.empty()) text[below(numbers, text.size())] = static_cast<char>(numbers());
      break;
    case 2: text.resize(below(numbers, text.size() + 1)); break;
    case 3: text.insert(below(numbers, text.size() + 1), 1 + below(numbers, 8), static_cast<char>(numbers())); break;
    case 4: text.erase(below(numbers, text.size() + 1), 1 + below(numbers, 8)); break;
    case 5: put_number(text, numbers); break;
    default: {
      const std::string& other = others[below(numbers, others.size())];
      const std::size_t from = below(numbers, other.size() + 1);
      text.insert(below(numbers, text.size() + 1), other, from, 1 + below(numbers, 64));
    }
  }
}

int write_seeds(const std::string& folder) {
  unsigned number = 0;
  for (const std::string& seed : seeds()) std::ofstream(folder + "/seed" + std::to_string(number++)) << seed;
  return 0;
}

void execute(std::uint64_t executions) {
  const std::vector<std::string> all = seeds();
  Numbers numbers(1);
  for (const std::string& seed : all) run({reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size()});
  for (std::uint64_t i = 0; i < executions; ++i) {
    std::string text = all[i % all.size()];
    for (std::size_t left = 1 + below(numbers, 6); left > 0; --left) mutate(text, all, numbers);
    run({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  std::printf("%llu executions, no finding\n", static_cast<unsigned long long>(executions));
}

}  // namespace
}  // namespace tma_jit::fuzz

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--seeds") == 0) return tma_jit::fuzz::write_seeds(argv[2]);
  tma_jit::fuzz::execute(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000);
}
