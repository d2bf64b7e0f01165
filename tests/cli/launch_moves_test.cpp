// Kernels that fill and move elements, with tensors of every type, pitch and address.
#include <doctest/doctest.h>

#include "launches.h"
#include "npy.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {
namespace {

TEST_CASE("matrices are filled with a number or an expression of the indices, whatever the elements") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* type : {"T=u8", "T=bf16", "T=e4m3", "T=f32", "T=f64"}) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"fill", kDevice, kEmulator, type});
      check_passes(words);
    };
    passes({"M=5", "N=100", "--scalar", "x=3"});
    passes({"M=7", "N=33", "--pitch", "Y=33", "--hook", "value=row + column"});
    passes({"M=3", "N=1001", "--pitch", "Y=1003", "--offset", "Y=1", "--hook", "value=row + column % 50"});
    passes({"M=3", "N=21", "NEIGHBOURS=0"});
    for (const char* flat : {"FLAT=0", "FLAT=1"})
      passes({"M=3", "N=4128", flat, "WHOLE=1", "UNROLL=2", "--scalar", "x=3"});
  }
  // What a block writes as one row is all of its threads'.
  const CommandResult refused = run_command({"run", "fill", kDevice, kEmulator, "M=33", "N=129", "FLAT=1", "LANES=8"});
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("all threads of a block share what is written as one row") != std::string::npos);
  check_passes({"fill", kDevice, kEmulator, "M=2", "N=9", "T=s64", "F=s64", "--hook", "value=x - column"});
  check_passes({"fill", kDevice, kEmulator, "M=5", "N=9", "T=u8", "--hook", "value=x + row * 0.25"});
  check_passes({"fill", kDevice, kEmulator, "M=3", "N=4001", "UNROLL=4", "--scalar", "x=-1.5"});
  for (const char* rows : {"M=0", "M=3"}) check_passes({"fill", kDevice, kEmulator, rows, "N=0"});
}

TEST_CASE("matrices are padded and cropped, on any side, at any address") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check_pad = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"pad", kDevice, kEmulator, "--scalar", "value=7"});
    check_passes(words);
  };
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_pad({"B=2", "M=30", "N=100", "R=20", "C=70", type, "--scalar", "top=3", "--scalar", "left=5"});
    check_pad({"B=2", "M=9", "N=100", "R=20", "C=170", type, "--scalar", "top=-3", "--scalar", "left=-50"});
    check_pad({"B=1", "M=9", "N=1001", "R=4", "C=1300", type, "--scalar", "top=2", "--scalar", "left=-1250", "--pitch",
               "S=1305", "--pitch", "D=1003", "--offset", "D=1"});
    check_pad({"B=1", "M=3", "N=101", "R=4", "C=13", type, "NEIGHBOURS=0", "--scalar", "left=15"});
  }
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_pad({"M0=2", "M1=3", "M2=4", "M3=5", "M4=100", "N0=2", "N1=2", "N2=5", "N3=3", "N4=90", type, "--scalar",
               "before1=1", "--scalar", "before2=-1", "--scalar", "before3=1", "--scalar", "before4=3"});
    check_pad({"M0=1", "M1=1", "M2=1", "M3=5", "M4=10", "N0=1", "N1=1", "N2=1", "N3=0", "N4=90", type});
  }
  check_pad({"B=1", "M=3", "N=101", "R=0", "C=13"});
  check_pad({"B=1", "M=3", "N=0", "R=2", "C=13"});
}

