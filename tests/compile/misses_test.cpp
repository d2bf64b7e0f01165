// What becomes of kernels that have to be compiled: sealed engines, lists of misses, and configurations that crash.
#include <tma_jit/engine.h>
#include <tma_jit/json.h>
#include <tma_jit/warm_list.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/text.h"
#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"
#include "worker_fixture.h"

namespace tma_jit {
namespace {

using namespace testing;

struct MissBench {
  FakeDriver fake;
  TestLog log;
  TemporaryFolder folder;
  Options options;

  explicit MissBench(const std::filesystem::path& worker = compile::real_worker()) {
    fake.api().kernel_get_param_info = nullptr;
    options.cache_dir = folder.path() / "cache";
    options.log = log.callback();
    options.compiler.worker = worker;
  }
  Engine engine() {
    Engine made = engine_with(options, fake.provider());
    REQUIRE(made.add_template("scale.cu", kScale));
    REQUIRE(made.add_template("tile.cu", kTile));
    return made;
  }
};

Request scale_request(std::string hook = "a", std::int64_t n = 1000) {
  return {.kernel = "scale",
          .tensors = {{"X", Tensor::row_major(std::uint64_t{0x10000}, DType::f32, {n})},
                      {"Y", Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {n})}},
          .hooks = {{"apply", std::move(hook)}}};
}

// A hook whose kernel crashes the compiler with the default of THREADS, or with more values of it.
std::string crashing(const std::vector<int>& threads) {
  std::string text;
  for (const int value : threads) text += "/* FAULT(segv, when, THREADS = " + std::to_string(value) + ";) */ ";
  return text + "return a + 1.0f;";
}

std::size_t files_in(const std::filesystem::path& folder, const char* extension) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.path().extension() == extension;
  return count;
}

std::int64_t threads_of(const Launch& launch) {
  return launch.plan().config.at(0).second;
}

}  // namespace

TEST_CASE("a sealed engine refuses what is not in the cache, and serves what is") {
  MissBench bench;
  std::vector<Miss> misses;
  bench.options.on_sealed_miss = [&](const Miss& miss) { misses.push_back(miss); };
  Engine engine = bench.engine();
  REQUIRE(engine.prepare(scale_request()));
  engine.seal();
  CHECK(engine.prepare(scale_request("a", 2000)));  // a dim is no constant
  const auto refused = engine.prepare(scale_request("a * 2.0f"));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::sealed);
  CHECK(refused.error().message == "scale for sm_90a is not in the cache, and this engine is sealed");
  INFO(refused.error().detail);
  CHECK(refused.error().detail.starts_with("the nearest entry of the cache " + bench.options.cache_dir.string()));
  CHECK(refused.error().detail.find(" here, ") != std::string::npos);
  CHECK(engine.stats().sealed_misses == 1);
  CHECK(engine.stats().compiles == 1);
  REQUIRE(misses.size() == 1);
  CHECK(misses[0].kernel == "scale");
  CHECK(misses[0].key.hex().size() == 64);
  CHECK(misses[0].explanation == refused.error().detail);

  engine.seal(Seal::warn);
  CHECK(engine.prepare(scale_request("a * 2.0f")));
  REQUIRE(bench.log.warnings().size() == 1);
  CHECK(bench.log.warnings()[0].find("compiling it all the same") != std::string::npos);
  engine.seal(Seal::off);
  CHECK(engine.prepare(scale_request("a * 3.0f")));
  CHECK(engine.stats().sealed_misses == 2);
}

TEST_CASE("what on_sealed_miss throws is dropped") {
  MissBench bench;
  bench.options.seal = Seal::refuse;
  bench.options.on_sealed_miss = [](const Miss& miss) { throw miss; };
  const auto refused = bench.engine().prepare(scale_request());
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::sealed);
}

TEST_CASE("an engine sealed from the start takes all from a warm cache, and names what the cache lacks") {
  MissBench bench;
  bench.options.seal = Seal::refuse;
  const auto empty = bench.engine().prepare(scale_request());
  REQUIRE(!empty);
  CHECK(empty.error().detail == "the cache " + bench.options.cache_dir.string() + " has no entry of scale");
  bench.options.seal = Seal::off;
  REQUIRE(bench.engine().prepare(scale_request()));
  bench.options.seal = Seal::refuse;
  Engine warm = bench.engine();
  CHECK(warm.prepare(scale_request()));
  CHECK(warm.stats().workers_started == 0);
}

