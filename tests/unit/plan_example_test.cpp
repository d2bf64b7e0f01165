// Example problems: what they satisfy, and that they are large enough to show a kernel at work.
#include "plan/example.h"

#include <set>

#include "plan/extents.h"
#include "planning_fixture.h"
#include "support/combinations.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

Request example_of(const std::string& text, const Request& request, ExampleSize size = {}) {
  const Pointers templates = {parsed(text)};
  auto found = example(request, device(), templates, size);
  if (!found) FAIL(found.error().text());
  return *std::move(found);
}

std::vector<Request> examples_of(const std::string& text, const std::map<std::string, std::int64_t>& dims = {}) {
  const Pointers templates = {parsed(text)};
  return preset_examples(device(), templates, dims).value();
}

// Params that decide which tensors there are leave nothing to be desired: the plan itself tells.
void check_neighbours(const Plan& plan) {
  for (const Argument& argument : plan.arguments) {
    if (!argument.map || argument.map->mode != MapMode::tile) continue;
    for (int i = 0; i < argument.map->rank; ++i) {
      const auto d = static_cast<std::size_t>(i);
      if (argument.map->box[d] > 1) CHECK_MESSAGE(argument.map->dims[d] > argument.map->box[d], argument.name);
    }
  }
}

}  // namespace

TEST_CASE("an example has dims that the rules allow, and no params of its own where the planner finds some") {
  const Request found = example_of(kGemm, {.kernel = "gemm"});
  CHECK(found.params.empty());
  CHECK(found.dims.size() == 3);
  const Result<Plan> planned = plan(kGemm, found);
  REQUIRE(planned.has_value());
  check_neighbours(*planned);
}

TEST_CASE("what the request says stays") {
  const Request found = example_of(kGemm, {.kernel = "gemm", .dims = {{"M", 17}}, .params = {{"BM", 192}}});
  CHECK(found.dims.at("M") == 17);
  CHECK(found.params.at("BM") == 192);
  CHECK(plan(kGemm, found).has_value());
}

TEST_CASE("extents are of the sort that is asked for, and at least as large") {
  CHECK(example_of(kLine, {.kernel = "line"}, {.extents = Extents::odd}).dims.at("N") % 2 == 1);
  CHECK(example_of(kLine, {.kernel = "line"}, {.extents = Extents::whole}).dims.at("N") % 32 == 0);
  CHECK(example_of(kLine, {.kernel = "line"}, {.least = 100'000}).dims.at("N") >= 100'000);
  CHECK(example_of(kLine, {.kernel = "line"}, {.least = 100'000'000}).dims.at("N") >= 100'000'000);
  CHECK(example_of(kLine, {.kernel = "line"}).dims.at("N") > 128);  // a second block
}

TEST_CASE("rules of any form are satisfied, or the error says that none was found") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim M, N
//! dim PARTS in 1..12
//! tensor X : f32[M, N]
//! require N % 24 == 0
//! require M > 2 * N && M % PARTS == 0
//! launch grid PARTS block 32
)";
  const Request found = example_of(text, {.kernel = "k"});
  CHECK(found.dims.at("N") % 24 == 0);
  CHECK(found.dims.at("M") > 2 * found.dims.at("N"));
  const Pointers impossible = {parsed(kLine + "//! require N == 0 \"never\"\n")};
  const auto none = example({.kernel = "line"}, device(), impossible, {});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().text() == "no_config: line: no problem was found that it takes; give dims");
}

