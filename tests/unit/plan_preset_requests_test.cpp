// What `check` and pre-warming build.
#include "planning_fixture.h"
#include "support/combinations.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

std::vector<std::string> listed(const std::string& text, const std::map<std::string, std::int64_t>& dims = {},
                                std::string_view on = "h100") {
  const Pointers templates = {parsed(text, "x/k.cu")};
  std::vector<std::string> words;
  const std::vector<Request> requests = preset_requests(device(on), templates, dims).value();
  for (const Request& request : requests) {
    CHECK(request.file == "k");
    CHECK(request.tensors.empty());
    std::string one;
    for (const auto& [name, type] : request.types) one += fmt::format("{}={} ", name, name_of(type));
    for (const auto& [name, value] : request.dims) one += fmt::format("{}={} ", name, value);
    for (const auto& [name, value] : request.params) one += fmt::format("{}={} ", name, value);
    words.push_back(one);
  }
  return words;
}

}  // namespace

TEST_CASE("every preset and the defaults, once each, for every choice of the types") {
  const std::vector<std::string> all = listed(kGemm, {{"K", 64}});
  CHECK(all == std::vector<std::string>{
                   "T=bf16 K=64 M=1024 N=1024 BAND=8 BM=64 BN=128 STAGES=6 ",
                   "T=f16 K=64 M=1024 N=1024 BAND=8 BM=64 BN=128 STAGES=6 ",
                   "T=bf16 K=64 M=1024 N=1024 BAND=8 BM=128 BN=256 STAGES=3 ",
                   "T=f16 K=64 M=1024 N=1024 BAND=8 BM=128 BN=256 STAGES=3 ",
               });
}

TEST_CASE("dims stay within their ranges; fixed ones are the template's") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N in 1..16
//! dim H = 128
//! launch grid 1 block 32
)";
  CHECK(listed(text) == std::vector<std::string>{"N=16 "});
}

TEST_CASE("a preset that needs less or more than the usual extents has the nearest that it takes") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param FORM = 0 in {0, 1, 2}
//! require FORM != 1 || N < 300 "few"
//! require FORM != 2 || N > 5000 "many"
//! preset FORM = 1
//! preset FORM = 2
//! launch grid 1 block 32
)";
  CHECK(listed(text) == std::vector<std::string>{"N=256 FORM=1 ", "N=5120 FORM=2 ", "N=1024 FORM=0 "});
}

TEST_CASE("of many types that combine, a preset is listed with each choice of one and with each choice of all") {
  std::string text = "//! kernel k\n//! arch sm_90a\n//! dim N\n//! launch grid 1 block 32\n";
  for (char name = 'A'; name < 'I'; ++name)
    text += fmt::format("//! type T{0} = f32 in {{f32, bf16, f16, f64}}\n//! tensor {0} : T{0}[N]\n", name);
  const std::vector<std::string> all = listed(text);
  CHECK(all.size() == 1 + 8 * 3 + 3);
  CHECK(std::ranges::count(all, "TA=f32 TB=f32 TC=f32 TD=f32 TE=f16 TF=f32 TG=f32 TH=f32 N=1024 ") == 1);
  CHECK(std::ranges::count(all, "TA=f64 TB=f64 TC=f64 TD=f64 TE=f64 TF=f64 TG=f64 TH=f64 N=1024 ") == 1);
}

TEST_CASE("what has no default gets something that compiles") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! scalar alpha : f32
//! hook f(f32 x) : f32
//! launch grid 1 block 32
)";
  const Pointers templates = {parsed(text)};
  const std::vector<Request> requests = preset_requests(device(), templates, {}).value();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].hooks.at("f") == "f32(x)");
  CHECK(make_plan(requests[0], device(), templates).has_value());
}

TEST_CASE("a preset that fits nothing is listed once, so that planning it tells why") {
  const std::string text = R"(//! kernel k
//! arch sm_90a, sm_121a
//! type T = bf16 in {bf16, f16}
//! param KB = 64 in {64, 200}
//! tensor X : T[16]
//! launch grid 1 block 32 smem KB * 1024
//! preset KB = 200
)";
  CHECK(listed(text).size() == 4);
  CHECK(listed(text, {}, "gb10") == std::vector<std::string>{"T=bf16 KB=200 ", "T=bf16 KB=64 ", "T=f16 KB=64 "});
}