TEST_CASE("a sealed engine without NVRTC answers sealed, calls back and counts, and serves what is there") {
  MissBench bench;
  std::vector<Miss> misses;
  bench.options.on_sealed_miss = [&](const Miss& miss) { misses.push_back(miss); };
  bench.options.nvrtc = bench.folder.path() / "libnvrtc.so.99";
  bench.options.seal = Seal::refuse;
  const auto empty = bench.engine().prepare(scale_request());
  REQUIRE(!empty);
  CHECK(empty.error().code == ErrorCode::sealed);
  CHECK(empty.error().detail == "the cache " + bench.options.cache_dir.string() + " has no entry of scale");
  CHECK(misses.size() == 1);

  Options warming = bench.options;
  std::swap(warming, bench.options);
  bench.options.nvrtc.clear();
  bench.options.seal = Seal::off;
  REQUIRE(bench.engine().prepare(scale_request()));
  bench.options = warming;
  Engine engine = bench.engine();
  CHECK(engine.prepare(scale_request()));
  const auto refused = engine.prepare(scale_request("a * 2.0f"));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::sealed);
  CHECK(refused.error().detail.starts_with("the nearest entry of the cache " + bench.options.cache_dir.string()));
  CHECK(refused.error().detail.find("dims and hooks: ") != std::string::npos);
  CHECK(engine.stats().sealed_misses == 1);
  REQUIRE(misses.size() == 2);
  CHECK(misses[1].kernel == "scale");
  CHECK(misses[1].explanation == refused.error().detail);

  engine.seal(Seal::warn);
  const auto warned = engine.prepare(scale_request("a * 2.0f"));
  REQUIRE(!warned);
  CHECK(warned.error().code == ErrorCode::nvrtc);
  CHECK(engine.stats().sealed_misses == 2);
  CHECK(misses.size() == 3);
  const auto warnings = bench.log.warnings();
  CHECK(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.find("and there is no compiler") != std::string::npos;
  }));
}

TEST_CASE("misses are recorded as lines that build the same kernels; hits are not, nor what fails") {
  MissBench bench;
  bench.options.record_misses = bench.folder.path() / "misses.jsonl";
  std::vector<Key> keys;
  {
    Engine engine = bench.engine();
    Request fixed = scale_request("a * 2.0f");
    fixed.fixed = {"N"};
    fixed.params["THREADS"] = 64;
    const Tensor strided = Tensor::strided(std::uint64_t{0x10000}, DType::f32, {64, 64}, {128, 1});
    const Request tile = {
        .kernel = "tile",
        .tensors = {{"X", strided}, {"Y", Tensor::row_major(std::uint64_t{0x90000}, DType::f32, {64, 64})}}};
    for (const Request& request : {scale_request("a\n+ \"1\"[0]"), fixed, tile, fixed}) {
      const auto launch = engine.prepare(request);
      REQUIRE_MESSAGE(launch, launch.error().text());
      keys.push_back(launch->artifact().key);
    }
    CHECK(!engine.prepare(scale_request("a +* 1")));
    CHECK(engine.stats().misses_recorded == 3);
  }
  const std::string text = read_file(bench.options.record_misses).value();
  const auto lines = split(text, '\n');
  REQUIRE(lines.size() == 4);  // the last is empty
  bench.options.cache_dir = bench.folder.path() / "other";
  bench.options.record_misses.clear();
  Engine other = bench.engine();
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(lines[i]);
    const auto line = parse_warm_line(lines[i]);
    REQUIRE_MESSAGE(line, line.error().text());
    CHECK(line->arch == "sm_90a");
    const auto plan = other.plan(line->request);
    REQUIRE_MESSAGE(plan, plan.error().text());
    CHECK(other.key(*plan).value() == keys[i]);
  }
}

