// Reductions, scans and draws along rows, with the combinations of the user's.
#include <doctest/doctest.h>

#include "launches.h"
#include "npy.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {
namespace {

TEST_CASE("rows, columns and whole tensors are reduced, by sums and by combinations of the user's") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"reduce", kDevice, kEmulator, "M=1", "K=70001", "N=1"});
  check_passes({"reduce", kDevice, kEmulator, "M=9", "K=101", "N=1", "T=bf16", "O=bf16", "OP=2"});
  check_passes({"reduce", kDevice, kEmulator, "M=37", "K=64", "N=1", "T=bf16", "LANES=4", "UNROLL=2", "ROWS=2"});
  check_passes({"reduce", kDevice, kEmulator, "M=2", "K=300", "N=33", "T=f16", "OP=1"});
  check_passes({"reduce", kDevice, kEmulator, "M=3", "K=0", "N=8", "OP=3"});
  const nlohmann::json ran = run_own({"reduce", kDevice, kEmulator, "M=2", "K=3000", "N=2", "--hook", "combine=a * b",
                                      "--hook", "input=1 + x / 64", "--scalar", "neutral=1"})
                                 .json();
  CHECK(ran["config"]["OP"] == 5);
  CHECK(ran["check"]["passed"] == true);
}

TEST_CASE("products of many factors agree within what every step rounds") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* columns : {"N=1", "N=24"})
    check_passes({"reduce", kDevice, kEmulator, "M=2", "K=50000", columns, "--hook", "combine=a * b", "--hook",
                  "input=1 + 0.0001f * x", "--scalar", "neutral=1"});
}

TEST_CASE("the greatest elements of rows are found with their indices, the lowest of equal ones first") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"argmax", kDevice, kEmulator, "M=3", "K=5003", "T=bf16"});
  check_passes({"argmax", kDevice, kEmulator, "M=2", "K=70001", "VALUES=0", "J=s32", "--hook", "key=-x"});
  check_passes({"argmax", kDevice, kEmulator, "M=2", "K=999", "--hook", "key=sqrt(x)"});  // NaN is the greatest
  check_passes({"argmax", kDevice, kEmulator, "M=4", "K=0"});
  for (const char* columns : {"K=512", "K=509"}) check_passes({"argmax", kDevice, kEmulator, "M=5", columns, "T=bf16"});
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=9001", "K=64", "T=bf16"});
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=5000", "K=33", "--hook", "key=x * 0"});
  check_passes({"top_k", kDevice, kEmulator, "M=3", "N=64", "K=64", "J=s32", "--hook", "key=-sqrt(x)"});
  // More equal elements than there is room for, of blocks and of warps, and few that are not minus infinity.
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=20000", "K=64", "KEEP=64", "--hook", "key=floorf(x * 2)"});
  check_passes({"top_k", kDevice, kEmulator, "M=5", "N=1000", "K=16", "T=bf16", "--hook", "key=floorf(x)"});
  check_passes({"top_k", kDevice, kEmulator, "M=5", "N=257", "K=8", "LANES=32", "THREADS=128", "--pitch", "X=259",
                "--hook", "key=column % 100 == 7 ? x : -1.0f / 0.0f"});
}

TEST_CASE("a block that selects from more rows than its static shared memory can hold is refused") {
  for (const char* target : {"sm_80", "sm_120a"}) {
    const CommandResult result =
        run_command({"plan", "top_k", "M=3", "N=193", "K=3", "THREADS=1024", "LANES=32", "UNROLL=8", "--arch", target});
    CHECK(result.exit == 1);
    CHECK(result.err.find("must fit in a block's static shared memory") != std::string::npos);
  }
}

TEST_CASE("rows are scanned, in registers and across blocks, with and without their own element") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* exclusive : {"EXCLUSIVE=0", "EXCLUSIVE=1"}) {
    std::size_t cell = first++;
    for (const char* columns : {"N=1", "N=7", "N=130", "N=1001", "N=5000"})
      if (testing::takes(cell++)) check_passes({"scan", kDevice, kEmulator, "M=3", columns, exclusive});
    check_passes({"scan", kDevice, kEmulator, "M=2", "N=30001", exclusive, "T=bf16", "--pitch", "X=30003"});
    check_passes({"scan", kDevice, kEmulator, "M=5", "N=333", exclusive, "T=f16", "OP=2", "--offset", "Y=3"});
    check_passes({"scan", kDevice, "emulator:sm_80", "M=2", "N=2000", exclusive, "OP=3", "O=bf16"});
  }
  for (const char* columns : {"N=1", "N=100", "N=3001", "N=40001"})
    check_passes({"scan", kDevice, kEmulator, "M=2", columns, "T=s32", "EXCLUSIVE=1", "--offset", "X=1"});
  for (const char* along : {"ALONG=1", "ALONG=4", "ALONG=16", "ALONG=32"})
    check_passes({"scan", kDevice, kEmulator, "M=37", "N=1001", along, "T=bf16", "--template-file", "scan_transposed"});
  // More tiles than a group has.
  check_passes({"scan", kDevice, kEmulator, "M=2", "N=150001", "THREADS=128", "PACKS=2", "BLOCKS=8"});
  check_passes({"scan", kDevice, "emulator:sm_90a:policy=starved", "M=1", "N=140000", "THREADS=128", "PACKS=2"});
  check_passes({"scan", kDevice, kEmulator, "M=3", "N=150001", "THREADS=128", "PACKS=2", "BYTES=8", "T=bf16",
                "AHEAD=256", "--pitch", "X=150003"});
  // Each tile reads what every tile before it posted.
  check_passes({"scan", kDevice, kEmulator, "M=2", "N=40001", "THREADS=128", "PACKS=2", "BLOCKS=8", "NEAR=1"});
  check_passes({"scan", kDevice, "emulator:sm_90a:policy=starved", "M=1", "N=50000", "THREADS=128", "PACKS=2", "NEAR=1",
                "EXCLUSIVE=1", "T=bf16", "BYTES=8"});
  // Rows of 16 bits whose results have 32.
  for (const char* columns : {"N=33", "N=100", "N=333", "N=1001", "N=4000"})
    check_passes({"scan", kDevice, kEmulator, "M=3", columns, "T=bf16", "O=f32", "BYTES=8"});
  for (const char* rows : {"M=0", "M=3"}) check_passes({"scan", kDevice, kEmulator, rows, "N=0"});
}

