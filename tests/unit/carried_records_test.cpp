// Tuning records in read-only folders and in packs, where a signature covers them.
#include <fstream>

#include <doctest/doctest.h>

#include <tma_jit/cache.h>
#include <tma_jit/tuning.h>

#include "base/file.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/engines.h"
#include "tuning/problem_key.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

struct Carried {
  Carried() {
    const cache::Store store = cache::Store::open(root).value();
    REQUIRE(store.put(cache::sample_key(1), cache::sample_entry(1)));
    REQUIRE(cache_keygen(secret, open));
    Engine engine = planning();
    const Plan plan = engine.plan(request).value();
    TuningRecord record = tuning::problem_of(plan, device_named("h200").value());
    record.file = fs::path(plan.file).stem();
    record.digest = tuning::digest_of(plan, engine.emit(plan).value());
    record.params = {plan.config.begin(), plan.config.end()};
    record.us = record.preset_us = 3;
    REQUIRE(merge_tuning_file(root / "tuned.jsonl", std::span(&record, 1)));
  }
  Engine planning(std::vector<fs::path> read_only = {}, std::vector<fs::path> keys = {}) {
    Options options;
    options.device = Device::known("h200");
    options.cache_dir = folder.path() / "own";
    options.cache.read_only = std::move(read_only);
    options.cache.pack_keys = std::move(keys);
    options.log = log.callback();
    return Engine(options);
  }
  std::string decided(std::vector<fs::path> read_only, std::vector<fs::path> keys = {}) {
    return planning(std::move(read_only), std::move(keys)).plan(request).value().record;
  }

  const TemporaryFolder folder;
  testing::TestLog log;
  const fs::path root = folder.path() / "root", pack = folder.path() / "kernels.tmjpack";
  const fs::path secret = folder.path() / "a.key", open = folder.path() / "a.pub";
  const Request request{.kernel = "copy", .dims = {{"N", 12345}}};
};

}  // namespace

TEST_CASE_FIXTURE(Carried, "a pack carries the folder's records, and plans follow them where its signature is right") {
  CHECK(decided({}).empty());
  REQUIRE(cache_pack(root, pack, secret));
  CHECK(decided({pack}, {open}).starts_with(pack.string() + ": "));
  CHECK(log.warnings().empty());

  const fs::path other = folder.path() / "other";
  fs::create_directory(other);
  REQUIRE(cache_keygen(other / "b.key", other / "b.pub"));
  CHECK(decided({pack}, {other / "b.pub"}).empty());
  REQUIRE(cache_pack(root, pack));
  CHECK(decided({pack}, {open}).empty());  // not signed
  CHECK(decided({pack}).starts_with(pack.string() + ": "));
}

TEST_CASE_FIXTURE(Carried,
                  "a read-only folder's records are followed, after those of the user and before the shipped") {
  CHECK(decided({root}).starts_with(root.string() + ": "));
  REQUIRE(fs::copy_file(root / "tuned.jsonl", folder.path() / "own/tuned.jsonl"));
  CHECK(decided({root}).starts_with((folder.path() / "own/tuned.jsonl").string()));
}

TEST_CASE_FIXTURE(Carried,
                  "a line that is no record is left out of what a pack carries, with one warning that names it") {
  std::ofstream(root / "tuned.jsonl", std::ios::app) << "rotten\n{\"kernel\":\"copy\",\"later\":1}\n";
  REQUIRE(cache_pack(root, pack));
  CHECK_FALSE(decided({pack}).empty());
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].starts_with("2 lines of records of tuning are left out: "));
  CHECK(log.warnings()[0].find("kernels.tmjpack:2: not a JSON object") != std::string::npos);
  CHECK(log.warnings()[0].find("kernels.tmjpack:3: no field is named \"later\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Carried, "unpacking merges the records into the folder's") {
  REQUIRE(cache_pack(root, pack));
  const fs::path into = folder.path() / "into";
  fs::create_directory(into);
  TuningRecord mine = read_tuning_file(root / "tuned.jsonl")->records.front();
  mine.dims["N"] = 777;
  REQUIRE(merge_tuning_file(into / "tuned.jsonl", std::span(&mine, 1)));
  fs::permissions(into, fs::perms::owner_all);
  REQUIRE(cache_unpack(pack, into));
  CHECK(read_tuning_file(into / "tuned.jsonl")->records.size() == 2);
  CHECK(cache_verify(into)->size() == 1);
  CHECK(cache_verify(pack)->size() == 2);
}

}  // namespace tma_jit
