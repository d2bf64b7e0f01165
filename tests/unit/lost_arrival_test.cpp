#include <doctest/doctest.h>

#include <tma_jit/lost_arrival.h>

namespace tma_jit {
namespace {

std::string text_of(std::uint32_t pending, std::int32_t bytes) {
  const auto lost = check({.found = 1,
                           .block = 3,
                           .thread = 40,
                           .barrier = 0x400,
                           .parity = 1,
                           .phase = 1,
                           .pending = pending,
                           .bytes = bytes});
  return lost ? "" : lost.error().message + "\n" + lost.error().detail;
}

}  // namespace

TEST_CASE("a lost arrival is an error with the barrier's state") {
  CHECK(check(LostArrival{}));
  const std::string who = "block 3, thread 40 waited in vain for parity 1 of the mbarrier at 0x400 in shared memory: ";
  CHECK(text_of(2, 0) == who +
                             "2 arrivals never came\nthe phase of parity 1 is not complete: 2 arrivals pending, 0 "
                             "bytes outstanding\ninit() must count exactly the arrivals of a phase, and every path "
                             "through the kernel must make its own");
  CHECK(text_of(0, 512).find(who + "512 bytes never landed\n") == 0);
  CHECK(text_of(1, 512).find(who + "1 arrival never came, and 512 bytes never landed\n") == 0);
  CHECK(text_of(0, -256).find(who + "256 bytes more landed than were announced\n") == 0);
}

}  // namespace tma_jit
