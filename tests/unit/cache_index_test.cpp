#include "cache/index.h"

#include <sys/stat.h>
#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/file.h"
#include "cache/folder.h"
#include "cache/pack.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

// Entries of one kernel that differ in one part, and in another for every tenth.
Marks marks_of_number(unsigned number) {
  Marks marks = Marks::of("gemm");
  marks.add("arch", "sm_90a");
  marks.add("N", std::to_string(number));
  marks.add("options", number % 10 == 0 ? "-lineinfo" : "");
  return marks;
}

struct Fixture {
  TemporaryFolder folder;
  fs::path root = folder.path() / "cache";
  fs::path index = root / "v1" / "index";
  Store store = Store::open(root, {.sweep_every = 0}).value();
  unsigned metadata_read = 0;

  void put(unsigned number, bool indexed = true) {
    Entry entry = sample_entry(number);
    entry.metadata = std::to_string(number);
    REQUIRE(store.put(sample_key(number), entry));
    if (indexed) store.add_to_index(sample_key(number), marks_of_number(number));
  }
  Question question(const Marks& wanted) {
    return {wanted, [this](std::string_view metadata) {
              ++metadata_read;
              return marks_of_number(static_cast<unsigned>(std::stoul(std::string(metadata))));
            }};
  }
  Nearest nearest(const Marks& wanted) {
    metadata_read = 0;
    return store.nearest(question(wanted));
  }
};

}  // namespace

TEST_CASE("what differs is counted by name") {
  const Marks a = marks_of_number(1);
  CHECK(differences(a, a) == 0);
  CHECK(differences(a, marks_of_number(2)) == 1);
  CHECK(differences(a, marks_of_number(10)) == 2);
  Marks more = a;
  more.add("header", "x");
  CHECK(differences(a, more) == 1);
  CHECK(differences(more, a) == 1);
  CHECK(differences(a, Marks::of("gemm")) == 3);
}

TEST_CASE("records come back as they were written, whatever lies between them") {
  std::vector<std::byte> bytes;
  for (unsigned number = 0; number < 5; ++number) append_record(bytes, {sample_key(number), marks_of_number(number)});
  const auto numbers_in = [](std::span<const std::byte> text) {
    std::vector<unsigned> numbers;
    read_records(text, [&](const IndexRecord& record, std::span<const std::byte>) {
      for (unsigned number = 0; number < 5; ++number) {
        if (record.key == sample_key(number) && differences(record.marks, marks_of_number(number)) == 0)
          numbers.push_back(number);
      }
    });
    return numbers;
  };
  CHECK(numbers_in(bytes) == std::vector<unsigned>{0, 1, 2, 3, 4});
  const std::size_t one = bytes.size() / 5;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    std::vector<unsigned> others = {0, 1, 2, 3, 4};
    others.erase(others.begin() + static_cast<long>(at / one));
    CHECK(numbers_in(damaged) == others);
    CHECK(numbers_in(std::span(bytes).first(at)).size() == at / one);
  }
}

TEST_CASE_FIXTURE(Fixture, "the nearest entries of a kernel are found by the index alone") {
  for (unsigned number = 1; number < 40; ++number) put(number);
  Marks wanted = marks_of_number(17);
  wanted.add("header", "new");
  const Nearest found = nearest(wanted);
  REQUIRE(found.entries.size() == kNearMax);
  CHECK(found.complete);
  CHECK(found.entries[0].key == sample_key(17));
  CHECK(found.entries[0].differences == 1);
  CHECK(found.entries[1].differences == 2);
  CHECK(metadata_read == 0);
  Marks other = marks_of_number(17);
  other.kernel = Marks::of("copy").kernel;
  CHECK(nearest(other).entries.empty());
}

TEST_CASE_FIXTURE(Fixture, "of equally near entries the one used last comes first; what is gone does not come") {
  for (unsigned number = 1; number < 9; ++number) put(number);
  const auto set_used = [&](unsigned number, std::time_t used) {
    REQUIRE(FileSystem::system().set_time(AT_FDCWD, entry_path(root, sample_key(number)).c_str(), used) == 0);
  };
  for (unsigned number = 1; number < 9; ++number) set_used(number, 1'000'000);
  set_used(5, 2'000'000);
  CHECK(nearest(marks_of_number(77)).entries.at(0).key == sample_key(5));
  fs::remove(entry_path(root, sample_key(5)));
  const Nearest found = nearest(marks_of_number(77));
  CHECK(found.entries.size() == 7);
  for (const Near& near : found.entries) CHECK(near.key != sample_key(5));
}

