// The kernels that show what the copy engine can do, against their float64 references: sizes that are not multiples of
// anything, pitched and empty tensors, launches one after the other.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

using Values = std::map<std::string, std::int64_t>;

struct Case {
  Values dims;
  Values params = {};
  std::map<std::string, DType> types = {};
  std::map<std::string, std::int64_t> pitches = {};
};

void check(Engine& engine, const std::string& kernel, const Case& c, int launches = 1) {
  cli::DataChoices choices;
  choices.recipe.kind = cli::DataKind::integers;  // sums are exact in every type
  choices.placement.pitches = c.pitches;
  const Request request{.kernel = kernel, .dims = c.dims, .types = c.types, .params = c.params};
  const std::string fault = testing::fault_of(engine, request, choices, launches);
  CHECK_MESSAGE(fault.empty(), fmt::format("{} {} {}\n{}", kernel, c.dims, c.params, fault));
}

}  // namespace

TEST_CASE("copy_multicast makes every copy whole, whatever the cluster") {
  Engine engine;
  for (const std::int64_t cluster : {1, 2, 4}) {
    const Values params = {{"CLUSTER", cluster}};
    for (const Case& c : {Case{{{"COPIES", 4}, {"M", 1}, {"N", 16}}, params},
                          Case{{{"COPIES", 8}, {"M", 131}, {"N", 700}}, params, {}, {{"S", 704}, {"D", 704}}},
                          Case{{{"COPIES", 4}, {"M", 65}, {"N", 333}}, params, {{"T", DType::f32}}, {{"S", 336}}},
                          Case{{{"COPIES", 4}, {"M", 0}, {"N", 64}}, params},
                          Case{{{"COPIES", 4}, {"M", 300}, {"N", 256}}, params, {{"T", DType::f64}}}})
      check(engine, "copy_multicast", c);
  }
}

TEST_CASE("reduce_scatter sums into every slice, launch after launch") {
  Engine engine;
  for (const std::int64_t slices : {1, 2, 4}) {
    for (const DType type : {DType::f32, DType::bf16, DType::f16, DType::s32}) {
      for (const std::int64_t parts : {1, 2, 7, 16}) {
        check(engine, "reduce_scatter",
              {{{"PARTS", parts}, {"M", 37}, {"N", 328}}, {{"SLICES", slices}}, {{"T", type}}}, 3);
      }
    }
    check(engine, "reduce_scatter", {{{"PARTS", 3}, {"M", 0}, {"N", 64}}, {{"SLICES", slices}}});
  }
}

TEST_CASE("gather takes rows in any order and zeros for what is no row") {
  Engine engine;
  for (const DType type : {DType::f32, DType::u8, DType::bf16, DType::f64}) {
    for (const Values& dims : {Values{{"R", 3}, {"N", 16}, {"COUNT", 1}}, Values{{"R", 40}, {"N", 1040}, {"COUNT", 77}},
                               Values{{"R", 1}, {"N", 272}, {"COUNT", 33}}, Values{{"R", 5}, {"N", 16}, {"COUNT", 0}}})
      check(engine, "gather", {dims, {}, {{"T", type}}});
  }
}

TEST_CASE("rows are gathered and scattered at any pitch, and summed by their numbers") {
  Engine engine;
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const Values& dims :
         {Values{{"R", 40}, {"N", 33}, {"COUNT", 77}}, Values{{"R", 500}, {"N", 4096}, {"COUNT", 9}},
          Values{{"R", 60}, {"N", 1000}, {"COUNT", 5000}}, Values{{"R", 9}, {"N", 16}, {"COUNT", 0}},
          Values{{"R", 9}, {"N", 3}, {"COUNT", 100000}}, Values{{"R", 0}, {"N", 16}, {"COUNT", 5}}}) {
      for (const std::map<std::string, std::int64_t>& pitches :
           {std::map<std::string, std::int64_t>{}, {{"S", 4099}, {"D", 4101}}}) {
        check(engine, "gather", {dims, {}, {{"T", type}}, pitches});
        check(engine, "scatter", {dims, {}, {{"T", type}}, pitches});
        check(engine, "scatter_add", {dims, {}, {{"T", type}, {"O", DType::f32}}, pitches});
      }
    }
  }
}

