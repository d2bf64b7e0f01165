// Attention over cached keys and values on the emulator: decoding, keys in pages and of 8 bits, latent caches, and the
// same bits whatever else is in a batch.
#include <algorithm>
#include <array>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "attention_data.h"
#include "launches.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {

TEST_CASE("the last tokens of sequences see keys of any number, contiguous and in pages") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"attention_decode", kDevice, kEmulator, "B=2", "TOKENS=3", "HEADS=6", "KV_HEADS=2", "N=0", "LSE=1"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=1", "TOKENS=1", "HEADS=4", "KV_HEADS=1", "N=1000", "HD=64"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=40", "TOKENS=2", "HEADS=2", "KV_HEADS=2", "N=200", "HD=64",
                "RAGGED=1", "LSE=1"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=1", "TOKENS=3", "HEADS=4", "KV_HEADS=2", "N=300", "LSE=1",
                "--operand", "slope : f32[HEADS]", "--hook",
                "score=query - key < 100 ? x + slope[head] * (key - query) * 0.01f : -1e38f"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=1", "TOKENS=1", "HEADS=8", "KV_HEADS=1", "N=2500", "LSE=1",
                "PARTS=8", "CLUSTER=4"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=1", "TOKENS=1", "HEADS=8", "KV_HEADS=1", "N=2500", "LSE=1",
                "PARTS=8", "CLUSTER=1"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=1", "TOKENS=2", "HEADS=3", "KV_HEADS=1", "N=2200", "HD=256",
                "LSE=1", "PARTS=32", "CLUSTER=16"});
  check_passes({"attention_decode", kDevice, kEmulator, "B=3", "TOKENS=1", "HEADS=8", "KV_HEADS=2", "P=100", "SIZE=16",
                "MAX_PAGES=130", "LSE=1", "RAGGED=1", "CLUSTER=4"});
  for (const char* size : {"SIZE=16", "SIZE=5"})
    check_passes({"attention_decode", kDevice, kEmulator, "B=2", "TOKENS=1", "HEADS=4", "KV_HEADS=2", "P=40", size,
                  "MAX_PAGES=30", "LSE=1"});
}

TEST_CASE("the last tokens of sequences see a cache of rows that are keys and values, by every file") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::array<const char*, 3>> files = {
      {"attention_decode_latent_wgmma", "emulator:sm_90a", "SCALED=0"},
      {"attention_decode_latent_wgmma", "emulator:sm_90a", "SCALED=1"},
      {"attention_decode_latent_e4m3_wgmma", "emulator:sm_90a", "E=e4m3"},
      {"attention_decode_latent", "emulator:sm_80", "SCALED=0"},
      {"attention_decode_latent", "emulator:sm_80", "E=e4m3"}};
  std::size_t first = 0;
  for (const auto& [file, device, cache] : files) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(),
                   {"attention_decode_latent", "--device", device, "--template-file", file, cache, "LSE=1"});
      check_passes(words);
    };
    passes({"B=2", "TOKENS=3", "HEADS=6", "P=3", "SIZE=64", "MAX_PAGES=0"});
    passes({"B=3", "TOKENS=1", "HEADS=5", "P=4", "SIZE=8", "MAX_PAGES=9", "T=f16"});
    passes({"B=1", "TOKENS=2", "HEADS=40", "P=4", "SIZE=32", "MAX_PAGES=11", "PARTS=4", "LEAST=64"});
  }
  check_passes({"attention_decode_latent", "--device", "emulator:sm_90a", "B=1", "TOKENS=1", "HEADS=16", "P=4",
                "SIZE=64", "MAX_PAGES=9", "LSE=1", "PARTS=4", "CLUSTER=2", "--scalar", "scale=-0.1"});
  for (const char* device : {"emulator:sm_90a", "emulator:sm_121a"})
    check_passes({"attention_decode_latent", kDevice, device, "B=2", "TOKENS=2", "HEADS=20", "P=40", "SIZE=5",
                  "MAX_PAGES=33", "E=e4m3", "SCALED=1", "RAGGED=1", "--scalar", "scale=-0.1"});
  check_passes(
      {"attention_decode_latent", kDevice, kEmulator, "B=2", "TOKENS=1", "HEADS=4", "P=40", "SIZE=5", "MAX_PAGES=13"});
}

