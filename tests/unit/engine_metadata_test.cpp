// What an entry says of its cubin, read back: only numbers that a cubin can have.
#include <string>

#include <doctest/doctest.h>

#include "base/json_text.h"
#include "cache/inventory.h"
#include "engine/builder.h"
#include "support/cache_samples.h"

namespace tma_jit::engine {
namespace {

constexpr const char* kNumbers[] = {"registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes",
                                    "static_shared_bytes"};

Result<engine::Built> read_back(const std::string& metadata) {
  return built_from(cache::Entry{std::vector<std::byte>(16), metadata}, cache::sample_key(1));
}

std::string sound() {
  Artifact cubin;
  cubin.entry = "copy";
  cubin.arch = "sm_90a";
  cubin.compile_ms = 12.5;
  cubin.resources = {40, 1, 2, 3, 4, {"ptxas: C7510"}};
  return metadata_of(cubin, Source{.kernel = "copy"}, "nvrtc 13.0 abc");
}

// With another value for one number.
std::string with(const std::string& name, const std::string& value) {
  std::string text = sound();
  const std::size_t at = text.find("\"" + name + "\":") + name.size() + 3;
  return text.replace(at, text.find_first_of(",}", at) - at, value);
}

}  // namespace

TEST_CASE("metadata comes back as it was written") {
  const auto built = read_back(sound());
  REQUIRE(built);
  CHECK(built->compiler == "nvrtc 13.0 abc");
  CHECK(built->artifact->entry == "copy");
  CHECK(built->artifact->compile_ms == 12.5);
  CHECK(built->artifact->key == cache::sample_key(1));
  const Resources& resources = built->artifact->resources;
  CHECK(resources.registers == 40);
  CHECK(resources.spill_store_bytes == 1);
  CHECK(resources.spill_load_bytes == 2);
  CHECK(resources.stack_bytes == 3);
  CHECK(resources.static_shared_bytes == 4);
  CHECK(resources.warnings.size() == 1);
}

TEST_CASE("metadata with a number that its field cannot hold is refused, and the field named") {
  for (const std::string name : kNumbers) {
    CHECK(read_back(with(name, "7")));
    CHECK(read_back(with(name, "2147483648")).has_value() == (name != "registers"));
    for (const char* value : {"1e45", "8.88889e+45", "1.5", "-1", "9223372036854775808", "18446744073709551616", "null",
                              "true", R"("7")"}) {
      CAPTURE(value);
      const auto built = read_back(with(name, value));
      REQUIRE(!built);
      CHECK(built.error().code == ErrorCode::io);
      CHECK(built.error().message.find(name + " is ") != std::string::npos);
    }
  }
  CHECK(read_back(with("registers", "1e45")).error().message ==
        "cache entry " + cache::sample_key(1).hex() +
            ": its metadata is not what this version writes: registers is 1e+45; a whole number from 0 to 2147483647 "
            "is wanted");
  CHECK(!read_back(with("compile_ms", "null")));
  CHECK(!read_back(with("compile_ms", "1e999")));
}

TEST_CASE("metadata nested beyond any of ours is refused before anything is built of it") {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(read_back(with("registers", nested(10))).error().message.find("registers is [[[") != std::string::npos);
  for (const std::string& value : {nested(20), nested(1'000'000), std::string(1'000'000, '[')}) {
    const auto built = read_back(with("registers", value));
    REQUIRE(!built);
    CHECK(built.error().message.ends_with("JSON of more than 16 levels"));
    const cache::Entry entry{std::vector<std::byte>(16), with("registers", value)};
    const CacheEntryInfo info = cache::describe(cache::sample_key(1), 1, entry);
    CHECK(info.fault == "format: metadata of more than 16 levels");
    CHECK(info.metadata.empty());
  }
  CHECK(is_too_deep(std::string(17, '{')));
  CHECK(!is_too_deep(std::string(16, '{')));
  CHECK(!is_too_deep('"' + std::string(100, '[') + R"(\"[[")"));
}

}  // namespace tma_jit::engine