TEST_CASE("tensors of different extents are joined along a dimension, and split") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t row = 0;
  for (const char* kernel : {"concat", "split"}) {
    std::size_t first = row++;
    for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
      std::size_t cell = first++;
      const auto passes = [&](std::vector<std::string> words) {
        if (!testing::takes(cell++)) return;
        words.insert(words.begin(), {kernel, kDevice, kEmulator, type});
        check_passes(words);
      };
      passes({"M=1", "N0=5", "N1=3", "K=100"});
      passes({"M=9", "N0=16", "N1=0", "N2=33", "K=1"});
      passes({"M=3", "N0=1001", "N1=999", "K=1"});
      passes({"M=3", "N0=4", "N1=2", "N2=1", "N3=3", "K=700", "RUN=1"});
      passes({"M=3", "N0=4", "N1=2", "K=33", "RUN=0"});
      passes({"M=3", "N0=7", "K=33"});
      passes({"M=3", "N0=4", "N1=2", "N2=0", "N3=5", "N4=1", "N5=300", "N6=8", "N7=3", "K=9"});
    }
    for (const char* rows : {"M=0", "M=3"}) check_passes({kernel, kDevice, kEmulator, rows, "N0=4", "N1=2", "K=8"});
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=0", "N1=0", "K=8"});
  }
  check_passes({"concat", kDevice, kEmulator, "M=3", "N0=5", "N1=7", "K=33", "--pitch", "S0=35", "--pitch", "D=41",
                "--offset", "S1=1"});
  check_passes({"concat", kDevice, kEmulator, "PARTS=5", "T=bf16"});
  for (const char* kernel : {"concat", "split"}) {
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=1008", "N1=32", "K=1", "WHOLE=1"});
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=4", "N1=2", "K=2064", "T=bf16", "RUN=1", "WHOLE=1"});
    check_passes({kernel, kDevice, kEmulator, "M=300", "N0=1", "N1=4", "K=16", "WHOLE=1"});
  }
  check_passes({"split", kDevice, kEmulator, "M=3", "N0=5", "N1=7", "K=33", "--pitch", "D0=35", "--pitch", "S=41",
                "--offset", "D1=1"});
}

TEST_CASE("rows are gathered, scattered and summed by their numbers, at any pitch and address") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* device : {kEmulator, "emulator:sm_80"}) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      words.insert(words.begin() + 1, {kDevice, device});
      if (testing::takes(cell++)) check_passes(words);
    };
    passes({"gather", "R=40", "N=33", "COUNT=77", "T=u8"});
    passes({"gather", "R=40", "N=64", "COUNT=9", "T=bf16", "J=s64", "--offset", "S=1"});
    passes({"gather", "R=0", "N=3", "COUNT=9"});
    passes({"gather", "R=40", "N=33", "COUNT=77", "NEIGHBOURS=0"});
    passes({"scatter", "R=60", "N=33", "COUNT=77"});
    passes({"scatter", "R=30", "N=1000", "COUNT=100", "T=f16", "ROWS=32", "--pitch", "D=1003"});
    passes({"scatter", "R=30", "N=64", "COUNT=500", "T=bf16", "J=s64", "ROWS=256", "LANES=8"});
    passes({"scatter", "UNIQUE=1", "R=60", "N=33", "COUNT=50"});
    passes({"scatter", "UNIQUE=1", "R=60", "N=33", "COUNT=77", "J=s64"});
    passes({"scatter_add", "R=7", "N=1100", "COUNT=300", "T=f16", "O=f16", "J=s64"});
    passes({"scatter_add", "R=600", "N=40", "COUNT=90", "O=bf16", "--offset", "S=1", "--pitch", "D=43", "--hook",
            "input=x * row + column"});
    passes({"scatter_add", "R=260", "N=2100", "COUNT=200", "T=bf16", "O=bf16"});
    for (const char* columns : {"N=0", "N=41", "N=1100"})
      passes({"scatter_add", "ATOMIC=1", "R=70", columns, "COUNT=300"});
    passes({"scatter_add", "R=60", "N=64", "COUNT=3000", "T=f32", "LIST=512", "THREADS=128"});
  }
  for (const char* kernel : {"scatter", "scatter_add"}) {
    check_passes({kernel, kDevice, kEmulator, "R=0", "N=9", "COUNT=5"});
    check_passes({kernel, kDevice, kEmulator, "R=7", "N=0", "COUNT=5"});
    check_passes({kernel, kDevice, kEmulator, "R=7", "N=9", "COUNT=0"});
  }
}

