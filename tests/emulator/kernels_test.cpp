// The tree's kernels on the emulator, against sums done here. Needs NVRTC.
#include <cmath>
#include <cstring>
#include <random>

#include <tma_jit/device.h>

#include "emulator/driver/table.h"
#include "emulator/exec/float_bits.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

Engine emulated(const std::string& arch) {
  static const TemporaryFolder folder;
  Options options;
  options.device = std::to_string(emulator::ordinal_of(arch).value());
  options.cache_dir = folder.path();
  return engine_with(options, emulator::load);
}

void with_policy(const std::string& arch, emulator::Policy policy, std::uint64_t seed) {
  emulator::Settings settings;
  settings.policy = policy;
  settings.seed = seed;
  emulator::configure(emulator::ordinal_of(arch).value(), settings);
}

constexpr emulator::Policy kPolicies[] = {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random,
                                          emulator::Policy::starved};

void run(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
}

// rows x columns of bytes at a pitch, uploaded.
struct Matrix {
  Matrix(Engine& engine, std::int64_t row_count, std::int64_t column_count, std::int64_t pitch_elements)
      : rows(row_count), columns(column_count), pitch(pitch_elements), values(static_cast<std::size_t>(row_count * pitch_elements)),
        buffer(*DeviceBuffer::allocate(engine, values.size() * 2)) {}
  void upload() { REQUIRE(buffer.upload(values.data(), values.size() * 2)); }
  void download() { REQUIRE(buffer.download(values.data(), values.size() * 2)); }
  std::uint16_t& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * pitch + column)]; }
  Tensor tensor(DType type) const { return Tensor::strided(buffer.address(), type, {rows, columns}, {pitch, 1}); }
  std::int64_t rows, columns, pitch;
  std::vector<std::uint16_t> values;
  DeviceBuffer buffer;
};

}  // namespace

TEST_CASE("The tiled copy is exact under every policy, ragged or not") {
  for (const std::string arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    Engine engine = emulated(arch);
    for (const auto& [rows, columns] : {std::pair{70, 100}, {64, 512}, {33, 257}}) {
      for (const emulator::Policy policy : kPolicies) {
        CAPTURE(arch);
        CAPTURE(rows);
        CAPTURE(static_cast<int>(policy));
        with_policy(arch, policy, 7);
        Matrix from(engine, rows, columns, (columns + 7) / 8 * 8 + 8), to(engine, rows, columns, (columns + 7) / 8 * 8);
        for (std::size_t i = 0; i < from.values.size(); ++i) from.values[i] = static_cast<std::uint16_t>(i * 40503U);
        from.upload();
        run(engine, {.kernel = "copy",
                     .tensors = {{"S", from.tensor(DType::u16)}, {"D", to.tensor(DType::u16)}},
                     .file = "copy_tiled"});
        to.download();
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < columns; ++c) REQUIRE(to.at(r, c) == from.at(r, c));
        }
      }
    }
  }
}
