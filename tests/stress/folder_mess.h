// Random harm to whole cache folders: what crashes, other users, wrong clocks, copies and rot leave behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace tma_jit::stress {

inline constexpr unsigned kMessKeys = 12;

using Random = std::mt19937_64;
inline std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

// A cache folder, a folder and packs that are only read, and a folder beside them that nobody may change.
struct Mess {
  std::filesystem::path parent;
  std::filesystem::path root = parent / "cache";
  std::filesystem::path read_only = parent / "read-only";
  std::filesystem::path pack = parent / "kernels.tmjpack";
  std::filesystem::path keys = parent / "keys";  // builder.pub; the rule for packs
  std::filesystem::path canary = parent / "canary";

  // Makes the canary, the keys, and sound entries in both folders and the pack.
  void prepare(Random& random) const;
  // Does one thing to a file or folder, and says what.
  std::string harm(Random& random) const;
  // Whether a path lies in the canary, through a link on its way; harm is done elsewhere.
  bool leads_to_canary(const std::filesystem::path& path) const;
  // Changes with every name, mode and byte in the canary.
  std::uint64_t canary_state() const;
};

}  // namespace tma_jit::stress