TEST_CASE("parts are summed to what additions that round to 16 bits give") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=f16", "T=bf16"}) {
    for (const char* parts : {"PARTS=2", "PARTS=3", "PARTS=17", "PARTS=300"})
      check_passes({"reduce_scatter", kDevice, kEmulator, "M=17", "N=48", type, parts, "--seed", "660"});
    // Every sum of few whole numbers is exact, whatever the order: none of the parts is lost.
    check_passes({"reduce_scatter", kDevice, "emulator:sm_90a:policy=lazy,seed=6", "M=17", "N=48", type, "PARTS=17",
                  "--data", "integers"});
  }
}

TEST_CASE("what no number names keeps what it held, and sums are added to it") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string held = (scratch_folder() / "held.npy").string(),
                    numbers = (scratch_folder() / "numbers.npy").string();
  std::vector<float> values(60 * 33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7;
  const std::vector<std::int64_t> shape = {60, 33}, count = {9},
                                  rows = {5, 5, 2, -1, std::int64_t{1} << 40, 59, 60, 5, 2};
  REQUIRE(write_npy(held, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  REQUIRE(write_npy(numbers, DType::s64, count, std::as_bytes(std::span(rows))).has_value());
  check_passes({"scatter", kDevice, kEmulator, "--in", "D=" + held, "--in", "I=" + numbers});
  check_passes({"scatter_add", kDevice, kEmulator, "T=f32", "INTO=1", "--in", "D=" + held, "--in", "I=" + numbers});
}

TEST_CASE("rows to which hundreds and thousands go are summed by whole blocks, wherever they stand in the list") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string numbers = (scratch_folder() / "many.npy").string();
  for (const std::int64_t sources : {257, 1000, 9000}) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(sources));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i * i % 5 % 3);
    const std::vector<std::int64_t> shape = {sources};
    REQUIRE(write_npy(numbers, DType::s32, shape, std::as_bytes(std::span(rows))).has_value());
    for (const char* extent : {"R=1", "R=3"})
      check_passes({"scatter_add", kDevice, kEmulator, extent, "N=5", "T=f32", "--in", "I=" + numbers});
  }
}

TEST_CASE("matrices of any shape and pitch are transposed, and of any element") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* type : {"T=u8", "T=bf16", "T=f32", "T=f64"}) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"transpose", kDevice, kEmulator, type});
      check_passes(words);
    };
    passes({"B=2", "M=80", "N=144"});
    passes({"B=1", "M=131", "N=77", "--pitch", "S=80", "--pitch", "D=144"});
    passes({"B=3", "M=131", "N=77", "--pitch", "S=77", "--pitch", "D=131"});
    passes({"B=1", "M=33", "N=21", "--offset", "S=1", "--offset", "D=3"});
    passes({"B=2", "M=65", "N=33", "NEIGHBOURS=0"});
  }
  check_passes({"transpose", kDevice, kEmulator, "B=1", "M=0", "N=16"});
  // By words: rows of S that begin at 4 bytes, or anywhere, as those of D do, or at 32 bytes.
  for (const char* type : {"T=u8", "T=bf16", "T=f32"})
    check_passes({"transpose", kDevice, kEmulator, type, "B=2", "M=750", "N=703", "--pitch", "S=703", "--pitch",
                  "D=751", "--offset", "S=4", "--offset", "D=5", "--template-file", "transpose_words"});
  for (const char* pitch : {"S=704", "S=703"})
    check_passes({"transpose", kDevice, kEmulator, "T=u8", "B=2", "M=768", "N=703", "--pitch", pitch, "--pitch",
                  "D=768", "--template-file", "transpose_words"});
}

TEST_CASE("dimensions change places, the innermost too, with and without TMA") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=48", "N3=5", "N4=80", "P0=4", "P1=1", "P2=0",
                  "P3=3", "P4=2", type});
    check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=5", "N3=7", "N4=16", "P0=3", "P1=2", "P2=1",
                  "P3=0", "P4=4", type});
    for (const char* device : {kEmulator, "emulator:sm_80"})
      check_passes({"permute", kDevice, device, "N0=2", "N1=3", "N2=5", "N3=7", "N4=9", "P0=4", "P1=3", "P2=2", "P3=1",
                    "P4=0", type});
  }
}