TEST_CASE("ragged_batch pads matrices of any length, empty ones too") {
  Engine engine;
  for (const DType type : {DType::f32, DType::u8, DType::bf16}) {
    for (const Values& dims :
         {Values{{"BATCH", 1}, {"TOTAL", 1}, {"M", 1}, {"N", 16}},
          Values{{"BATCH", 70}, {"TOTAL", 100}, {"M", 3}, {"N", 336}},
          Values{{"BATCH", 33}, {"TOTAL", 50}, {"M", 150}, {"N", 272}},  // more rows are asked for than there are
          Values{{"BATCH", 0}, {"TOTAL", 1}, {"M", 1}, {"N", 16}}})
      check(engine, "ragged_batch", {dims, {}, {{"T", type}}}, 2);
  }
}

TEST_CASE("im2col agrees with a direct copy, asymmetric padding, strides and dilation included") {
  Engine engine;
  const auto image = [](std::int64_t batch, std::int64_t h, std::int64_t w, std::int64_t c) {
    return Values{{"BATCH", batch}, {"H", h}, {"W", w}, {"C", c}};
  };
  const auto filtered = [](Values dims, const std::array<std::int64_t, 10>& filter) {
    const char* names[] = {"R",         "S",        "PAD_TOP",  "PAD_LEFT",   "PAD_BOTTOM",
                           "PAD_RIGHT", "STRIDE_H", "STRIDE_W", "DILATION_H", "DILATION_W"};
    for (std::size_t i = 0; i < filter.size(); ++i) dims[names[i]] = filter[i];
    return dims;
  };
  for (const Values& dims : {filtered(image(1, 4, 4, 16), {1, 1, 0, 0, 0, 0, 1, 1, 1, 1}),
                             filtered(image(2, 13, 11, 24), {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}),
                             filtered(image(2, 13, 11, 24), {3, 2, 1, 2, 0, 1, 2, 1, 2, 3}),
                             filtered(image(3, 9, 17, 80), {5, 3, 0, 4, 3, 0, 3, 2, 1, 4}),
                             filtered(image(1, 33, 7, 144), {7, 7, 5, 3, 2, 4, 2, 3, 1, 1})}) {
    for (const DType type : {DType::bf16, DType::f32, DType::u8})
      if (dims.at("C") % 16 == 0 || type != DType::u8) check(engine, "im2col", {dims, {}, {{"T", type}}});
  }
}

TEST_CASE("transpose moves every element, whatever its size, the shape and the pitches") {
  Engine engine;
  const auto matrices = [](std::int64_t batch, std::int64_t m, std::int64_t n) {
    return Values{{"B", batch}, {"M", m}, {"N", n}};
  };
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    for (const Case& c : {Case{matrices(1, 1, 1)}, Case{matrices(2, 80, 144)}, Case{matrices(1, 1024, 2064)},
                          Case{matrices(3, 131, 77)}, Case{matrices(1, 1000, 1001)}, Case{matrices(1, 513, 640)},
                          Case{matrices(70, 16, 48)}, Case{matrices(1, 3000, 3)}, Case{matrices(1, 0, 64)},
                          Case{matrices(1, 131, 77), {}, {}, {{"S", 80}, {"D", 144}}},
                          Case{matrices(1, 131, 77), {}, {}, {{"S", 83}, {"D", 150}}},
                          Case{matrices(3, 131, 77), {}, {}, {{"S", 77}, {"D", 131}}},
                          Case{matrices(1, 1000, 1001), {}, {}, {{"S", 1001}, {"D", 1000}}},
                          Case{matrices(1, 1031, 2047), {}, {}, {{"S", 2047}, {"D", 1031}}},
                          Case{matrices(3, 613, 600), {}, {}, {{"S", 600}, {"D", 613}}},
                          Case{matrices(1, 131, 77), {{"NEIGHBOURS", 0}}}}) {
      check(engine, "transpose", {c.dims, c.params, {{"T", type}}, c.pitches});
      if (!c.params.empty()) continue;
      check(engine, "transpose", {c.dims, {{"ACROSS", 1}}, {{"T", type}}, c.pitches});  // by the files of large ones
    }
    for (const std::int64_t by_tma : {0, 1})
      check(engine, "transpose", {matrices(3, 336, 272), {{"TMA_STORE", by_tma}, {"TILES", 2}}, {{"T", type}}});
  }
}

