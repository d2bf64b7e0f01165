// Which problems records are of: how tensors lie and what an engine leaves out are parts of them.
#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

#include "tuning/conditions.h"
#include "tuning/problem_key.h"

namespace tma_jit {
namespace {

constexpr std::uint64_t kBase = 0x100000;

Options for_h200(bool disable_tma = false) {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = false;
  options.disable_tma = disable_tma;
  return options;
}

Tensor matrix(std::uint64_t address, std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  return Tensor::strided(address, DType::bf16, {rows, columns}, {pitch, 1});
}

// `offset` is in bytes from an aligned address, `pitch` the elements from row to row of A.
Request product(std::uint64_t offset = 0, std::int64_t pitch = 512) {
  Request request{.kernel = "gemm"};
  request.tensors = {{"A", matrix(kBase + offset, 512, 512, pitch)},
                     {"B", matrix(2 * kBase, 512, 512, 512)},
                     {"D", matrix(3 * kBase, 512, 512, 512)}};
  return request;
}

// Returns a record of the request, whose choice is the candidate of that index.
TuningRecord record_of(Engine& engine, const Request& request, const std::string& conditions, std::size_t at = 0) {
  const Candidate choice = engine.candidates(request, at + 1).value().at(at);
  const Plan preset = engine.plan(request).value();
  TuningRecord record = tuning::problem_of(preset, engine.device().value(), conditions);
  record.pins = request.params;
  record.file = choice.file;
  record.params = {choice.params.begin(), choice.params.end()};
  Request pinned = request;
  pinned.file = choice.file;
  pinned.params = record.params;
  const Plan plan = engine.plan(pinned).value();
  record.digest = tuning::digest_of(plan, engine.emit(plan).value());
  record.us = 10;
  record.preset_us = 11;
  return record;
}

std::string conditions_of(const Request& request) {
  return tuning::conditions_of(request, std::string());
}

}  // namespace

TEST_CASE("conditions name what is unusual about tensors, in any order of them") {
  CHECK(conditions_of(product()).empty());
  CHECK(conditions_of(product(16, 520)).empty());
  CHECK(conditions_of(product(2)) == "A at 2");
  Request odd = product(4, 514);
  odd.tensors[1].tensor = Tensor::strided(std::uint64_t{0}, DType::bf16, {512, 512}, {8, 512});
  CHECK(conditions_of(odd) == "A at 4, A rows 4, B strided");
  std::swap(odd.tensors[0], odd.tensors[1]);
  CHECK(conditions_of(odd) == "A at 4, A rows 4, B strided");
  CHECK(tuning::conditions_of(product(2), "without TMA") == "without TMA, A at 2");
  Options options = for_h200(true);
  CHECK(tuning::conditions_of(options) == "without TMA");
  options.limits = device_named("h100").value();
  options.arch = "sm_90";
  CHECK(tuning::conditions_of(options) == "without TMA, within h100, for sm_90");
}

TEST_CASE("a record of misaligned tensors decides no aligned ones") {
  Engine engine(for_h200());
  const Plan aligned = engine.plan(product()).value();
  engine.follow({record_of(engine, product(2), conditions_of(product(2)), 1)});
  CHECK(engine.plan(product())->config == aligned.config);
  CHECK(engine.plan(product())->file == aligned.file);
  CHECK(engine.plan(product(2))->record.starts_with("tuned in this process"));
  CHECK(engine.plan(product(0, 514))->record != engine.plan(product(2))->record);
}

TEST_CASE("a record of aligned tensors decides misaligned ones that it fits, unless there is one of their own") {
  Engine engine(for_h200());
  TuningRecord usual = record_of(engine, product(2), {}, 1);
  engine.follow({usual});
  const Plan by_usual = engine.plan(product(2)).value();
  CHECK(by_usual.record.starts_with("tuned in this process"));
  TuningRecord own = record_of(engine, product(2), "A at 2", 2);
  own.us = usual.us + 1;
  engine.follow({own});
  const Plan by_own = engine.plan(product(2)).value();
  CHECK(std::map(by_own.config.begin(), by_own.config.end()) == own.params);
  CHECK(by_own.config != by_usual.config);
}

TEST_CASE("a record of an engine without TMA decides no plan with TMA, and one with TMA none without") {
  Engine with(for_h200()), without(for_h200(true));
  const Plan best = with.plan(product()).value();
  with.follow({record_of(without, product(), "without TMA", 1)});
  CHECK(with.plan(product())->file == best.file);
  CHECK(with.plan(product())->config == best.config);
  without.follow({record_of(with, product(), {}, 1)});
  const std::string before = without.plan(product())->record;
  CHECK_FALSE(before.starts_with("tuned in this process"));
  without.follow({record_of(without, product(), "without TMA", 1)});
  CHECK(without.plan(product())->record.starts_with("tuned in this process"));
}

}  // namespace tma_jit
