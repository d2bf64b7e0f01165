// Indices, lengths and offsets as the template declares them: random ones are valid, and files are checked.
#include <cstring>
#include <fstream>
#include <set>

#include <doctest/doctest.h>

#include "command.h"
#include "npy.h"
#include "random_data.h"

namespace tma_jit::cli {
namespace {

template <class T>
std::vector<T> indices(DType type, const ValueRange& range, std::int64_t count, const Recipe& recipe = {}) {
  std::vector<T> values(static_cast<std::size_t>(count));
  fill_indices(std::as_writable_bytes(std::span(values)), type, Layout::row_major({count}), range, recipe, "I");
  return values;
}

template <class T> std::string file_of(const char* name, DType type, std::vector<T> values) {
  const std::string path = scratch_folder() / name;
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  REQUIRE(write_npy(path, type, shape, std::as_bytes(std::span(values))));
  return path;
}

// A template in a folder of its own, whose kernel copies indices.
std::string folder_of(const std::string& attributes) {
  const std::filesystem::path folder = scratch_folder() / "indices";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "indices.cu")
      << "//! kernel indices\n//! arch sm_90a\n//! dim N, R in 0..1000\n//! tensor I : s32[N] " << attributes
      << "\n//! tensor D : s32[N] out\n//! launch grid 1 block 32\n//! reference "
         "indices_reference grid 1 block 32\n"
         "#ifndef TMA_JIT_REFERENCE\n"
         "extern \"C\" __global__ void indices(View<const s32, 1> I, View<s32, 1> D, const Dims "
         "dims) {\n  for (int i = threadIdx.x; i < dims.N; i += 32) D.data[i] = I.data[i];\n}\n"
         "#else\n"
         "extern \"C\" __global__ void indices_reference(View<const s32, 1> I, View<f64, 1> D, const "
         "Dims dims) {\n  for (int i = threadIdx.x; i < dims.N; i += 32) D.data[i] = I.data[i];\n}\n"
         "#endif\n";
  return folder;
}

CommandResult run_indices(const std::string& attributes, std::vector<std::string> words) {
  std::vector<std::string> all = {
      "run", "indices", "--check", "--device", "emulator:sm_90a", "--templates", folder_of(attributes)};
  all.insert(all.end(), words.begin(), words.end());
  return run_command(all);
}

}  // namespace

TEST_CASE("random indices are valid, and all values occur") {
  const auto values = indices<std::int32_t>(DType::s32, {-1, 6, false, false}, 2000);
  for (std::int32_t wanted = -1; wanted <= 6; ++wanted) CHECK(std::count(values.begin(), values.end(), wanted) > 150);
  CHECK(std::all_of(values.begin(), values.end(), [](std::int32_t value) { return value >= -1 && value <= 6; }));
  CHECK(values == indices<std::int32_t>(DType::s32, {-1, 6, false, false}, 2000));
  CHECK(values != indices<std::int32_t>(DType::s32, {-1, 6, false, false}, 2000, {DataKind::normal, 1}));
  const auto wide = indices<std::int64_t>(DType::s64, {0, std::int64_t{1} << 40, false, false}, 100);
  CHECK(*std::max_element(wide.begin(), wide.end()) > std::int64_t{1} << 35);
  CHECK(indices<std::uint8_t>(DType::u8, {3, 3, false, false}, 2) == std::vector<std::uint8_t>{3, 3});
}

TEST_CASE("offsets rise from the least value to the greatest") {
  const auto values = indices<std::int32_t>(DType::s32, {5, 500, true, false}, 20);
  CHECK(values.front() == 5);
  CHECK(values.back() == 500);
  CHECK(std::is_sorted(values.begin(), values.end()));
  CHECK(indices<std::int32_t>(DType::s32, {5, 500, true, false}, 1) == std::vector<std::int32_t>{5});
}