TEST_CASE("the innermost dimension moves by words, of one dimension or of two that follow one another") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check = [](const char* device, const char* fused, std::vector<std::string> words) {
    words.insert(words.begin(), {"permute", kDevice, device, "--template-file", "permute_words"});
    const nlohmann::json ran = run_own(words).json();
    CHECK(ran["config"]["FUSE_D"] == fused[0] - '0');
    CHECK(ran["config"]["FUSE_S"] == fused[1] - '0');
    CHECK(ran["check"]["passed"] == true);
  };
  check(kEmulator, "11",
        {"N0=16", "N1=18", "N2=5", "N3=9", "N4=12", "P0=4", "P1=3", "P2=2", "P3=1", "P4=0", "--pitch", "S=12",
         "--pitch", "D=16"});
  check(kEmulator, "10",
        {"N0=1", "N1=3", "N2=61", "N3=50", "N4=20", "P0=1", "P1=0", "P2=4", "P3=2", "P4=3", "T=bf16", "--pitch", "D=50",
         "--offset", "D=3"});
  check("emulator:sm_80", "00",
        {"N0=2", "N1=1", "N2=61", "N3=60", "N4=20", "P0=1", "P1=0", "P2=3", "P3=4", "P4=2", "T=bf16", "--pitch", "S=24",
         "--pitch", "D=61"});
  check("emulator:sm_121a", "01",
        {"N0=2", "N1=33", "N2=128", "N3=3", "N4=12", "P0=1", "P1=0", "P2=3", "P3=4", "P4=2", "T=u8", "--pitch", "S=12",
         "--pitch", "D=128"});
}

TEST_CASE("permutations by words are refused tiles that are narrower than their swizzle") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::string> words = {"run",           "permute", kDevice, kEmulator, "--check", "--template-file",
                                          "permute_words", "WARPS=2", "N0=1",  "N1=8",    "N2=2",    "N3=191",
                                          "N4=80",         "P0=2",    "P1=4",  "P2=3",    "P3=0",    "P4=1"};
  const auto run_with = [&](const char* type) {
    std::vector<std::string> typed = words;
    typed.emplace_back(type);
    return run_command(typed);
  };
  const CommandResult refused = run_with("T=u8");
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("a row of a transposed tile is whole units of its swizzle") != std::string::npos);
  CHECK(run_with("T=bf16").exit == 0);
}

TEST_CASE("permute has an example, and takes rows at any pitch and address") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"permute", kDevice, kEmulator});
  check_passes({"permute", kDevice, kEmulator, "N0=1", "N1=3", "N2=37", "N3=45", "N4=2", "P0=0", "P1=2", "P2=3", "P3=1",
                "P4=4", "T=f64"});  // elements of 16 bytes
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    for (const char* pitch : {"D=17", "D=24"}) {
      for (const char* offset : {"D=0", "D=1"})
        check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=4", "N3=5", "N4=16", "P0=0", "P1=2", "P2=1",
                      "P3=3", "P4=4", type, "--pitch", pitch, "--offset", offset});
    }
  }
}

TEST_CASE("columns of a matrix are copied from it and into it") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=f32"}) {
    for (const char* whole : {"S", "D"}) {
      const std::string pitch = std::string(whole) + "=192", offset = whole;
      for (const char* first : {"=30", "=64"})
        check_passes({"copy", kDevice, kEmulator, "M=6", "N=64", type, "--pitch", pitch, "--offset", offset + first});
    }
  }
}

TEST_CASE("results of f64 are checked by what they are computed in") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"map", kDevice, kEmulator, "O=f64", "--hook", "apply=a * 0.1f + 1"});
    check_passes(words);
  };
  passes({"N=500"});
  passes({"M=5", "N=100"});
  passes({"N0=2", "N1=3", "N2=4", "N3=1", "N4=5"});
}

TEST_CASE("a matrix without rows is mapped, whatever the types") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"O=f32", "O=f16"}) {
    check_passes({"map", kDevice, kEmulator, "M=0", "N=67", "T=bf16", type, "--hook", "apply=a"});
  }
}

}  // namespace
}  // namespace tma_jit::cli