TEST_CASE("queries of any size are multiplied with a cache of 8 bits") {
  if (!has_compiler() || !kHasEmulator) return;
  constexpr int kHeads = 20, kSize = 576;
  const auto passes = [&](int first, int last, const char* scale) {
    std::vector<std::uint16_t> queries = random_bf16(kHeads * kSize, 7);
    for (int i = 0; i < kHeads * kSize; ++i) {
      const int power = first + (last - first) * (i / kSize) / (kHeads - 1);
      std::uint16_t& query = queries[static_cast<std::size_t>(i)];
      if ((query >> 7 & 0xff) != 0) query = static_cast<std::uint16_t>(query + power * 128);
    }
    check_passes({"attention_decode_latent", kDevice, kEmulator, "--template-file",
                  "attention_decode_latent_e4m3_wgmma", "B=1", "TOKENS=1", "HEADS=20", "P=8", "SIZE=16", "MAX_PAGES=8",
                  "E=e4m3", "LSE=1", "--in", "Q=" + raw("powers.bin", queries.data(), queries.size() * 2), "--scalar",
                  scale});
  };
  passes(-60, 2, "scale=0.07");
  passes(0, 80, "scale=1e-25");
}

TEST_CASE("a latent cache without rows, or without pages, is attended to as no keys") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* file : {"attention_decode_latent_wgmma", "attention_decode_latent"}) {
    const auto passes = [&](const char* pages, const char* size, const char* most) {
      check_passes({"attention_decode_latent", kDevice, kEmulator, "--template-file", file, "B=2", "TOKENS=1",
                    "HEADS=5", pages, size, most});
    };
    passes("P=11", "SIZE=0", "MAX_PAGES=5");
    passes("P=0", "SIZE=64", "MAX_PAGES=0");
  }
}

TEST_CASE("the last tokens see keys and values of 8 bits, converted by the instruction and without it") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* device : {"emulator:sm_90a", "emulator:sm_80"}) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(),
                   {"attention_decode", kDevice, device, "C=e4m3", "B=2", "HEADS=4", "KV_HEADS=2", "LSE=1"});
      check_passes(words);
    };
    passes({"TOKENS=1", "N=300", "HD=128", "SCALED=1"});
    passes({"TOKENS=3", "N=100", "HD=64", "T=f16"});
    passes({"TOKENS=9", "P=20", "SIZE=16", "MAX_PAGES=9", "HD=96", "SCALED=1", "SINKS=1"});
    passes({"TOKENS=1", "P=20", "SIZE=3", "MAX_PAGES=30", "HD=32"});
  }
}

TEST_CASE("new tokens of sequences see their keys in pages, by every file") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string queries = numbers("new_tokens.npy", {0, 70, 70, 71, 135, 268});
  const std::string lengths = numbers("cached_keys.npy", {170, 20, 301, 64, 211});
  const std::vector<std::pair<const char*, const char*>> files = {{"attention_paged_wgmma", "emulator:sm_90a"},
                                                                  {"attention_paged_wgmma", kTwoProcessors},
                                                                  {"attention_paged_mma_cp_async", "emulator:sm_80"}};
  std::size_t first = 0;
  for (const auto& [file, device] : files) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(),
                   {"attention_paged", kDevice, device, "--template-file", file, "BATCH=5", "HEADS=2", "KV_HEADS=1",
                    "M=280", "LONGEST=133", "P=90", "LSE=1", "--in", "CU=" + queries, "--in", "LENGTHS=" + lengths});
      check_passes(words);
    };
    passes({"SIZE=16", "MAX_PAGES=20", "HD=128"});
    passes({"SIZE=64", "MAX_PAGES=5", "HD=64", "CAUSAL=0", "SINKS=1"});
    passes({"SIZE=8", "MAX_PAGES=40", "HD=64", "--hook", "mask=q - k < 60 && head % 3 != 1"});
    if (file == std::string("attention_paged_wgmma")) {
      passes({"SIZE=16", "MAX_PAGES=20", "HD=64", "PACK=2", "SINKS=1"});
      passes({"SIZE=16", "MAX_PAGES=20", "HD=64", "PACK=1", "--hook", "mask=0"});
    }
    if (file != std::string("attention_paged_wgmma")) passes({"SIZE=3", "MAX_PAGES=101", "HD=96"});
    check_passes({"attention_paged", kDevice, device, "--template-file", file, "BATCH=1", "HEADS=2", "KV_HEADS=1",
                  "M=3", "LONGEST=3", "P=0", "SIZE=16", "MAX_PAGES=0", "HD=64"});
  }
}