TEST_CASE("distinct indices occur once, and those beyond the valid values are outside") {
  for (const bool strays : {false, true}) {
    const auto values =
        indices<std::int32_t>(DType::s32, {0, 299, false, true, true}, 400, {DataKind::normal, 0, strays});
    std::set<std::int32_t> valid;
    int others = 0;
    for (const std::int32_t value : values) others += value < 0 || value > 299 || !valid.insert(value).second ? 1 : 0;
    CHECK(others == 400 - static_cast<int>(valid.size()));
    CHECK(valid.size() == 300);
  }
  const auto few = indices<std::int32_t>(DType::s32, {0, 9999, false, false, true}, 900);
  CHECK(std::set<std::int32_t>(few.begin(), few.end()).size() == 900);
}

TEST_CASE("to check a kernel that checks its indices, some are just outside") {
  const Recipe strays{DataKind::normal, 0, true};
  const auto values = indices<std::int32_t>(DType::s32, {0, 9, false, true}, 1600, strays);
  const auto outside = std::count_if(values.begin(), values.end(), [](std::int32_t v) { return v < 0 || v > 9; });
  CHECK(outside > 50);
  CHECK(outside < 200);
  CHECK(std::count(values.begin(), values.end(), -1) + std::count(values.begin(), values.end(), 10) == outside);
  const auto trusted = indices<std::int32_t>(DType::s32, {0, 9, false, false}, 1600, strays);
  CHECK(std::all_of(trusted.begin(), trusted.end(), [](std::int32_t v) { return v >= 0 && v <= 9; }));
  CHECK(indices<std::int32_t>(DType::s32, {0, -1, false, true}, 2, strays) == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("a file with a value that is not valid is refused before the launch, and said where the kernel checks") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::string outside = file_of<std::int32_t>("outside.npy", DType::s32, {0, 4, 7, -1, 5});
  const CommandResult refused = run_indices("in 0..R - 1", {"R=7", "--in", "I=" + outside});
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("outside.npy: I[2] is 7, outside of 0..6; 1 more value is not valid") != std::string::npos);
  CHECK(refused.out.empty());
  const CommandResult told = run_indices("in 0..R - 1 checked", {"R=7", "--in", "I=" + outside});
  CHECK(told.exit == 0);
  CHECK(told.err.find("I[2] is 7, outside of 0..6; 1 more value is not valid; the kernel checks these values itself") !=
        std::string::npos);
  const CommandResult valid = run_indices("in -1..R", {"R=7", "--in", "I=" + outside});
  CHECK(valid.exit == 0);
  CHECK(valid.err.find("outside of") == std::string::npos);
}

TEST_CASE("a file whose values do not rise is refused") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::string falling = file_of<std::int32_t>("falling.npy", DType::s32, {0, 4, 3, 6});
  const CommandResult refused = run_indices("in 0..R rising", {"R=7", "--in", "I=" + falling});
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("falling.npy: I[2] is 3, less than I[1], 4, and these values rise") != std::string::npos);
  CHECK(run_indices("in 0..R", {"R=7", "--in", "I=" + falling}).exit == 0);
}

TEST_CASE("a file with a value twice where values are distinct is refused, also where the kernel checks them") {
  if (!kHasEmulator || !has_compiler()) return;
  const std::string twice = file_of<std::int32_t>("twice.npy", DType::s32, {0, 9, 3, 9, 6, 3});
  for (const char* attributes : {"in 0..R distinct N > 1", "in 0..R distinct N > 1 checked"}) {
    const CommandResult refused = run_indices(attributes, {"R=8", "--in", "I=" + twice});
    CHECK(refused.exit == 1);
    CHECK(refused.err.find("twice.npy: I[5] is 3, as I[2] is, and these values are distinct") != std::string::npos);
  }
  CHECK(run_indices("in 0..R distinct N > 6 checked", {"R=8", "--in", "I=" + twice}).exit == 0);
}

TEST_CASE("a request that leaves no valid value is refused") {
  if (!kHasEmulator) return;
  const CommandResult refused = run_indices("in 0..R - 1", {"R=0", "N=3"});
  CHECK(refused.exit != 0);
  CHECK(refused.err.find("tensor I has elements, but no value is valid: 0..R - 1 is 0..-1; R = 0") !=
        std::string::npos);
}

}  // namespace tma_jit::cli
