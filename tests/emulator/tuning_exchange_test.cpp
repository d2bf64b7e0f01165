// Tuning by several processes that share what they measure: one publishes, others fetch. Needs NVRTC.
#include <map>

#include <tma_jit/tuning.h>

#include "emulator/devices.h"
#include "emulator/tuning_requests.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// What processes of several hosts share: a store, of which each has its end.
struct Board {
  std::map<std::string, std::string> lines;
  int published = 0, fetched = 0;

  TuneExchange lead() {
    TuneExchange exchange;
    exchange.publish = [this](const std::string& problem, const std::string& line) -> Result<void> {
      ++published;
      lines[problem] = line;
      return {};
    };
    return exchange;
  }
  TuneExchange follow() {
    TuneExchange exchange;
    exchange.fetch = [this](const std::string& problem, double) -> Result<std::optional<std::string>> {
      ++fetched;
      return lines.contains(problem) ? std::optional(lines[problem]) : std::nullopt;
    };
    return exchange;
  }
  TuneExchange store() { return {lead().publish, follow().fetch}; }
};

// A process of its own, with its own records.
TuneResult tuned_with(const TuneExchange& exchange, const std::filesystem::path& records) {
  Engine engine = emulated_engine("sm_90a");
  TuneOptions options = quick(records);
  options.exchange = exchange;
  return tune(engine, std::vector{small_copy()}, options).value().front();
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("One process measures and publishes, and another that fetches has the same record without measuring") {
  const TemporaryFolder folder;
  Board board;
  const TuneResult led = tuned_with(board.lead(), folder.path() / "a.jsonl");
  REQUIRE_MESSAGE(!led.error, led.error->text());
  CHECK(board.published == 1);
  REQUIRE(board.lines.size() == 1);
  CHECK(board.lines.begin()->first.size() == 16);
  CHECK(board.lines.begin()->second == tuning_line(led.record));
  const TuneResult followed = tuned_with(board.follow(), folder.path() / "b.jsonl");
  REQUIRE_MESSAGE(!followed.error, followed.error->text());
  CHECK(followed.known);
  CHECK(tuning_line(followed.record) == tuning_line(led.record));
  CHECK(tuning_line(read_tuning_file(folder.path() / "b.jsonl")->records.at(0)) == tuning_line(led.record));

  // One that knows the record publishes it, too, so that a collective is entered by all.
  CHECK(tuned_with(board.lead(), folder.path() / "a.jsonl").known);
  CHECK(board.published == 2);
}

TEST_CASE("A process that only fetches measures nothing, whatever it is given, and says why") {
  const TemporaryFolder folder;
  const auto records = folder.path() / "tuned.jsonl";
  Board board;
  const auto why = [&] {
    const TuneResult result = tuned_with(board.follow(), records);
    REQUIRE(result.error);
    CHECK(result.error->code == ErrorCode::not_found);
    CHECK(result.trials.empty());
    return result.error->message;
  };
  CHECK(why().find("no other process published a record in time") != std::string::npos);
  TuneResult led = tuned_with(board.lead(), folder.path() / "led.jsonl");
  const std::string problem = board.lines.begin()->first;
  board.lines[problem] = "";
  CHECK(why().find("the process that tunes it could not") != std::string::npos);
  board.lines[problem] = "rotten";
  CHECK(why().find("not a JSON object") != std::string::npos);
  led.record.digest = "0123456789abcdef";
  board.lines[problem] = tuning_line(led.record);
  CHECK(why().find("of another problem or template") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(records));
  board.lines.clear();
  TuneExchange broken;
  broken.fetch = [](const std::string&, double) -> Result<std::optional<std::string>> {
    return tl::make_unexpected(Error{ErrorCode::io, "the store does not answer", {}});
  };
  CHECK(tuned_with(broken, records).error->message == "the store does not answer");
}

TEST_CASE("With a store, the first process measures and publishes, and later ones take what is there") {
  const TemporaryFolder folder;
  Board board;
  CHECK_FALSE(tuned_with(board.store(), folder.path() / "a.jsonl").known);
  CHECK(tuned_with(board.store(), folder.path() / "b.jsonl").known);
  CHECK(board.published == 1);
  CHECK(board.fetched == 2);
  board.lines.begin()->second = "rotten";  // then it measures again, and mends the store
  CHECK_FALSE(tuned_with(board.store(), folder.path() / "c.jsonl").known);
  CHECK(parse_tuning_line(board.lines.begin()->second));
}

TEST_CASE("The leader publishes, too, that a request could not be tuned") {
  const TemporaryFolder folder;
  Board board;
  Engine engine = emulated_engine("sm_90a");
  REQUIRE(engine.add_template("never.cu", R"(//! kernel never
//! arch sm_90a
//! dim N
//! tensor Y : f32[N] out
//! launch grid 1 block 32
static_assert(false, "it never compiles");
extern "C" __global__ void never(View<f32, 1> Y, const Dims dims) {}
)"));
  TuneOptions options = quick(folder.path() / "tuned.jsonl");
  options.exchange = board.lead();
  const Request request{.kernel = "never", .dims = {{"N", 64}}};
  const auto results = tune(engine, std::vector{request}, options);
  REQUIRE(results);
  REQUIRE(results->front().error);
  CHECK(results->front().error->code == ErrorCode::compile);
  REQUIRE(board.lines.size() == 1);
  CHECK(board.lines.begin()->second.empty());
}

TEST_SUITE_END();
