// A tuning record decides only while the template, what it uses and what it includes have the texts that were measured.
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

#include "support/temporary_folder.h"
#include "tuning/problem_key.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKernel = R"(//! kernel  k
//! arch    sm_90a
//! use     "device/problem.cuh"
//! param   BM = 64  in {64, 128}
//! launch  grid M  block 32
#include "device/part.cuh"
extern "C" __global__ void k(const Dims dims) {}
)";

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

struct Tuned {
  Tuned() {
    write(folder.path() / "kernels/k.cu", kKernel);
    write(folder.path() / "device/problem.cuh", "//! dim M in 1..100\n");
    write(folder.path() / "device/part.cuh", "#pragma once\n#include \"device/inner.cuh\"\n");
    write(folder.path() / "device/inner.cuh", "#pragma once\n");
    write(folder.path() / "device/other.cuh", "#pragma once\n");
    Engine engine = planning(TuningPolicy::off);
    const Plan plan = engine.plan(request).value();
    TuningRecord record = tuning::problem_of(plan, device_named("h200").value());
    record.file = "k";
    record.digest = tuning::digest_of(plan, engine.emit(plan).value());
    record.params = {{"BM", 128}};
    record.us = 1;
    record.preset_us = 2;
    REQUIRE(merge_tuning_file(records(), std::span(&record, 1)));
  }

  fs::path records() const { return folder.path() / "tuned.jsonl"; }
  Options options(TuningPolicy policy) const {
    Options options;
    options.device = Device::known("h200");
    options.use_cache = false;
    options.template_dirs = {folder.path()};
    options.tuning.policy = policy;
    options.tuning.records = {records()};
    return options;
  }
  Engine planning(TuningPolicy policy) const { return Engine(options(policy)); }
  // Whether the record decides for a new engine.
  bool followed() const { return !planning(TuningPolicy::records).plan(request).value().record.empty(); }

  const TemporaryFolder folder;
  const Request request{.kernel = "k", .dims = {{"M", 10}}};
};

}  // namespace

TEST_CASE("a record decides until the template, a file that it uses or a header that it includes changes") {
  const Tuned tuned;
  CHECK(tuned.followed());
  const auto changed = [&](const char* file, std::string_view before, std::string_view after) {
    write(tuned.folder.path() / file, after);
    const bool followed = tuned.followed();
    write(tuned.folder.path() / file, before);
    CHECK(tuned.followed());
    return !followed;
  };
  CHECK(changed("kernels/k.cu", kKernel, std::string(kKernel) + "struct More {};\n"));
  CHECK_FALSE(changed("kernels/k.cu", kKernel, std::string(kKernel) + "// a comment\n"));
  CHECK_FALSE(changed("device/part.cuh", "#pragma once\n#include \"device/inner.cuh\"\n",
                      "// A comment.\n#pragma once\n\n#include \"device/inner.cuh\"\n"));
  CHECK(changed("device/problem.cuh", "//! dim M in 1..100\n", "//! dim M in 1..200\n"));
  CHECK(changed("device/part.cuh", "#pragma once\n#include \"device/inner.cuh\"\n",
                "#pragma once\n#include \"device/inner.cuh\"\nstruct Part {};\n"));
  CHECK(changed("device/inner.cuh", "#pragma once\n", "#pragma once\nstruct Inner {};\n"));
  CHECK_FALSE(changed("device/other.cuh", "#pragma once\n", "#pragma once\nstruct Other {};\n"));
}

TEST_CASE("a record follows the template in an engine that has already planned") {
  const Tuned tuned;
  Engine engine = tuned.planning(TuningPolicy::records);
  CHECK_FALSE(engine.plan(tuned.request)->record.empty());
  write(tuned.folder.path() / "device/problem.cuh", "//! dim M in 1..200\n");
  CHECK(engine.plan(tuned.request)->record.empty());
}

TEST_CASE("a record of another text hides no record of a later place") {
  const Tuned tuned;
  TuningRecord stale = read_tuning_file(tuned.records()).value().records.front();
  stale.digest = "0123456789abcdef";
  const fs::path first = tuned.folder.path() / "stale.jsonl";
  REQUIRE(merge_tuning_file(first, std::span(&stale, 1)));
  Options options = tuned.options(TuningPolicy::records);
  options.tuning.records.insert(options.tuning.records.begin(), first);
  CHECK(Engine(options).plan(tuned.request)->record.starts_with(tuned.records().string()));
}

}  // namespace tma_jit
