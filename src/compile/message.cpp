#include "compile/message.h"

#include <cstring>

#include "compile/frame.h"

namespace tma_jit::compile {
namespace {

void put(PayloadWriter& writer, const std::vector<std::string>& texts) {
  writer.number(texts.size());
  for (const std::string& text : texts) writer.text(text);
}

std::vector<std::string> texts_in(PayloadReader& reader) {
  std::vector<std::string> texts(reader.count());
  for (std::string& text : texts) text = reader.text();
  return texts;
}

template <class T> std::optional<T> whole(const PayloadReader& reader, T value) {
  if (!reader.complete()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_payload(const Greeting& greeting) {
  PayloadWriter writer;
  writer.small(greeting.facts.release.major);
  writer.small(greeting.facts.release.minor);  // -1 if unknown
  put(writer, greeting.facts.archs);
  writer.text(greeting.facts.identity);
  writer.number(greeting.fault ? 1 : 0);
  const Error fault = greeting.fault.value_or(Error{});
  writer.number(static_cast<std::uint64_t>(fault.code));
  writer.text(fault.message);
  writer.text(fault.detail);
  writer.number(static_cast<std::uint64_t>(fault.reason));
  return std::move(writer).take();
}

std::optional<Greeting> greeting_in(std::string_view payload) {
  PayloadReader reader(payload);
  Greeting greeting;
  greeting.facts.release.major = reader.small();
  greeting.facts.release.minor = reader.small();
  greeting.facts.archs = texts_in(reader);
  greeting.facts.identity = reader.text();
  const bool faulty = reader.number() != 0;
  const bool unsupported = reader.number() == static_cast<std::uint64_t>(ErrorCode::unsupported);
  Error fault{unsupported ? ErrorCode::unsupported : ErrorCode::nvrtc, std::string(reader.text()), {}};
  fault.detail = reader.text();
  if (reader.number() == static_cast<std::uint64_t>(ErrorReason::library_missing))
    fault.reason = ErrorReason::library_missing;
  if (faulty) greeting.fault = std::move(fault);
  return whole(reader, std::move(greeting));
}

std::string to_payload(const Job& job, bool alone) {
  PayloadWriter writer;
  const Source& source = job.source;
  for (const std::string* text : {&source.kernel, &source.entry, &source.arch, &source.name, &source.text})
    writer.text(*text);
  writer.number(source.headers.size());
  for (const Header& header : source.headers) {
    writer.text(header.name);
    writer.text(header.text);
  }
  put(writer, job.options);
  writer.number(job.wants_ptx ? 1 : 0);
  writer.number(alone ? 1 : 0);
  return std::move(writer).take();
}

std::optional<WorkerJob> job_in(std::string_view payload) {
  PayloadReader reader(payload);
  WorkerJob job;
  Source& source = job.job.source;
  for (std::string* text : {&source.kernel, &source.entry, &source.arch, &source.name, &source.text})
    *text = reader.text();
  source.headers.resize(reader.count(16));
  for (Header& header : source.headers) {
    header.name = reader.text();
    header.text = reader.text();
  }
  job.job.options = texts_in(reader);
  job.job.wants_ptx = reader.number() != 0;
  job.alone = reader.number() != 0;
  return whole(reader, std::move(job));
}

std::string to_payload(const WorkerOutcome& of) {
  PayloadWriter writer;
  const Outcome& outcome = of.outcome;
  writer.number(static_cast<std::uint64_t>(outcome.verdict));
  writer.text(outcome.words);
  writer.text(outcome.log);
  writer.text({reinterpret_cast<const char*>(outcome.cubin.data()), outcome.cubin.size()});
  writer.text(outcome.ptx);
  writer.real(outcome.milliseconds);
  writer.text(outcome.identity);
  writer.number(of.resident_bytes);
  return std::move(writer).take();
}

std::optional<WorkerOutcome> outcome_in(std::string_view payload) {
  PayloadReader reader(payload);
  WorkerOutcome of;
  const std::uint64_t verdict = reader.number();
  if (verdict > static_cast<std::uint64_t>(Verdict::failed)) return std::nullopt;
  of.outcome.verdict = static_cast<Verdict>(verdict);
  of.outcome.words = reader.text();
  of.outcome.log = reader.text();
  const std::string_view cubin = reader.text();
  of.outcome.cubin.resize(cubin.size());
  if (!cubin.empty()) std::memcpy(of.outcome.cubin.data(), cubin.data(), cubin.size());
  of.outcome.ptx = reader.text();
  of.outcome.milliseconds = reader.real();
  of.outcome.identity = reader.text();
  of.resident_bytes = reader.number();
  return whole(reader, std::move(of));
}

}  // namespace tma_jit::compile
