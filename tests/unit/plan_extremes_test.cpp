// What the library's own files make of extents near 2^31 and 2^32 and of strides of gigabytes: plans whose numbers fit,
// or refusals that say which do not.
#include "planning_fixture.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

Result<Plan> planned(const Request& request, std::string_view on = "h200") {
  templates::TemplateSet set;
  return make_plan(request, device(on), set.find(request.kernel).value());
}

// "planned", or the error.
std::string outcome(const Request& request) {
  const Result<Plan> result = planned(request);
  return result ? "planned" : result.error().text();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Request patches(std::int64_t height, std::int64_t width, std::int64_t padding) {
  return {.kernel = "im2col",
          .dims = {{"BATCH", 2},
                   {"H", height},
                   {"W", width},
                   {"C", 16},
                   {"R", 1},
                   {"S", 1},
                   {"PAD_TOP", 0},
                   {"PAD_LEFT", padding},
                   {"PAD_BOTTOM", 0},
                   {"PAD_RIGHT", padding},
                   {"STRIDE_H", 1},
                   {"STRIDE_W", 1},
                   {"DILATION_H", 1},
                   {"DILATION_W", 1}},
          .types = {{"T", DType::u8}}};
}

std::int64_t param(const Plan& plan, std::string_view name) {
  return std::ranges::find(plan.config, name, [](const auto& one) -> std::string_view { return one.first; })->second;
}

}  // namespace

TEST_CASE("im2col counts its output pixels in 31 bits, as the coordinates of TMA are") {
  CHECK(outcome(patches(32768, 32767, 0)) == "planned");
  CHECK(contains(outcome(patches(32768, 32768, 0)),
                 "output pixels, and rows and columns of a padded image, are counted in 31 bits"));
  CHECK(contains(outcome(patches(1, 2147483640, 15)), "are counted in 31 bits"));
}

TEST_CASE("reduce_scatter counts the rows of all slices in 31 bits, as the coordinates of TMA are") {
  Request request{
      .kernel = "reduce_scatter", .dims = {{"PARTS", 1}, {"M", 1 << 30}, {"N", 4}}, .params = {{"SLICES", 1}}};
  CHECK(outcome(request) == "planned");
  request.params["SLICES"] = 2;
  CHECK(contains(outcome(request), "rows of P are counted in 31 bits"));
}

TEST_CASE("scatter_add steps beyond the last of its columns in 31 bits") {
  Request request{.kernel = "scatter_add", .dims = {{"R", 1}, {"N", 2147400000}, {"COUNT", 1}}};
  CHECK(outcome(request) == "planned");
  request.dims["N"] = 2147483647;
  CHECK(contains(outcome(request), "N = 2147483647 by the request is outside 0..2147400000"));
}

TEST_CASE("fill counts in 31 bits only what has no element further away, in either direction") {
  const auto filled = [](std::int64_t rows, std::int64_t columns, std::int64_t pitch, std::int64_t step) {
    const Tensor tensor = Tensor::strided(std::uint64_t{1} << 40, DType::f32, {rows, columns}, {pitch, step});
    const auto plan = planned({.kernel = "fill", .tensors = {{"Y", tensor}}});
    REQUIRE_MESSAGE(plan, plan.error().text());
    return param(*plan, "NARROW");
  };
  CHECK(filled(3, 512, 4096, 1) == 1);
  CHECK(filled(3, 512, std::int64_t{1} << 30, 1) == 0);
  CHECK(filled(3, 512, -(std::int64_t{1} << 30), 1) == 0);
  CHECK(filled(3, 512, -4096, 1) == 1);
  CHECK(filled(3, 100, 4, -(std::int64_t{1} << 28)) == 0);
}

TEST_CASE("fill writes rows as one only where 32 bits divide by their lengths") {
  Request request{
      .kernel = "fill", .dims = {{"M", 1}, {"N", 2147483647}}, .params = {{"FLAT", 1}}, .hooks = {{"value", "row"}}};
  CHECK(outcome(request) == "planned");
  request.dims["N"] = std::int64_t{1} << 32;
  CHECK(contains(outcome(request), "counted in 31 bits"));
  request.params.clear();
  CHECK(outcome(request) == "planned");
}

}  // namespace tma_jit::plan