TEST_CASE_FIXTURE(Fixture, "an index that is missing, rotten, foreign or no file is made again from the entries") {
  for (unsigned number = 1; number < 30; ++number) put(number);
  const std::string sound = read_file(index).value();
  const auto finds_all_after = [&](const auto& harm) {
    harm();
    const Nearest found = nearest(marks_of_number(17));
    const unsigned read = metadata_read;
    CHECK(found.entries.at(0).key == sample_key(17));
    CHECK(found.entries.at(0).differences == 0);
    CHECK(nearest(marks_of_number(17)).entries.size() == kNearMax);
    return read;
  };
  CHECK(finds_all_after([&] { fs::remove(index); }) == 29);
  CHECK(metadata_read == 0);
  CHECK(finds_all_after([&] { REQUIRE(write_file(index, sound.substr(0, sound.size() / 2))); }) > 10);
  CHECK(metadata_read == 0);
  CHECK(finds_all_after([&] { REQUIRE(write_file(index, std::string(5'000, 'x') + sound)); }) == 0);
  CHECK(finds_all_after([&] {
          fs::remove(index);
          fs::create_directory(index);
        }) == 29);
  fs::remove(index);
  CHECK(finds_all_after([&] { REQUIRE(::mkfifo(index.c_str(), 0600) == 0); }) == 29);
  fs::remove(index);
  REQUIRE(write_file(index, sound));
  ::chmod(index.c_str(), 0666);
  CHECK(finds_all_after([] {}) == 29);
}

TEST_CASE_FIXTURE(Fixture, "an index of what is gone is written anew, and one that is too large begins anew") {
  std::vector<IndexRecord> gone;
  for (unsigned number = 1'000; number < 20'000; ++number)
    gone.push_back({sample_key(number), marks_of_number(number)});
  put(1);
  const Descriptor v1(::open((root / "v1").c_str(), O_RDONLY | O_DIRECTORY));
  add_to_index({FileSystem::system(), v1.get(), true}, gone);
  CHECK(fs::file_size(index) > 1'000'000);
  CHECK(nearest(marks_of_number(1)).entries.size() == 1);
  CHECK(fs::file_size(index) < 200);
  CHECK(nearest(marks_of_number(1)).entries.at(0).differences == 0);
  REQUIRE(::truncate(index.c_str(), static_cast<off_t>(kIndexBytesMax) + 1) == 0);
  CHECK(nearest(marks_of_number(1)).entries.size() == 1);
  CHECK(!fs::exists(index));
  CHECK(nearest(marks_of_number(1)).entries.size() == 1);
  CHECK(metadata_read == 1);
  CHECK(fs::exists(index));
  CHECK(cache_clear(root).value() == 1);
  CHECK(!fs::exists(index));
}

TEST_CASE_FIXTURE(Fixture, "without time for more, what the index has is the answer, and it says that it is not all") {
  for (unsigned number = 1; number < 30; ++number) put(number, number < 10);
  Question late = question(marks_of_number(3));
  late.until = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const Nearest none = store.nearest(late);
  CHECK(!none.complete);
  CHECK(metadata_read == 0);
  CHECK(nearest(marks_of_number(3)).complete);
  CHECK(metadata_read == 20);
}

TEST_CASE_FIXTURE(Fixture, "a pack is compared too, and what was read of it is kept") {
  for (unsigned number = 1; number < 30; ++number) put(number);
  const fs::path file = folder.path() / "kernels.tmjpack";
  REQUIRE(cache_pack(root, file));
  const auto pack = Pack::open(file, FileSystem::system(), {}).value();
  const Nearest found = pack->nearest(question(marks_of_number(17)));
  CHECK(found.entries.at(0).key == sample_key(17));
  CHECK(found.entries.size() == kNearMax);
  CHECK(metadata_read == 29);
  (void)pack->nearest(question(marks_of_number(3)));
  CHECK(metadata_read == 29);
}

}  // namespace tma_jit::cache
