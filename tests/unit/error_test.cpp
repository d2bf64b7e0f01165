#include <tma_jit/error.h>
#include <tma_jit/json.h>

#include <vector>

#include <doctest/doctest.h>

#include "core/failure.h"

namespace tma_jit {

TEST_CASE("the nearest name, and only a near one") {
  const std::vector<std::string> verbs = {"doctor", "build", "bench"};
  CHECK(nearest_name("buid", verbs) == "build");
  CHECK(nearest_name("biuld", verbs).empty());
  CHECK(nearest_name("zzz", verbs).empty());
  const std::vector<std::string> params = {"STAGES", "BM", "BN"};
  CHECK(nearest_name("STAGE", params) == "STAGES");
  CHECK(nearest_name("WARPS", params).empty());
  CHECK(nearest_name("BK", params) == "BM");
  const std::vector<std::string> dims = {"K", "M"};
  CHECK(nearest_name("m", dims) == "M");
  CHECK(nearest_name("Q", dims).empty());
}

TEST_CASE("a suggestion is a field of the error and a part of its text") {
  const std::vector<std::string> names = {"STAGES"};
  Error error = unknown_name(failure(ErrorCode::not_found, "no {}", "STAGE"), "STAGE", names).value();
  error.detail = "a\nb";
  CHECK(error.reason == ErrorReason::unknown_name);
  CHECK(error.message == "no STAGE");
  CHECK(error.suggestion == "STAGES");
  CHECK(error.line() == "no STAGE; did you mean \"STAGES\"?");
  CHECK(error.text() == "not_found: no STAGE; did you mean \"STAGES\"?\n  a\n  b");
  CHECK(json_of(error) ==
        R"({"code":"not_found","reason":"unknown_name","message":"no STAGE","detail":"a\nb","suggestion":"STAGES"})");
}

TEST_CASE("every reason has a name of its own") {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorReason::crashed_before); ++i) {
    const std::string_view name = name_of(static_cast<ErrorReason>(i));
    CHECK(name != "unknown");
    for (const std::string_view other : names) CHECK(name != other);
    names.push_back(name);
  }
}

}  // namespace tma_jit