TEST_CASE("a token has the same bits alone and with others of its sequence and other sequences") {
  if (!has_compiler() || !kHasEmulator) return;
  constexpr int kHeads = 4, kKvHeads = 2, kSize = 64, kPage = 16, kPages = 40, kNew = 90, kKeys = 250;
  const std::vector<std::uint16_t> q = random_bf16((kNew + 30) * kHeads * kSize, 1);
  const std::size_t cache = std::size_t{kPages} * kPage * kKvHeads * kSize;
  const std::vector<std::uint16_t> k = random_bf16(cache, 2), v = random_bf16(cache, 3);
  const std::string keys = raw("keys.bin", k.data(), cache * 2), values = raw("values.bin", v.data(), cache * 2);
  std::vector<std::int32_t> pages(kPages);
  for (int i = 0; i < kPages; ++i) pages[static_cast<std::size_t>(i)] = (i * 7 + 3) % kPages;  // of 2 x 20
  const auto result = [&](const char* file, const char* device, const std::string& words,
                          const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& lengths, int row) {
    const int sequences = static_cast<int>(lengths.size()), rows = first.back();
    const std::string queries = raw("q.bin", &q[static_cast<std::size_t>(row) * kHeads * kSize],
                                    static_cast<std::size_t>(rows) * kHeads * kSize * 2);
    const std::string table = raw("pages.bin", pages.data(), static_cast<std::size_t>(sequences) * 20 * 4);
    const std::string out = scratch_folder() / "o.bin";
    std::vector<std::string> all = {"run",
                                    "attention_paged",
                                    kDevice,
                                    device,
                                    "--template-file",
                                    file,
                                    "BATCH=" + std::to_string(sequences),
                                    "HEADS=4",
                                    "KV_HEADS=2",
                                    "M=" + std::to_string(rows),
                                    "LONGEST=" + std::to_string(rows),
                                    "P=40",
                                    "SIZE=16",
                                    "MAX_PAGES=20",
                                    "HD=64",
                                    "--in",
                                    "Q=" + queries,
                                    "--in",
                                    "K=" + keys,
                                    "--in",
                                    "V=" + values,
                                    "--in",
                                    "PAGES=" + table,
                                    "--in",
                                    "CU=" + numbers("cu.npy", first),
                                    "--in",
                                    "LENGTHS=" + numbers("lengths.npy", lengths),
                                    "--out",
                                    "O=" + out};
    if (!words.empty()) all.push_back(words);
    const CommandResult ran = run_command(all);
    REQUIRE_MESSAGE(ran.exit == 0, ran.out << ran.err);
    return read(out);
  };
  const std::vector<std::pair<const char*, const char*>> files = {{"attention_paged_wgmma", "emulator:sm_90a"},
                                                                  {"attention_paged_wgmma", kTwoProcessors},
                                                                  {"attention_paged_mma_cp_async", "emulator:sm_121a"}};
  for (const auto& [file, device] : files) {
    const bool packs = file == std::string("attention_paged_wgmma");
    const std::vector<std::uint16_t> together =
        result(file, device, packs ? "PACK=1" : "", {0, kNew, kNew + 30}, {kKeys, 100}, 0);
    for (const int token : {0, 40, kNew - 1}) {
      const std::vector<std::uint16_t> alone =
          result(file, device, packs ? "PACK=2" : "", {0, 1}, {kKeys - kNew + 1 + token}, token);
      const auto there = together.begin() + token * kHeads * kSize;
      CHECK_MESSAGE(std::equal(alone.begin(), alone.end(), there), file << ", token " << token);
    }
  }
}

TEST_CASE("numbers of pages beyond the cache are found in a file, and read as zeros") {
  if (!has_compiler() || !kHasEmulator) return;
  std::vector<std::int32_t> pages = {0, 1, 2, 3, 9, 5, -1, 7};
  const std::string table = raw("beyond.bin", pages.data(), pages.size() * 4);
  const CommandResult ran =
      run_command({"run", "attention_decode", "--check", kDevice, kEmulator, "B=2", "TOKENS=1", "HEADS=2", "KV_HEADS=1",
                   "P=9", "SIZE=16", "MAX_PAGES=4", "--in", "PAGES=" + table});
  CHECK_MESSAGE(ran.exit == 0, ran.out << ran.err);
  CHECK_MESSAGE(
      (ran.out + ran.err).find("PAGES[1, 0] is 9, outside of 0..8; 1 more value is not valid") != std::string::npos,
      ran.out << ran.err);
}

TEST_CASE("rotated keys and values are put into pages, the last of tokens with one row") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"append_rope", kDevice, kEmulator, "KV_HEADS=2", "L=50"});
    check_passes(words);
  };
  passes({"M=37", "HEADS=8", "HD=128", "P=10", "SIZE=16"});
  passes({"M=37", "HEADS=3", "HD=96", "P=2", "SIZE=3", "C=e4m3", "SCALED=1", "NORM=1", "PAIRS=1"});
  passes({"M=5", "QUERIES=0", "HD=256", "P=10", "SIZE=1", "NORM=1", "J=s64"});
  passes({"M=0", "HEADS=8", "HD=64", "P=10", "SIZE=16"});
  passes({"M=3", "HEADS=8", "HD=64", "P=0", "SIZE=16"});
  passes({"M=37", "HEADS=8", "HD=64", "P=3", "SIZE=16", "UNIQUE=1"});
}

}  // namespace tma_jit::cli