TEST_CASE("long rows are scanned by blocks that walk over tiles in shared memory") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"scan", kDevice});
    words.insert(words.end(), {"--template-file", "scan_ring", "--sm-budget", "3"});
    check_passes(words);
  };
  check({kEmulator, "M=1", "N=300000"});
  check({kEmulator, "M=3", "N=100008", "T=bf16", "THREADS=128", "PACKS=2", "STAGES=3", "EXCLUSIVE=1"});
  check({"emulator:sm_90a:policy=starved", "M=2", "N=150000", "THREADS=128", "PACKS=2", "STAGES=3"});
  check({"emulator:sm_90a:policy=random,seed=5", "M=1", "N=500000", "T=f16", "O=f16", "OP=2", "THREADS=128", "--hook",
         "input=x * (1 + column % 3)"});
}

TEST_CASE("scans take combinations that do not commute, and begin anew with segments") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* columns : {"N=100", "N=3000", "N=40000"}) {
    const nlohmann::json ran = run_own({"scan", kDevice, kEmulator, "M=2", columns, "--hook", "combine=b == 0 ? a : b",
                                        "--hook", "input=column % 77 == 5 ? x : 0", "--hook", "output=y + row"})
                                   .json();
    CHECK(ran["config"]["OP"] == 5);
    CHECK(ran["check"]["passed"] == true);
  }
  check_passes({"scan", kDevice, kEmulator, "M=2", "N=3000", "--hook", "combine=a * b", "--hook", "input=1 + x / 256",
                "--scalar", "neutral=1"});
  const std::string flags = (scratch_folder() / "flags.npy").string();
  for (const std::int64_t columns : {60, 1003, 30000}) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(2 * columns));
    for (std::size_t i = 0; i < values.size(); i += 37 + i % 5) values[i] = static_cast<std::uint8_t>(1 + i % 3);
    const std::vector<std::int64_t> shape = {2, columns};
    REQUIRE(write_npy(flags, DType::u8, shape, std::as_bytes(std::span(values))).has_value());
    for (const char* exclusive : {"EXCLUSIVE=0", "EXCLUSIVE=1"})
      check_passes({"scan", kDevice, kEmulator, "--in", "B=" + flags, exclusive, "T=bf16", "O=f32"});
  }
}

TEST_CASE("tokens are drawn as the reference draws them, ties, infinities and numbers that are none included") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto draw = [](const char* device, std::vector<std::string> words) {
    words.insert(words.begin(), {"sample", kDevice, device, "LOGS=1"});
    check_passes(words);
  };
  std::size_t first = 0;
  for (const char* device : {kEmulator, "emulator:sm_80", "emulator:sm_121a"}) {
    if (testing::takes(first++)) draw(device, {"M=2", "N=9001", "--scalar", "top_k=50", "--scalar", "top_p=0.9"});
    if (testing::takes(first))
      draw(device, {"M=3", "N=777", "T=bf16", "--scalar", "top_k=100", "--scalar", "top_p=0.9", "--hook",
                    "logit=floorf(x * 2)"});
  }
  for (const char* seed : {"seed=1", "seed=4503599627370497"})
    draw(kEmulator, {"M=6", "N=500", "T=f16", "J=s64", "--scalar", "top_p=0.3", "--scalar", seed, "--scalar",
                     "offset=12345678901", "--hook", "logit=x * 0"});
  for (const char* logit : {"logit=sqrt(x)", "logit=column % 50 == 3 ? 1 / (x * 0) : x", "logit=log(x - 100)"})
    draw(kEmulator, {"M=3", "N=501", "--scalar", "top_p=0.6", "--hook", logit});
  for (const char* temperature : {"temperature=0", "temperature=0.0001", "temperature=100000"})
    draw(kEmulator, {"M=3", "N=501", "--scalar", temperature, "--scalar", "top_k=10", "--hook", "logit=floorf(x * 9)"});
  draw(kEmulator, {"M=3", "N=501", "--scalar", "top_p=0", "--offset", "X=1", "--pitch", "X=505"});
  draw(kEmulator, {"M=2", "N=5003", "--scalar", "top_p=0.9", "--scalar", "top_k=3000", "THREADS=256", "CLUSTER=8"});
  draw(kEmulator,
       {"M=2", "N=5003", "--scalar", "top_k=1000", "THREADS=256", "CLUSTER=8", "--hook", "logit=floorf(x * 2)"});
  draw(kEmulator, {"M=2", "N=5003", "--scalar", "top_p=0.7", "THREADS=256", "CLUSTER=4", "--hook", "logit=x * 0"});
  draw(kEmulator, {"M=2", "N=5000", "T=bf16", "--scalar", "top_p=0.9", "KEPT=0", "THREADS=128", "CLUSTER=2"});
  for (const char* columns : {"N=0", "N=1"}) draw(kEmulator, {"M=3", columns});
  draw(kEmulator, {"M=0", "N=10"});
}

}  // namespace
}  // namespace tma_jit::cli
