// What a compile worker sends, and what it is sent: frames in pieces (the input's first byte says how large), and
// payloads by themselves and in frames whose size and digest are right.
#include <string_view>

#include "compile/frame.h"
#include "compile/message.h"
#include "target.h"

namespace tma_jit::fuzz {
namespace {

using namespace compile;

// What can be read can be written, and read again.
void read_payload(std::string_view payload) {
  if (const auto greeting = greeting_in(payload)) FUZZ_EXPECT(greeting_in(to_payload(*greeting)).has_value());
  if (const auto job = job_in(payload))
    FUZZ_EXPECT(to_payload(job_in(to_payload(job->job, job->alone))->job, job->alone) ==
                to_payload(job->job, job->alone));
  if (const auto outcome = outcome_in(payload)) FUZZ_EXPECT(outcome_in(to_payload(*outcome)).has_value());
}

// How many frames came.
unsigned read_stream(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  unsigned frames = 0;
  while (!bytes.empty()) {
    reader.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    auto frame = reader.next();
    for (; frame && *frame; frame = reader.next(), ++frames) read_payload((*frame)->payload);
    if (!frame) break;
  }
  return frames;
}

Job sample_job() {
  Job job;
  job.source.kernel = job.source.entry = "copy";
  job.source.arch = "sm_90a";
  job.source.name = "copy.cu";
  job.source.text = "int x;";
  job.source.headers = {{"device/tma.cuh", "int y;"}};
  job.options = {"-std=c++17", ""};
  return job;
}

}  // namespace

void run(std::span<const std::uint8_t> data) {
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  read_payload(rest);
  (void)read_stream(rest, std::size_t{1} + data.front());
  FUZZ_EXPECT(read_stream(to_bytes(FrameKind::outcome, rest), 1 + rest.size() / 2) == 1);
}

std::vector<std::string> seeds() {
  const Greeting greeting{{{13, 0}, {"sm_90a", "sm_100a"}, "nvrtc 13.0"}, std::nullopt};
  const Greeting faulty{{}, Error{ErrorCode::nvrtc, "no NVRTC", "searched: ..."}};
  WorkerOutcome outcome;
  outcome.outcome = {Verdict::success, "", "log", {std::byte{1}, std::byte{2}}, "ptx", 12.5};
  const std::string payloads[] = {to_payload(greeting), to_payload(faulty), to_payload(sample_job(), true),
                                  to_payload(outcome)};
  std::vector<std::string> texts = {"\x07"};
  for (const std::string& payload : payloads) texts.push_back("\x07" + payload);
  for (const std::string& payload : payloads)
    texts.push_back("\x07" + to_bytes(FrameKind::started, "") + to_bytes(FrameKind::job, payload));
  return texts;
}

}  // namespace tma_jit::fuzz
