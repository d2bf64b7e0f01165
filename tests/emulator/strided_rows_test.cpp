// Rows whose elements are not neighbours, or that begin at different places in 16 bytes, in place: what the command
// cannot ask for. Needs NVRTC.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "emulator/buffers.h"
#include "emulator/devices.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr double kEps = 0.00001;

struct Case {
  const char* kernel;
  const char* input;
  const char* output;
};

// Changes a row to what the kernel makes of it, without weights.
void normalise(const std::string& kernel, std::vector<double>& row) {
  const auto count = static_cast<double>(row.size());
  const double greatest = *std::ranges::max_element(row);
  double sum = 0, squares = 0, exponentials = 0;
  for (const double x : row) sum += x, squares += x * x, exponentials += std::exp(x - greatest);
  const double mean = kernel == "layer_norm" ? sum / count : 0;
  const double deviation = std::sqrt(squares / count - mean * mean + kEps);
  for (double& x : row) {
    if (kernel == "softmax")
      x = std::exp(x - greatest) / exponentials;
    else if (kernel == "log_softmax")
      x -= greatest + std::log(exponentials);
    else
      x = (x - mean) / deviation;
  }
}

// Runs the kernel in place on a matrix whose element (i, j) is at i * pitch + j * step.
void check_rows(Engine& engine, const Case& one, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                std::int64_t step, const std::map<std::string, std::int64_t>& params = {}) {
  std::vector<float> values = small_integers((rows - 1) * pitch + (columns - 1) * step + 1);
  const DeviceBuffer memory = sent(engine, values);
  const Tensor matrix = Tensor::strided(memory.address(), DType::f32, {rows, columns}, {pitch, step});
  Request request = {.kernel = one.kernel, .tensors = {{one.input, matrix}, {one.output, matrix}}};
  for (const auto& [name, value] : params) request.params[name] = value;
  if (one.kernel == std::string("rms_norm")) request.params["WEIGHT"] = 0;
  if (one.kernel == std::string("layer_norm")) request.params["AFFINE"] = 0;
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  REQUIRE(launch->launch());
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (std::int64_t j = 0; j < columns; ++j) row.push_back(values[static_cast<std::size_t>(i * pitch + j * step)]);
    normalise(one.kernel, row);
    for (std::int64_t j = 0; j < columns; ++j)
      values[static_cast<std::size_t>(i * pitch + j * step)] = static_cast<float>(row[static_cast<std::size_t>(j)]);
  }
  const std::vector<float> found = fetched(memory, values.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(values[i])));
  CHECK(worst < 1e-5);
}

}  // namespace

TEST_CASE("columns of a matrix, and every other element of rows, are normalised in place") {
  for (const char* arch : {"sm_90a", "sm_80"}) {
    Engine engine = emulated_engine(arch);
    for (const Case& one : {Case{"softmax", "S", "D"}, Case{"log_softmax", "S", "D"}, Case{"rms_norm", "X", "Y"},
                            Case{"layer_norm", "X", "Y"}}) {
      CAPTURE(one.kernel);
      check_rows(engine, one, 37, 75, 1, 37);  // columns
      check_rows(engine, one, 3, 2, 1, 5);
      check_rows(engine, one, 33, 601, 1, 40);
      check_rows(engine, one, 3, 333, 700, 2);  // elements between which others lie, which stay as they are
      check_rows(engine, one, 5, 7, 30, 3);
    }
  }
}

TEST_CASE("a thread's rows are normalised in place without those beside them") {
  Engine engine = emulated_engine("sm_90a");
  for (const Case& one : {Case{"softmax", "S", "D"}, Case{"rms_norm", "X", "Y"}, Case{"layer_norm", "X", "Y"}}) {
    CAPTURE(one.kernel);
    for (const std::int64_t pitch : {61, 67})
      check_rows(engine, one, 701, 61, pitch, 1, {{"WHOLE", 2}, {"LANES", 16}, {"PACKS", 1}, {"BLOCKS", 1}});
    check_rows(engine, one, 301, 505, 505, 1,
               {{"WHOLE", 2}, {"LANES", 64}, {"THREADS", 64}, {"PACKS", 2}, {"BLOCKS", 1}});
  }
}
