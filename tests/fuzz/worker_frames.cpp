// What a compile worker sends, and what it is sent: frames in pieces, and the payloads by themselves, past the digest.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compile/frame.h"
#include "compile/message.h"

using namespace tma_jit::compile;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// What is read can be written, and read again.
void read_payload(std::string_view payload) {
  if (const auto greeting = greeting_in(payload)) require(greeting_in(to_payload(*greeting)).has_value());
  if (const auto job = job_in(payload)) require(job_in(to_payload(job->job, job->alone)).has_value());
  if (const auto outcome = outcome_in(payload)) require(outcome_in(to_payload(*outcome)).has_value());
}

void read_stream(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  while (!bytes.empty()) {
    reader.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      const auto frame = reader.next();
      if (!frame) return;
      if (!*frame) break;
      read_payload((*frame)->payload);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_payload(bytes);
  if (!bytes.empty()) read_stream(bytes.substr(1), std::size_t{1} + static_cast<unsigned char>(bytes.front()));
  const std::string framed = to_bytes(FrameKind::outcome, bytes);
  read_stream(framed, framed.size());
  return 0;
}