TEST_CASE(
    "what was asked for is recorded once, hits too; a sealed engine proves that a folder has it, compiling nothing") {
  MissBench bench;
  bench.options.record_requests = bench.folder.path() / "asked.jsonl";
  for (int run = 0; run < 2; ++run) {
    Engine engine = bench.engine();
    for (const char* hook : {"a", "a * 2.0f", "a"}) REQUIRE(engine.prepare(scale_request(hook)));
    CHECK(engine.stats().compiles == (run == 0 ? 2 : 0));
    CHECK(!engine.prepare(scale_request("a +* 1")));
  }
  const std::string text = read_file(bench.options.record_requests).value();
  const auto lines = split(text, '\n');
  REQUIRE(lines.size() == 3);  // the last is empty
  bench.options.record_requests.clear();
  bench.options.seal = Seal::refuse;
  Engine sealed = bench.engine();
  std::vector<Request> requests;
  for (std::size_t i = 0; i < 2; ++i) requests.push_back(parse_warm_line(lines[i]).value().request);
  requests.push_back(scale_request("a * 3.0f"));
  const Proof proof = prove(sealed, requests);
  CHECK(proof.there == 2);
  REQUIRE(proof.missing.size() == 1);
  CHECK(proof.missing[0].request == 2);
  CHECK(proof.missing[0].error.code == ErrorCode::not_found);
  CHECK(proof.ms < 1000);  // of a machine with other work to do; nothing is compiled or loaded
  CHECK(sealed.stats().compiles == 0);
  CHECK(sealed.stats().loads == 0);
  CHECK(json_of(proof).starts_with(R"({"there":2,"missing":[{"request":2,"error":{"code":"not_found")"));
}

TEST_CASE("threads and engines that record at once write whole lines; a list that cannot be written is one warning") {
  MissBench bench;
  bench.options.record_misses = bench.folder.path() / "misses.jsonl";
  Engine one = bench.engine(), two = bench.engine();
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back(
        [&, i] { CHECK((i % 2 == 0 ? one : two).prepare(scale_request("a * " + std::to_string(i) + ".0f"))); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = read_file(bench.options.record_misses).value();
  const auto lines = split(text, '\n');
  CHECK(lines.size() == 7);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) CHECK(parse_warm_line(lines[i]));

  bench.options.record_misses = bench.folder.path() / "none" / "misses.jsonl";
  Engine blind = bench.engine();
  CHECK(blind.prepare(scale_request("a + 7.0f")));
  CHECK(blind.prepare(scale_request("a + 8.0f")));
  CHECK(blind.stats().misses_recorded == 0);
  CHECK(bench.log.warnings().size() == 1);
}

TEST_CASE("faulty lines are refused by field") {
  const auto fault = [](const char* line) { return parse_warm_line(line).error().line(); };
  CHECK(fault("gemm M=1").starts_with("not a JSON object"));
  CHECK(fault("[1]") == "a line of a warm list is a JSON object");
  CHECK(fault("{}") == "the line names no kernel");
  CHECK(fault(R"({"kernel": 7})").starts_with("kernel: "));
  CHECK(fault(R"({"kernel": "a", "parms": {}})") == "no field is named \"parms\"; did you mean \"params\"?");
  CHECK(fault(R"({"kernel": "a", "types": {"T": "bf15"}})") == "T: \"bf15\" is not an element type");
  CHECK(fault(R"({"kernel": "a", "dims": [1]})") == "dims is not an object");
  CHECK(fault(R"({"kernel": "a", "tensors": {"X": {"type": "f32", "shape": [1, 2], "strides": [1]}}})") ==
        "tensor X has 2 extents and 1 strides; 1 to 5 of each are wanted");
  CHECK(fault(R"({"kernel": "a", "tensors": {"X": {}}})").starts_with("tensors: "));
  const std::string deep(1'000'000, '['), closed = deep + std::string(deep.size(), ']');
  for (const char* field : {"dims", "params", "types", "hooks", "tensors", "fixed", "kernel", "presets"}) {
    for (const std::string& value : {deep, closed, R"({"M":)" + closed + "}"}) {
      CHECK(fault(fmt::format(R"({{"kernel": "a", "{}": {}}})", field, value).c_str()) ==
            "not a JSON object: JSON of more than 16 levels");
    }
  }
}

TEST_CASE("a configuration that crashes the compiler is passed over, and not tried again") {
  MissBench bench(compile::test_worker());
  Engine engine = bench.engine();
  const auto launch = engine.prepare(scale_request(crashing({128})));
  REQUIRE_MESSAGE(launch, launch.error().text());
  CHECK(threads_of(*launch) == 64);
  REQUIRE(launch->plan().avoided.size() == 1);
  CHECK(launch->plan().avoided[0] ==
        "THREADS=128: scale for sm_90a: the compiler crashed twice: SIGSEGV (Segmentation fault)");
  CHECK(engine.stats().workers_lost == 2);
  CHECK(engine.stats().crashes_avoided == 1);
  const auto warnings = bench.log.warnings();
  CHECK(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.starts_with("scale is planned without THREADS=128: ");
  }));
  CHECK(engine.prepare(scale_request(crashing({128}), 5)));
  CHECK(engine.stats().workers_lost == 2);
  CHECK(files_in(bench.options.cache_dir / "crashes", ".crash") == 1);

  Engine later = bench.engine();  // another process, say
  const auto plan = later.plan(scale_request(crashing({128})));
  REQUIRE(plan);
  CHECK(plan->config.at(0).second == 64);
  CHECK(plan->avoided.size() == 1);
  CHECK(later.prepare(scale_request(crashing({128}))));
  CHECK(later.stats().workers_started == 0);
  CHECK(later.stats().disk_hits == 1);
  Request pinned = scale_request(crashing({128}));
  pinned.params["THREADS"] = 128;
  const auto only = later.prepare(pinned);
  REQUIRE(!only);
  CHECK(only.error().code == ErrorCode::crash);
  CHECK(later.stats().workers_started == 0);
}

