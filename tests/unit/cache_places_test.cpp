// Folders that are copied, half copied, oddly named, or deep: an entry is good wherever its bytes are whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <climits>
#include <ctime>
#include <string>

#include <doctest/doctest.h>

#include "cache/folder.h"
#include "cache/layers.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kEntries = 20;

void fill(const fs::path& root) {
  const Store store = Store::open(root).value();
  for (unsigned number = 0; number < kEntries; ++number) REQUIRE(store.put(sample_key(number), sample_entry(number)));
}

unsigned hits(const fs::path& root) {
  const Store store = Store::open(root, {.existing = true}).value();
  unsigned found = 0;
  for (unsigned number = 0; number < kEntries; ++number) {
    const Lookup lookup = store.get(sample_key(number));
    if (lookup.entry) CHECK(same(*lookup.entry, sample_entry(number)));
    found += lookup.entry ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("a copied folder is as good as the first; of half a copy, what is whole is") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cache", copy = folder.path() / "copy", half = folder.path() / "half";
  fill(root);
  fs::copy(root, copy, fs::copy_options::recursive);
  fs::remove_all(root);
  CHECK(hits(copy) == kEntries);

  fs::copy(copy, half, fs::copy_options::recursive);
  for (unsigned number = 0; number < kEntries; ++number) {
    const fs::path entry = entry_path(half, sample_key(number));
    if (number % 3 == 1) fs::remove(entry);
    if (number % 3 == 2) fs::resize_file(entry, fs::file_size(entry) / 2);
  }
  CHECK(hits(half) == 7);
}

TEST_CASE("an entry's time says nothing of whether it is good") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cache";
  fill(root);
  for (unsigned number = 0; number < kEntries; ++number) {
    const std::time_t times[] = {0, -1'000'000, std::time(nullptr) + 400'000'000, 1};
    REQUIRE(FileSystem::system().set_time(AT_FDCWD, entry_path(root, sample_key(number)).c_str(), times[number % 4]) ==
            0);
  }
  CHECK(hits(root) == kEntries);
}

TEST_CASE("folders with odd names work; one whose path is too long is one report, and nothing else") {
  const TemporaryFolder folder;
  for (const char* name : {"with spaces", "line\nbreak", "\xff\xfe not UTF-8", "-rf", "*"}) {
    fill(folder.path() / name);
    CHECK(hits(folder.path() / name) == kEntries);
  }
  fs::path deep = folder.path();
  while (deep.native().size() < PATH_MAX) deep /= std::string(200, 'd');
  LayerSettings settings;
  settings.root = deep;
  std::vector<std::string> reports;
  settings.report = [&](const std::string& what) { reports.push_back(what); };
  Layers layers(settings);
  for (int i = 0; i < 3; ++i) CHECK(layers.get(sample_key(1)).reason == MissReason::absent);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("File name too long") != std::string::npos);
}

}  // namespace tma_jit::cache