TEST_CASE("a preset that several templates share is left out where it fits nothing") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! use "device/tiles.cuh"
//! dim N
//! require N > 1000 * FORM "many"
//! require FORM != 2 || N < 2000 "few"
//! launch grid 1 block 32
)";
  const std::string shared = "//! param FORM = 0 in {0, 1, 2}\n//! preset FORM = 2\n//! preset FORM = 1\n";
  auto kernel = templates::parse("k.cu", text, [&](std::string_view) -> Result<std::string> { return shared; });
  REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().text()));
  const Pointers templates = {std::make_shared<const templates::Template>(std::move(*kernel))};
  const std::vector<Request> requests = preset_requests(device(), templates, {}).value();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].params.at("FORM") == 1);
  CHECK(requests[1].params.at("FORM") == 0);
}

TEST_CASE("a preset for requests that pin a param is listed with its default, or left out where that fits nothing") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param FORM = 0 in {0, 1}
//! param TILE = 8 in {8, 16, 32}
//! require TILE != 32 || FORM == 1 "wide"
//! preset TILE = 16 when FORM == 1
//! preset TILE = 32 when FORM == 1
//! launch grid 1 block 32
)";
  CHECK(listed(text) == std::vector<std::string>{"N=1024 FORM=0 TILE=16 ", "N=1024 FORM=0 TILE=8 "});
}

TEST_CASE("a preset whose condition excludes the device is left out, whatever else the condition says") {
  const std::string text = R"(//! kernel k
//! arch sm_90a, sm_121a
//! dim N
//! param KB = 64 in {64, 100, 200}
//! launch grid 1 block 32 smem KB * 1024
//! preset KB = 200 when N > 1000000 && device.smem_per_block >= 200000
//! preset KB = 100 when device.compute_capability == 120
)";
  CHECK(listed(text, {}, "h100") == std::vector<std::string>{"N=1024 KB=200 ", "N=1024 KB=64 "});
  CHECK(listed(text, {}, "gb10") == std::vector<std::string>{"N=1024 KB=64 "});
}

TEST_CASE("an unknown dim") {
  const Pointers templates = {parsed(kGemm)};
  CHECK(preset_requests(device(), templates, {{"m", 4}}).error().line() ==
        "gemm: there is no dim \"m\"; it has M, N, K; did you mean \"M\"?");
}

TEST_CASE("every preset of the library's own kernels is a plan on every device it serves, or none of its types is") {
  templates::TemplateSet set;
  const bool all = testing::combinations() == testing::Combinations::all;  // which takes minutes
  const std::vector<std::string> devices = all ? known_devices() : std::vector<std::string>{"a100", "h100"};
  for (const std::string& name : devices) {
    const DeviceInfo on = device(name);
    for (const auto& one : testing::sampled(set.all())) {
      REQUIRE(one.has_value());
      const Pointers templates = {*one};
      const auto requests = preset_requests(on, templates, {});
      if (!requests.has_value()) {
        CHECK(requests.error().code == ErrorCode::unsupported);
        continue;
      }
      for (const Request& request : *requests) {
        const auto planned = make_plan(request, on, templates);
        if (!planned.has_value()) CHECK(planned.error().code == ErrorCode::no_config);
      }
    }
  }
}

TEST_CASE("a preset is for no type that one part of its condition excludes") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! type T = f32 in {f32, bf16, s8}
//! dim N
//! param FORM = 0 in {0, 1}
//! tensor D : T[N] out
//! preset FORM = 1 when N > 100 && sizeof(T) < 4 && N < 5000
//! launch grid 1 block 32
)";
  CHECK(listed(text) == std::vector<std::string>{"T=bf16 N=1024 FORM=1 ", "T=s8 N=1024 FORM=1 ", "T=f32 N=1024 FORM=0 ",
                                                 "T=bf16 N=1024 FORM=0 ", "T=s8 N=1024 FORM=0 "});
}

}  // namespace tma_jit::plan