TEST_CASE("the last configuration that is left is taken; where none is, the crash is the error") {
  MissBench bench(compile::test_worker());
  Engine engine = bench.engine();
  const auto last = engine.prepare(scale_request(crashing({128, 64})));
  REQUIRE_MESSAGE(last, last.error().text());
  CHECK(threads_of(*last) == 256);
  CHECK(last->plan().avoided.size() == 2);
  const auto none = engine.prepare(scale_request(crashing({128, 64, 256})));
  REQUIRE(!none);
  CHECK(none.error().code == ErrorCode::crash);
  CHECK(none.error().message == "scale for sm_90a: the compiler crashed twice: SIGSEGV (Segmentation fault)");
  CHECK(none.error().detail == "no other configuration fits the request");
  CHECK(engine.prepare(scale_request()));
}

TEST_CASE("functions pass over crashes too; memory that ran out is forgotten with the process; so is an old crash") {
  MissBench bench(compile::test_worker());
  Engine engine = bench.engine();
  auto function = engine.function({.kernel = "scale", .hooks = {{"apply", crashing({128})}}});
  REQUIRE(function);
  CHECK((*function)({Tensor::row_major(std::uint64_t{0x10000}, DType::f32, {64}),
                     Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {64})}));
  CHECK(engine.stats().crashes_avoided == 1);
  CHECK(engine.prepare(scale_request("/* FAULT(kill, when, THREADS = 128;) */ return a;")));
  CHECK(engine.stats().crashes_avoided == 2);
  const auto crashes = bench.options.cache_dir / "crashes";
  CHECK(files_in(crashes, ".crash") == 1);

  const auto written_days_ago = [&](int days) {
    for (const auto& entry : std::filesystem::directory_iterator(crashes)) {
      std::filesystem::last_write_time(entry.path(),
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * days));
    }
    Engine later = bench.engine();
    const auto plan = later.plan(scale_request(crashing({128})));
    REQUIRE(plan);
    return plan->config.at(0).second;
  };
  CHECK(written_days_ago(6) == 64);
  const auto kept = bench.folder.path() / "kept";
  std::filesystem::copy(crashes, kept);
  CHECK(written_days_ago(8) == 128);
  CHECK(files_in(crashes, ".crash") == 0);
  std::filesystem::copy(kept, crashes, std::filesystem::copy_options::overwrite_existing);
  CHECK(written_days_ago(-8) == 128);  // a clock was wrong
  CHECK(files_in(crashes, ".crash") == 0);
}

}  // namespace tma_jit