TEST_CASE("hooks and scalars without a default get one; an unknown name is refused") {
  const std::string text = kLine + "//! scalar alpha : f32\n//! hook f(f32 x) : f32\n";
  const Request found = example_of(text, {.kernel = "line"});
  CHECK(found.hooks.at("f") == "f32(x)");
  CHECK(found.scalars.contains("alpha"));
  const Pointers templates = {parsed(text)};
  CHECK(example({.kernel = "line", .dims = {{"M", 1}}}, device(), templates, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("a preset's examples satisfy its condition, in every sort of extents") {
  std::set<std::int64_t> extents;
  for (const Request& request : examples_of(kGemm)) {
    const Result<Plan> planned = plan(kGemm, request);
    REQUIRE_MESSAGE(planned.has_value(), planned.error().text());
    check_neighbours(*planned);
    extents.insert(request.dims.at("M"));
    const std::int64_t tiles = (request.dims.at("M") + 63) / 64 * ((request.dims.at("N") + 127) / 128);
    if (request.params.at("BM") == 64) CHECK(tiles < 132);
    const std::int64_t ring = 64 * request.params.at("STAGES");
    CHECK(request.dims.at("K") > ring);
  }
  CHECK(extents.size() >= 3);
}

TEST_CASE("a preset that no problem suits is there once") {
  const std::string text = kLine + "//! param P = 1 in {1, 2}\n//! preset P = 2 when N < 0\n";
  const auto all = examples_of(text);
  CHECK(std::ranges::count_if(all, [](const Request& request) { return request.params.at("P") == 2; }) == 1);
}

TEST_CASE("rules on strides do not make a preset's example an empty problem, or a single row") {
  const std::string text = R"(//! kernel rows
//! arch sm_90a
//! dim M, N in 0..1000000
//! tensor X : f32[M, N]
//! require stride(X, 0) % 8 == 0
//! launch grid M block 128
)";
  const auto all = examples_of(text);
  CHECK(all.size() > 1);
  for (const Request& request : all) {
    CHECK(request.dims.at("M") >= 2);
    CHECK(request.dims.at("N") >= 2);
  }
}

TEST_CASE("every kernel of the tree, and every file of it alone, has an example for every device") {
  templates::TemplateSet set;
  std::set<std::string> kernels;
  for (const auto& found : set.all()) {
    REQUIRE(found.has_value());
    if (!templates::is_probe((*found)->file())) kernels.insert((*found)->kernel);
  }
  int planned = 0;
  std::vector<std::string> devices = {"h200"};
  if (testing::combinations() == testing::Combinations::all) devices = {"a100", "h200", "b200", "gb10"};
  const auto check_example = [&](const Request& request, const DeviceInfo& on, const auto& files) {
    const auto found = example(request, on, files, {});
    CHECK_MESSAGE(found.has_value(), request.kernel << " " << request.file << " on " << on.name);
    if (!found) return;
    const auto plan = make_plan(*found, on, files);
    CHECK_MESSAGE(plan.has_value(), request.kernel << " " << request.file << " on " << on.name);
    if (!plan) return;
    constexpr double kOfTheEmulator = 1 << 29;  // a minute
    CHECK_MESSAGE(plan->work.bytes + plan->work.flops / 8 < kOfTheEmulator, request.kernel << " " << request.file);
    ++planned;
  };
  for (const std::string& name : devices) {
    const DeviceInfo on = device(name);
    for (const std::string& kernel : testing::sampled(std::vector<std::string>(kernels.begin(), kernels.end()))) {
      const auto files = set.find(kernel).value();
      const auto serving = candidates({}, on, files);
      if (!serving) continue;
      check_example({.kernel = kernel}, on, files);
      for (const templates::Template* file : *serving)
        check_example({.kernel = kernel, .file = file->stem()}, on, files);
    }
  }
  CHECK(planned > (testing::combinations() == testing::Combinations::few ? 1 : 20));
}

TEST_CASE("an example is of types that the file takes where the default ones are refused") {
  const Request found = example_of(R"(//! kernel line
//! arch sm_90a
//! type T = f32 in {f32, bf16}
//! dim N
//! tensor X : T[N]
//! require sizeof(T) == 2 "elements have 16 bits"
//! launch grid ceil_div(N, 128) block 128
)",
                                   {.kernel = "line"});
  CHECK(found.types.at("T") == DType::bf16);
}

TEST_CASE("in the examples of the gemms every ring goes round and every tile has a neighbour") {
  if (testing::combinations() == testing::Combinations::few) {
    MESSAGE("skipped: takes half a minute with AddressSanitizer, and runs without it");
    return;
  }
  templates::TemplateSet set;
  auto files = set.find("gemm").value();
  std::erase_if(files,
                [](const auto& file) { return file->stem() != "gemm_mma" && file->stem() != "gemm_mma_cp_async"; });
  std::vector<std::string> devices = {"a100"};
  if (testing::combinations() == testing::Combinations::all) devices = {"a100", "h200"};
  for (const std::string& name : devices) {
    DeviceInfo on = device(name);
    on.sm_count = 16;
    int rings = 0;
    const std::vector<Request> requests = preset_examples(on, files, {}).value();
    for (const Request& request : requests) {
      const auto plan = make_plan(request, on, files);
      REQUIRE_MESSAGE(plan.has_value(), request.file);
      check_neighbours(*plan);
      const auto stages = request.params.find("STAGES"), step = request.params.find("STEP");
      if (stages == request.params.end() || step == request.params.end()) continue;
      const auto bytes = static_cast<std::int64_t>(size_of(request.types.at("T")));
      CHECK(request.dims.at("K") * bytes > stages->second * step->second);
      ++rings;
    }
    CHECK(rings > 5);
  }
}

}  // namespace tma_jit::plan
