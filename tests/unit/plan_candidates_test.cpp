// Several files of one kernel: which serve a device, their order, and the error when none has a configuration.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

std::string file_text(std::string_view archs, std::string_view rest = "") {
  return fmt::format("//! kernel k\n//! arch {}\n//! dim N\n{}//! launch grid 1 block 32\n", archs, rest);
}

const Pointers kFiles = {
    parsed(file_text("sm_90a, sm_100a, sm_120a", "//! param STAGES = 2 in {2, 4}\n//! require N % 2 == 0 \"pairs\"\n"),
           "b/portable.cu"),
    parsed(file_text("sm_90a", "//! require N % 16 == 0 \"whole rows\"\n//! prefer 1\n"), "z/tuned.cu"),
    parsed(file_text("sm_100f"), "family.cu"),
};

Result<Plan> planned(std::int64_t n, std::string_view on = "h100", const std::string& file = "",
                     const std::map<std::string, std::int64_t>& params = {}) {
  return make_plan({.kernel = "k", .dims = {{"N", n}}, .params = params, .file = file}, device(on), kFiles);
}

}  // namespace

TEST_CASE("which targets an arch serves") {
  CHECK(serves("sm_90", "sm_90"));
  CHECK(serves("sm_90", "sm_90a"));
  CHECK(serves("sm_90a", "sm_90a"));
  CHECK_FALSE(serves("sm_90a", "sm_90"));
  CHECK_FALSE(serves("sm_90", "sm_100a"));
  CHECK(serves("sm_100f", "sm_100a"));
  CHECK(serves("sm_100f", "sm_103a"));
  CHECK(serves("sm_120f", "sm_121f"));
  CHECK_FALSE(serves("sm_103f", "sm_100a"));
  CHECK_FALSE(serves("sm_100f", "sm_120a"));
  CHECK_FALSE(serves("sm_120a", "sm_120f"));
}

TEST_CASE("the preferred file goes first; another takes what it refuses") {
  CHECK(planned(32)->file == "z/tuned.cu");
  CHECK(planned(18)->file == "b/portable.cu");
  CHECK(planned(32, "b300")->file == "family.cu");
  CHECK(planned(32, "rtx5090")->file == "b/portable.cu");
  CHECK(planned(32, "h100", "portable")->file == "b/portable.cu");
  CHECK(planned(32, "h100", "", {{"STAGES", 4}})->file == "b/portable.cu");  // only this one has the param
}

TEST_CASE("files of equal preference go by name, and an architecture more changes nothing for the others") {
  const auto first = [](std::string_view one, std::string_view two) {
    const Pointers files = {parsed(file_text("sm_90a", one), "b.cu"),
                            parsed(file_text("sm_90a, sm_100a", two), "a.cu")};
    const Pointers more = {parsed(file_text("sm_80, sm_86, sm_90a", one), "b.cu"), files[1]};
    const Request request{.kernel = "k", .dims = {{"N", 1}}};
    const std::string file = make_plan(request, device("h100"), files)->file;
    CHECK(make_plan(request, device("h100"), more)->file == file);
    return file;
  };
  CHECK(first("", "") == "a.cu");
  CHECK(first("//! prefer 1\n", "") == "b.cu");
  CHECK(first("//! prefer 1\n", "//! prefer 2\n") == "a.cu");
  CHECK(first("", "//! prefer -1\n") == "b.cu");
}

TEST_CASE("of files that state cycles the cheapest plan is taken, unless a file before them states none") {
  const Pointers files = {
      parsed(file_text("sm_90a", "//! work cycles N\n"), "few.cu"),
      parsed(file_text("sm_90a", "//! require N > 5\n//! work cycles 10\n"), "many.cu"),
      parsed(file_text("sm_90a, sm_100a", "//! work cycles 12\n"), "portable.cu"),
      parsed(file_text("sm_90a, sm_100a, sm_120a"), "unstated.cu"),
  };
  const auto file = [&](std::int64_t n, std::string_view on = "h100",
                        std::span<const Pointers::value_type> among = {}) {
    return make_plan({.kernel = "k", .dims = {{"N", n}}}, device(on), among.empty() ? files : among)->file;
  };
  CHECK(file(4) == "few.cu");
  CHECK(file(10) == "few.cu");
  CHECK(file(11) == "many.cu");
  CHECK(file(4, "b200") == "portable.cu");
  CHECK(file(4, "rtx5090") == "unstated.cu");
  const Pointers unstated_first = {parsed(file_text("sm_90a"), "a.cu"), files[1]};
  CHECK(file(11, "h100", unstated_first) == "a.cu");
}

TEST_CASE("where none has a configuration every file says why") {
  CHECK(planned(17).error().text() ==
        "no_config: k: no configuration satisfies this request\n"
        "  z/tuned.cu:4: the only configuration violates  N % 16 == 0\n"
        "    whole rows\n"
        "    N = 17\n"
        "  b/portable.cu:5: all 2 violate  N % 2 == 0\n"
        "    pairs\n"
        "    N = 17");
  CHECK(planned(17, "h100", "", {{"STAGES", 4}}).error().text() ==
        "no_config: k: no configuration satisfies this request\n"
        "  z/tuned.cu: k: there is no param \"STAGES\"; it has no params\n"
        "  b/portable.cu:5: the only configuration violates  N % 2 == 0\n"
        "    pairs\n"
        "    N = 17");
}

TEST_CASE("an error all files share is told once") {
  CHECK(planned(0).error().text() ==
        "invalid_argument: k: N = 0 by the request is outside 1..2147483647; it does not take empty tensors");
}

TEST_CASE("files that refuse the request before any configuration each say why") {
  const Pointers files = {parsed(file_text("sm_90a", "//! scalar alpha : f32\n"), "one.cu"),
                          parsed(file_text("sm_90a", "//! dim M\n"), "two.cu")};
  CHECK(make_plan({.kernel = "k", .dims = {{"N", 4}}}, device(), files).error().text() ==
        "invalid_argument: k: no template takes this request\n"
        "  one.cu: k: scalar alpha has no default; give it a value\n"
        "  two.cu: k: dim M has no value; give it");
}

TEST_CASE("no file for the device, or of that name") {
  CHECK(planned(32, "gb10").error().text() ==
        "unsupported: k: no template serves sm_121a; b/portable.cu serves sm_90a, sm_100a, sm_120a; z/tuned.cu serves "
        "sm_90a; family.cu serves sm_100f");
  CHECK(planned(32, "h100", "tuner").error().text() ==
        "not_found: k: no file \"tuner\"; it has portable, tuned, family; did you mean \"tuned\"?");
  CHECK(make_plan({.kernel = "k"}, device(), {}).error().message == "there is no template to plan with");
}

TEST_CASE("enumeration is of the file that would be planned, else of the first") {
  const auto of = [](std::int64_t n) {
    return enumerate({.kernel = "k", .dims = {{"N", n}}}, device(), kFiles).value();
  };
  CHECK(of(32).file == "z/tuned.cu");
  CHECK(of(18).file == "b/portable.cu");
  CHECK(of(18).configurations == 2);
  CHECK(of(17).file == "z/tuned.cu");
  CHECK(of(17).valid == 0);
  CHECK(of(17).rules.front().values == "N = 17");
}

}  // namespace tma_jit::plan
