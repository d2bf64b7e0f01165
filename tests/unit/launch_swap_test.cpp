// Which launch a call uses after tuning has found a faster one: outside captures, in captures, and from many threads.
#include "engine/launch_swap.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

using driver::Capture;
using engine::FunctionEntry;

const std::vector<std::uint64_t> kKey = {7, 8};

driver::StreamId stream_of(std::uint64_t number) {
  return static_cast<driver::StreamId>(number);
}

std::unique_ptr<FunctionEntry> entry_of(std::vector<std::uint64_t> key) {
  auto entry = std::make_unique<FunctionEntry>();
  entry->key = std::move(key);
  return entry;
}

// A table with one entry that may be replaced.
struct Shape {
  engine::FunctionTable table;
  const FunctionEntry* planned = nullptr;
  const FunctionEntry* faster = nullptr;  // published

  Shape() {
    auto entry = entry_of(kKey);
    entry->swap = std::make_unique<engine::LaunchSwap>(table);
    planned = table.insert(std::move(entry));
  }
  void publish() {
    auto entry = entry_of(kKey);
    faster = entry.get();
    planned->swap->publish(std::move(entry));
  }
  const FunctionEntry* found() const { return table.find(kKey); }
  // As a call does.
  const FunctionEntry* call(driver::StreamId stream, Capture capture = {}) const {
    const FunctionEntry* entry = found();
    return entry->swap != nullptr ? entry->swap->choose(entry, stream, capture) : entry;
  }
};

}  // namespace

TEST_CASE("a call outside captures takes the faster launch, and later calls find it in the table") {
  Shape shape;
  CHECK(shape.call(stream_of(1)) == shape.planned);
  shape.publish();
  CHECK(shape.found() == shape.planned);
  CHECK(shape.call(stream_of(1)) == shape.faster);
  CHECK(shape.found() == shape.faster);
  CHECK(shape.planned->swap->choose(shape.planned, stream_of(1), {}) == shape.faster);  // it was found before
  for (std::uint64_t i = 0; i < 100; ++i) shape.table.insert(entry_of({i}));
  CHECK(shape.found() == shape.faster);
}

TEST_CASE("a capture uses the planned launch to its end, however the swap comes in between") {
  Shape shape;
  const driver::StreamId capturing = stream_of(1), other = stream_of(2);
  const Capture capture{.active = true, .id = 5};
  CHECK(shape.call(capturing, capture) == shape.planned);
  shape.publish();
  CHECK(shape.call(capturing, capture) == shape.planned);
  CHECK(shape.call(other) == shape.faster);
  CHECK(shape.found() == shape.planned);  // for the capture
  CHECK(shape.call(capturing, capture) == shape.planned);
  CHECK(shape.call(capturing, {.active = true, .id = 6}) == shape.faster);  // the next one of the stream
  CHECK(shape.call(capturing, {.active = true, .id = 6}) == shape.faster);
  CHECK(shape.call(other) == shape.faster);
  CHECK(shape.found() == shape.faster);
}

TEST_CASE("no capture takes the swap first") {
  Shape shape;
  const Capture capture{.active = true, .id = 5};
  CHECK(shape.call(stream_of(1)) == shape.planned);
  shape.publish();
  CHECK(shape.call(stream_of(1), capture) == shape.planned);
  CHECK(shape.call(stream_of(1), {.active = true, .id = 6}) == shape.planned);
  CHECK(shape.call(stream_of(1)) == shape.faster);
  CHECK(shape.found() == shape.faster);
}

TEST_CASE("what is settled needs no question") {
  Shape shape;
  CHECK_FALSE(shape.planned->swap->settled());
  shape.planned->swap->settle();
  CHECK(shape.planned->swap->settled());
}

TEST_CASE(
    "a swap among concurrent calls and captures: every capture sees one launch, every thread at last the faster one") {
  for (int round = 0; round < 20; ++round) {
    Shape shape;
    std::atomic<int> started = 0;
    std::atomic<bool> torn = false, published = false;
    std::vector<std::thread> callers;
    for (std::uintptr_t number = 1; number <= 3; ++number) {
      callers.emplace_back([&, number] {
        const driver::StreamId stream = stream_of(number);
        ++started;
        for (std::uint64_t id = 1, after = 0; after < 50; ++id, after += published ? 1 : 0) {
          const FunctionEntry* first = shape.call(stream, {.active = true, .id = id * 8 + number});
          for (int i = 0; i < 5; ++i) {
            if (shape.call(stream, {.active = true, .id = id * 8 + number}) != first) torn = true;
          }
          shape.call(stream);
        }
      });
    }
    while (started < 3) std::this_thread::yield();
    auto entry = entry_of(kKey);
    shape.faster = entry.get();
    shape.planned->swap->publish(std::move(entry));
    published = true;
    for (std::thread& caller : callers) caller.join();
    CHECK_FALSE(torn);
    CHECK(shape.found() == shape.faster);
  }
}

}  // namespace tma_jit
