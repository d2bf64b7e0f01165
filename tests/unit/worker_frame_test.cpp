#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compile/frame.h"
#include "compile/message.h"

namespace tma_jit::compile {
namespace {

Job sample_job() {
  Job job;
  job.source = {.kernel = "gemm",
                .entry = "gemm",
                .arch = "sm_90a",
                .name = "gemm.cu",
                .text = "text",
                .headers = {{"device/a.cuh", "a"}, {"device/b.cuh", ""}},
                .options = {}};
  job.options = {"-std=c++17", "", "--gpu-architecture=sm_90a"};
  job.wants_ptx = true;
  return job;
}

}  // namespace

TEST_CASE("frames come out as they went in, in whatever pieces the bytes come") {
  const std::string payloads[] = {"", "a", std::string(100'000, 'x'), std::string("\0\1\2", 3)};
  std::string bytes;
  for (const std::string& payload : payloads) bytes += to_bytes(FrameKind::outcome, payload);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    FrameReader reader;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      for (auto frame = reader.next(); frame && *frame; frame = reader.next()) got.push_back((*frame)->payload);
    }
    CHECK(got == std::vector<std::string>(std::begin(payloads), std::end(payloads)));
    CHECK(!reader.in_frame());
  }
}

TEST_CASE("any changed byte of a frame is noticed, and no size makes a reader wait for more than there can be") {
  const std::string good = to_bytes(FrameKind::job, to_payload(sample_job(), false));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    FrameReader reader;
    reader.append(bad);
    const auto frame = reader.next();
    const bool unnoticed = frame && frame->has_value() && (*frame)->kind == FrameKind::job;
    CHECK_MESSAGE(!unnoticed, at);
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    FrameReader reader;
    reader.append(std::string_view(good).substr(0, size));
    const auto frame = reader.next();
    REQUIRE(frame);
    CHECK(!frame->has_value());
  }
}

TEST_CASE("garbage is refused by its first byte, and another protocol by name") {
  FrameReader garbage;
  garbage.append("x");
  CHECK(!garbage.next());
  std::string other = to_bytes(FrameKind::greeting, "");
  other[4] = 9;
  FrameReader reader;
  reader.append(other);
  const auto frame = reader.next();
  REQUIRE(!frame);
  CHECK(frame.error().code == ErrorCode::unsupported);
  CHECK(frame.error().message == fmt::format("a frame of protocol 9; this library speaks {}", kProtocolVersion));
}

TEST_CASE("messages come out as they went in") {
  const auto job = job_in(to_payload(sample_job(), true));
  REQUIRE(job);
  CHECK(job->alone);
  CHECK(job->job.wants_ptx);
  CHECK(job->job.options == sample_job().options);
  CHECK(job->job.source.headers.size() == 2);
  CHECK(job->job.source.headers[0].name == "device/a.cuh");
  CHECK(job->job.source.text == "text");

  WorkerOutcome made;
  made.outcome = {Verdict::refused, "words", "log", {std::byte{1}, std::byte{2}}, "ptx", 12.5};
  made.resident_bytes = 99;
  const auto outcome = outcome_in(to_payload(made));
  REQUIRE(outcome);
  CHECK(outcome->outcome.verdict == Verdict::refused);
  CHECK(outcome->outcome.cubin == made.outcome.cubin);
  CHECK(outcome->outcome.ptx == "ptx");
  CHECK(outcome->outcome.milliseconds == 12.5);
  CHECK(outcome->resident_bytes == 99);

  const auto greeting =
      greeting_in(to_payload({{{13, -1}, {"sm_90"}, "nvrtc 13"},
                              Error{ErrorCode::unsupported, "old", "detail", ErrorReason::library_missing}}));
  REQUIRE(greeting);
  CHECK(greeting->facts.release.major == 13);
  CHECK(greeting->facts.release.minor == -1);
  CHECK(greeting->facts.archs == std::vector<std::string>{"sm_90"});
  CHECK(greeting->fault->code == ErrorCode::unsupported);
  CHECK(greeting->fault->detail == "detail");
  CHECK(greeting->fault->reason == ErrorReason::library_missing);
}

TEST_CASE("no cut of a message is read as one, nor one with more behind it, nor with impossible counts") {
  const std::string job = to_payload(sample_job(), false);
  for (std::size_t size = 0; size < job.size(); ++size) CHECK(!job_in(std::string_view(job).substr(0, size)));
  CHECK(!job_in(job + "x"));
  const std::string outcome = to_payload(WorkerOutcome{});
  for (std::size_t size = 0; size < outcome.size(); ++size) {
    CHECK(!outcome_in(std::string_view(outcome).substr(0, size)));
  }
  PayloadWriter writer;
  for (int i = 0; i < 5; ++i) writer.text("");
  writer.number(~std::uint64_t{0});  // headers
  CHECK(!job_in(std::move(writer).take()));
  PayloadWriter verdict;
  verdict.number(77);
  CHECK(!outcome_in(std::move(verdict).take()));
}

TEST_CASE("a number that does not fit its type makes a message none") {
  const std::string greeting = to_payload(Greeting{{{13, 0}, {}, {}}, {}});
  REQUIRE(greeting_in(greeting));
  for (const std::size_t number : {std::size_t{0}, std::size_t{8}}) {  // major, minor
    std::string wide = greeting;
    wide[number + 4] = 1;  // 2^32 and the number
    CHECK(!greeting_in(wide));
  }
  for (const double milliseconds :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    WorkerOutcome outcome;
    outcome.outcome.milliseconds = milliseconds;
    CHECK(!outcome_in(to_payload(outcome)));
  }
  WorkerOutcome large;
  large.outcome.milliseconds = 1e45;
  CHECK(outcome_in(to_payload(large)));
}

}  // namespace tma_jit::compile