TEST_CASE("permute brings every element to its place, in every order of three dimensions and some of five") {
  Engine engine;
  const auto ordered = [](const std::array<std::int64_t, 5>& extents, const std::array<std::int64_t, 5>& order) {
    Case c;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      c.dims["N" + std::to_string(i)] = extents[i];
      c.params["P" + std::to_string(i)] = order[i];
    }
    return c;
  };
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    std::array<std::int64_t, 5> order = {0, 1, 2, 3, 4};
    do {
      for (Case c : {ordered({1, 1, 48, 80, 144}, order), ordered({1, 1, 13, 21, 33}, order)}) {
        c.types = {{"T", type}};
        check(engine, "permute", c);
        c.pitches = {{"S", c.dims.at("N4")}, {"D", c.dims.at("N" + std::to_string(order[4]))}};
        check(engine, "permute", c);
      }
    } while (std::next_permutation(order.begin() + 2, order.end()));
    for (Case c : {ordered({5, 16, 3, 32, 80}, {4, 3, 2, 1, 0}), ordered({2, 48, 3, 2, 144}, {0, 4, 2, 3, 1}),
                   ordered({2, 3, 5, 7, 48}, {3, 1, 0, 2, 4}), ordered({0, 3, 5, 16, 48}, {0, 1, 2, 4, 3})}) {
      c.types = {{"T", type}};
      check(engine, "permute", c);
    }
  }
}

TEST_CASE("fill writes a number to every element, whatever its size and the pitch") {
  Engine engine;
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    for (const Case& c :
         {Case{{{"M", 1}, {"N", 1}}}, Case{{{"M", 1}, {"N", 3000001}}}, Case{{{"M", 1000}, {"N", 1001}}},
          Case{{{"M", 5000}, {"N", 7}}}, Case{{{"M", 0}, {"N", 64}}}, Case{{{"M", 131}, {"N", 4096}}},
          Case{{{"M", 131}, {"N", 77}}, {}, {}, {{"Y", 83}}}, Case{{{"M", 131}, {"N", 77}}, {{"NEIGHBOURS", 0}}}})
      check(engine, "fill", {c.dims, c.params, {{"T", type}}, c.pitches});
  }
}

TEST_CASE("pad surrounds matrices of any shape and pitch") {
  Engine engine;
  const auto padded = [](std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t r, std::int64_t c) {
    return Values{{"B", b}, {"M", m}, {"N", n}, {"R", r}, {"C", c}};
  };
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    for (const Case& c :
         {Case{padded(3, 100, 500, 60, 333)}, Case{padded(1, 1000, 1001, 2000, 900)},
          Case{padded(1, 131, 4096, 131, 4096)}, Case{padded(0, 4, 8, 4, 8)}, Case{padded(2, 131, 77, 0, 5)},
          Case{padded(2, 131, 77, 131, 50), {}, {}, {{"D", 83}}}, Case{padded(2, 31, 77, 40, 50), {{"NEIGHBOURS", 0}}}})
      check(engine, "pad", {c.dims, c.params, {{"T", type}}, c.pitches});
    for (const std::int64_t columns : {7, 100, 1001})
      check(engine, "pad",
            {Values{{"M0", 2},
                    {"M1", 3},
                    {"M2", 10},
                    {"M3", 9},
                    {"M4", columns},
                    {"N0", 1},
                    {"N1", 3},
                    {"N2", 12},
                    {"N3", 5},
                    {"N4", 90}},
             {},
             {{"T", type}}});
  }
}

TEST_CASE("concat and split move every element, along rows and columns, whatever the extents") {
  Engine engine;
  const auto parts = [](std::int64_t m, std::vector<std::int64_t> extents, std::int64_t k) {
    Values dims = {{"M", m}, {"K", k}};
    for (std::size_t i = 0; i < extents.size(); ++i) dims["N" + std::to_string(i)] = extents[i];
    return dims;
  };
  for (const char* kernel : {"concat", "split"}) {
    for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
      for (const Values& dims :
           {parts(1, {1000, 24}, 1024), parts(1, {333, 1, 70}, 1001), parts(777, {4096, 512, 512}, 1),
            parts(777, {1001, 999}, 1), parts(13, {5, 0, 8, 21}, 300), parts(77, {130}, 24),
            parts(33, {64, 1, 0, 7, 128, 32, 5, 16}, 40), parts(20000, {3, 5}, 1), parts(0, {3, 5}, 16),
            parts(5, {0, 0}, 16)}) {
        check(engine, kernel, {dims, {}, {{"T", type}}});
        for (const std::int64_t run : {0, 1})
          if (dims.at("K") > 1) check(engine, kernel, {dims, {{"RUN", run}}, {{"T", type}}});
      }
    }
  }
}

}  // namespace tma_jit
