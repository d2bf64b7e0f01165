#include <tma_jit/lost_arrival.h>

#include <fmt/format.h>

namespace tma_jit {
namespace {

std::string arrivals(std::uint32_t count) {
  return fmt::format("{} arrival{}", count, count == 1 ? "" : "s");
}

std::string what_never_came(const LostArrival& record) {
  if (record.bytes < 0) {
    return fmt::format("{} bytes more landed than were announced", -std::int64_t{record.bytes});
  }
  if (record.pending == 0) return fmt::format("{} bytes never landed", record.bytes);
  if (record.bytes == 0) return arrivals(record.pending) + " never came";
  return fmt::format("{} never came, and {} bytes never landed", arrivals(record.pending), record.bytes);
}

// Returns a hint where to look in the kernel.
const char* advice(const LostArrival& record) {
  if (record.bytes < 0) return "announce with expect() the bytes of the whole box, the elements outside the tensor too";
  if (record.bytes > 0) return "every expect() needs copies on this barrier that bring exactly its bytes";
  return "init() must count exactly the arrivals of a phase, and every path through the kernel must make its own";
}

}  // namespace

Result<void> check(const LostArrival& record) {
  if (record.found == 0) return {};
  return tl::make_unexpected(Error{
      ErrorCode::driver,
      fmt::format("block {}, thread {} waited in vain for parity {} of the mbarrier at {:#x} in shared memory: {}",
                  record.block, record.thread, record.parity, record.barrier, what_never_came(record)),
      fmt::format("the phase of parity {} is not complete: {} pending, {} bytes outstanding\n{}", record.phase,
                  arrivals(record.pending), record.bytes, advice(record))});
}

}  // namespace tma_jit
