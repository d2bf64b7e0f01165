#include "engine/function_table.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "engine/function_key.h"

namespace tma_jit {
namespace {

std::unique_ptr<engine::FunctionEntry> entry_of(std::vector<std::uint64_t> key) {
  auto entry = std::make_unique<engine::FunctionEntry>();
  entry->key = std::move(key);
  return entry;
}

std::vector<std::uint64_t> key_of(const Tensor& tensor) {
  const engine::FunctionKey key(&tensor, 1);
  return {key.words().begin(), key.words().end()};
}

}  // namespace

TEST_CASE("entries are found by their whole key, through growth") {
  engine::FunctionTable table;
  std::vector<const engine::FunctionEntry*> entries;
  for (std::uint64_t i = 0; i < 1000; ++i) entries.push_back(table.insert(entry_of({i, i * i})));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(table.find(std::vector<std::uint64_t>{i, i * i}) == entries[i]);
    CHECK(table.find(std::vector<std::uint64_t>{i, i * i + 1}) == nullptr);
    CHECK(table.find(std::vector<std::uint64_t>{i}) == nullptr);
  }
}

TEST_CASE("the first entry of a key stays") {
  engine::FunctionTable table;
  const engine::FunctionEntry* first = table.insert(entry_of({1, 2}));
  CHECK(table.insert(entry_of({1, 2})) == first);
}

TEST_CASE("readers find what was inserted while others insert") {
  engine::FunctionTable table;
  std::atomic<std::uint64_t> inserted = 0;
  std::atomic<bool> missed = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (inserted < 2000) {
        const std::uint64_t known = inserted;
        for (std::uint64_t j = 0; j < known; j += 37) {
          if (table.find(std::vector<std::uint64_t>{j, 5}) == nullptr) missed = true;
        }
      }
    });
  }
  for (std::uint64_t i = 0; i < 2000; ++i) {
    table.insert(entry_of({i, 5}));
    inserted = i + 1;
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(!missed);
}

TEST_CASE("a call's key holds what a plan depends on, and not the address") {
  const Tensor tensor = Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {128, 64});
  Tensor other = tensor;
  other.address = 0x7000;
  CHECK(key_of(tensor) == key_of(other));
  other.address = 0x7010;  // a multiple of 16 only
  CHECK(key_of(tensor) != key_of(other));
  other.address = 0;
  CHECK(key_of(tensor) != key_of(other));
  other = tensor;
  other.dtype = DType::s32;
  CHECK(key_of(tensor) != key_of(other));
  other = tensor;
  other.strides[0] = 72;
  CHECK(key_of(tensor) != key_of(other));
  CHECK(key_of(tensor) != key_of(Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {128, 64, 1})));
  CHECK(key_of(Tensor{}) != key_of(Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {})));
}

}  // namespace tma_jit
