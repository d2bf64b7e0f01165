// Forms of tensor copies, from PTX text to results, against loops over the elements.
#include <algorithm>
#include <functional>
#include <numeric>

#include "emulator/copy_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::copies;

namespace {

constexpr u32 kU32 = 2, kS32 = 3, kF32 = 7;  // CUtensorMapDataType

// A dense tensor of 32-bit elements in device memory, with its map at the start of the memory.
struct DenseTensor {
  explicit DenseTensor(std::vector<u64> extents, u32 type = kU32)
      : dims(std::move(extents)), memory(device_of("sm_100a"), kCopyBytes), data_type(type) {
    std::memset(memory.as<u8>(), 0xee, kCopyBytes);
    for (std::size_t i = 0; i < count(); ++i) words()[i] = static_cast<u32>(i * 2654435761U) >> 3;
    before.assign(words(), words() + count());
  }
  std::size_t count() const { return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>()); }
  u32* words() { return memory.as<u32>() + kTensor / 4; }
  const u32* out(u32 block = 0) { return memory.as<u32>() + (kOut + block * kRoom) / 4; }

  // Returns the index of an element, or -1 outside the tensor.
  s64 index(const std::vector<s64>& at) const {
    s64 place = 0;
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (at[d] < 0 || at[d] >= static_cast<s64>(dims[d])) return -1;
      place = place * static_cast<s64>(dims[d]) + at[d];
    }
    return place;
  }

  emulator::tensor::EncodeArguments arguments() {
    strides.clear();
    u64 pitch = 4;
    for (const u64 dim : dims) strides.push_back(pitch *= dim);
    steps.assign(dims.size(), 1);
    return {.data_type = data_type,
            .rank = static_cast<u32>(dims.size()),
            .address = memory.address() + kTensor,
            .dims = dims.data(),
            .strides = strides.data(),
            .element_strides = steps.data()};
  }
  void encode(const std::vector<u32>& box) {
    emulator::tensor::TensorMap map{};
    REQUIRE(emulator::tensor::encode_tiled(arguments(), box.data(), map) == "");
    std::memcpy(memory.as<u8>(), &map, sizeof map);
  }
  void encode(const emulator::tensor::Im2colBox& box) {
    emulator::tensor::TensorMap map{};
    REQUIRE(emulator::tensor::encode_im2col(arguments(), box, map) == "");
    std::memcpy(memory.as<u8>(), &map, sizeof map);
  }

  std::vector<u64> dims, strides;
  std::vector<u32> steps, before;
  TestMemory memory;
  u32 data_type;
};

// Calls f(index in the box, index in the tensor) for every element of a box, the innermost dimension first.
void for_each_element(const std::vector<u32>& box, const std::vector<s32>& start,
                      const std::function<void(u32, const std::vector<s64>&)>& f) {
  u32 total = 1;
  for (const u32 extent : box) total *= extent;
  for (u32 i = 0; i < total; ++i) {
    std::vector<s64> at;
    u32 rest = i;
    for (std::size_t d = 0; d < box.size(); ++d) {
      at.push_back(start[d] + s64{rest % box[d]});
      rest /= box[d];
    }
    f(i, at);
  }
}

u32 product_of(const std::vector<u32>& box) {
  return std::accumulate(box.begin(), box.end(), 1U, std::multiplies<>());
}

// Boxes and coordinates of ranks 1 to 5. The innermost coordinate is a multiple of 16 bytes; the others exceed the
// tensor at both ends.
const std::vector<u64> kDims = {24, 6, 5, 4, 3};
const std::vector<u32> kBox = {16, 4, 3, 2, 2};
const std::vector<s32> kStart = {12, -2, 3, -1, 2};

template <class T> std::vector<T> first(const std::vector<T>& all, std::size_t rank) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank)};
}

std::string rank_word(std::size_t rank) {
  return std::to_string(rank) + "d";
}

// Checks that every block of `mask` has the box, and that the memory after it is unchanged.
void check_loaded(DenseTensor& tensor, const std::vector<u32>& box, const std::vector<s32>& start, u32 blocks) {
  for (u32 block = 0; block < blocks; ++block) {
    u32 wrong = 0;
    for_each_element(box, start, [&](u32 i, const std::vector<s64>& at) {
      const s64 from = tensor.index(at);
      wrong += tensor.out(block)[i] != (from < 0 ? 0 : tensor.before[static_cast<std::size_t>(from)]) ? 1 : 0;
    });
    const u32 end = product_of(box);
    wrong += end < kRoom / 4 && tensor.out(block)[end] != filler(end) ? 1 : 0;
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("Forms: boxes of tensors of every rank, loaded by one block, by a peer's mbarrier and by multicast") {
  for (std::size_t rank = 1; rank <= 5; ++rank)
    for (const char* tile : {"", ".tile"})
      for (const int way : {0, 1, 2}) {
        DenseTensor tensor(first(kDims, rank));
        const auto box = first(kBox, rank);
        const auto start = first(kStart, rank);
        tensor.encode(box);
        const bool multicast = way == 2, hinted = way == 1 || (way == 0 && *tile != '\0');
        const std::string group = way != 1 ? "" : *tile == '\0' ? ".cta_group::1" : ".cta_group::2";
        const std::string form = "cp.async.bulk.tensor." + rank_word(rank) +
                                 (way == 0 ? ".shared::cta.global" : ".shared::cluster.global") + tile +
                                 ".mbarrier::complete_tx::bytes" + (multicast ? ".multicast::cluster" : "") + group +
                                 (hinted ? ".L2::cache_hint" : "");
        CAPTURE(form);
        const std::string copy = "mov.u16 %h1, 3; createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;\n" + form +
                                 " [%r1], [%base, " + coordinates(start) + "], [bar]" + (multicast ? ", %h1" : "") +
                                 (hinted ? ", %d5" : "") + ";";
        const u32 blocks = multicast ? 2 : 1;
        run_ptx(kernel_text(load_text(copy, product_of(box) * 4), "sm_100a", kShared), tensor.memory,
                {.grid = blocks, .cluster = blocks}, "sm_100a");
        check_loaded(tensor, box, start, blocks);
      }
}

TEST_CASE("Forms: boxes of tensors of every rank, stored") {
  for (std::size_t rank = 1; rank <= 5; ++rank)
    for (const char* hint : {"", ".L2::cache_hint"}) {
      DenseTensor tensor(first(kDims, rank));
      const auto box = first(kBox, rank);
      const auto start = first(kStart, rank);
      tensor.encode(box);
      const std::string form = "cp.async.bulk.tensor." + rank_word(rank) + ".global.shared::cta" +
                               (*hint == '\0' ? "" : ".tile") + ".bulk_group" + hint;
      CAPTURE(form);
      run_ptx(kernel_text(store_text("createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;\n" + form + " [%base, " +
                                     coordinates(start) + "], [%r1]" + (*hint == '\0' ? "" : ", %d5") + ";"),
                          "sm_100a", kShared),
              tensor.memory, {}, "sm_100a");
      std::vector<u32> expected = tensor.before;
      for_each_element(box, start, [&](u32 i, const std::vector<s64>& at) {
        if (const s64 to = tensor.index(at); to >= 0) expected[static_cast<std::size_t>(to)] = filler(i);
      });
      CHECK(std::equal(expected.begin(), expected.end(), tensor.words()));
      CHECK(tensor.words()[tensor.count()] == 0xeeeeeeee);
    }
}

TEST_CASE("Forms: boxes of tensors reduced into memory") {
  struct Kind {
    const char* name;
    u32 type;
    u32 (*combine)(u32 old, u32 value);
  };
  for (const Kind& kind :
       {Kind{"add", kU32, [](u32 a, u32 b) { return a + b; }},
        {"min", kU32, [](u32 a, u32 b) { return std::min(a, b); }},
        {"max", kS32,
         [](u32 a, u32 b) { return static_cast<u32>(std::max(static_cast<s32>(a), static_cast<s32>(b))); }},
        {"inc", kU32, [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }},
        {"dec", kU32, [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }},
        {"and", kU32, [](u32 a, u32 b) { return a & b; }},
        {"or", kS32, [](u32 a, u32 b) { return a | b; }},
        {"xor", kU32, [](u32 a, u32 b) { return a ^ b; }}})
    for (std::size_t rank = 1; rank <= 5; ++rank) {
      DenseTensor tensor(first(kDims, rank), kind.type);
      const auto box = first(kBox, rank);
      const auto start = first(kStart, rank);
      tensor.encode(box);
      const bool hinted = rank > 2;
      const std::string form = "createpolicy.fractional.L2::evict_first.b64 %d5, 1.0; cp.reduce.async.bulk.tensor." +
                               rank_word(rank) + ".global.shared::cta." + kind.name + (rank % 2 == 0 ? ".tile" : "") +
                               ".bulk_group" + (hinted ? ".L2::cache_hint" : "") + " [%base, " + coordinates(start) +
                               "], [%r1]" + (hinted ? ", %d5;" : ";");
      CAPTURE(form);
      run_ptx(kernel_text(store_text(form), "sm_100a", kShared), tensor.memory, {}, "sm_100a");
      std::vector<u32> expected = tensor.before;
      for_each_element(box, start, [&](u32 i, const std::vector<s64>& at) {
        const s64 to = tensor.index(at);
        if (to >= 0)
          expected[static_cast<std::size_t>(to)] = kind.combine(expected[static_cast<std::size_t>(to)], filler(i));
      });
      CHECK(std::equal(expected.begin(), expected.end(), tensor.words()));
    }
  DenseTensor floats({8}, kF32);
  for (u32 i = 0; i < 8; ++i) floats.words()[i] = std::bit_cast<u32>(static_cast<float>(i));
  floats.encode({8});
  run_ptx(kernel_text(store_text("mov.b32 %r4, 0f3FC00000; mov.u32 %r2, 0; L: add.u32 %r3, %r1, %r2; st.shared.u32 "
                                 "[%r3], %r4; add.u32 %r2, %r2, 4; setp.lt.u32 %p2, %r2, 32; @%p2 bra L;\n"
                                 "fence.proxy.async.shared::cta; cp.reduce.async.bulk.tensor.1d.global.shared::cta.add."
                                 "bulk_group [%base, {0}], [%r1];"),
                      "sm_100a", kShared),
          floats.memory, {}, "sm_100a");
  for (u32 i = 0; i < 8; ++i) CHECK(std::bit_cast<float>(floats.words()[i]) == static_cast<float>(i) + 1.5F);
}

TEST_CASE("Forms: four rows gathered and scattered") {
  const std::vector<s64> rows = {5, 0, 11, 7};
  DenseTensor tensor({24, 12});
  tensor.encode({16, 1});
  for (const char* space : {"shared::cta", "shared::cluster"}) {
    run_ptx(kernel_text(load_text(std::string("cp.async.bulk.tensor.2d.") + space +
                                      ".global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%base, {4, 5, 0, 11, "
                                      "7}], [bar];",
                                  256),
                        "sm_100a", kShared),
            tensor.memory, {}, "sm_100a");
    for (u32 i = 0; i < 64; ++i)
      CHECK(tensor.out()[i] == tensor.before[static_cast<u32>(rows[i / 16]) * 24 + 4 + i % 16]);
  }
  run_ptx(
      kernel_text(store_text("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%base, {4, 5, 0, "
                             "11, 7}], [%r1];"),
                  "sm_100a", kShared),
      tensor.memory, {}, "sm_100a");
  std::vector<u32> expected = tensor.before;
  for (u32 i = 0; i < 64; ++i) expected[static_cast<u32>(rows[i / 16]) * 24 + 4 + i % 16] = filler(i);
  CHECK(std::equal(expected.begin(), expected.end(), tensor.words()));
}

TEST_CASE("Forms: im2col::w keeps to rows of images and appends their halo") {
  // Rows of 5 pixels of 4 channels, shifted by 1: w is from 1 to 5, and the halo of 2 follows.
  const int lower = 0, upper = 0;
  for (const char* mode : {"im2col::w", "im2col::w::128"}) {
    CAPTURE(std::string(mode));
    const bool fixed = std::string_view(mode).ends_with("128");
    const u32 groups = fixed ? 4 : 1, pixels = fixed ? 32 : 12, bytes = groups * (pixels + 2) * 16;
    DenseTensor tensor({4, 5, 3, 40});
    auto arguments = tensor.arguments();
    arguments.swizzle = 1;  // CU_TENSOR_MAP_SWIZZLE_32B: bit 7 of the address changes bit 4
    emulator::tensor::TensorMap map{};
    REQUIRE(emulator::tensor::encode_im2col(arguments, {&lower, &upper, 4, 12, true}, map) == "");
    std::memcpy(tensor.memory.as<u8>(), &map, sizeof map);
    run_ptx(
        kernel_text(
            load_text(std::string("mov.u16 %h1, 2; mov.u16 %h2, 1; cp.async.bulk.prefetch.tensor.4d.L2.global.") +
                          mode + " [%base, {0, 2, 1, 0}], {%h1, %h2};\ncp.async.bulk.tensor.4d.shared::cta.global." +
                          mode + ".mbarrier::complete_tx::bytes [%r1], [%base, {0, 2, 1, 0}], [bar], {%h1, %h2};",
                      bytes),
            "sm_100a", kShared),
        tensor.memory, {}, "sm_100a");
    u32 wrong = 0, linear = 0;
    const auto expect = [&](s64 w, s64 n) {
      for (u32 c = 0; c < 4; ++c, linear += 4) {
        const s64 from = tensor.index({c, w, 1, n});
        const u32 at = (linear ^ (linear >> 7 & 1) << 4) / 4;
        wrong += tensor.out()[at] != (from < 0 ? 0 : tensor.before[static_cast<std::size_t>(from)]) ? 1 : 0;
      }
    };
    s64 w = 3, n = 0;
    for (u32 group = 0; group < groups; ++group) {
      s64 last_w = w, last_n = n;
      for (u32 i = 0; i < pixels; ++i) {
        expect(w, n);
        last_w = w, last_n = n;
        if (++w > 5) w = 1, ++n;
      }
      expect(last_w + 1, last_n);
      expect(last_w + 2, last_n);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Forms: prefetches of boxes of every rank and mode want the map that the mode needs") {
  const auto fault = [](DenseTensor& tensor, const std::string& rest) {
    return fault_of(kernel_text("mov.u16 %h1, 0; cp.async.bulk.prefetch.tensor." + rest, "sm_100a", kShared),
                    tensor.memory, {}, "sm_100a");
  };
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    DenseTensor tensor(first(kDims, rank));
    tensor.encode(first(kBox, rank));
    CHECK(fault(tensor, rank_word(rank) + ".L2.global [%base, " + coordinates(first(kStart, rank)) + "];") == "");
  }
  DenseTensor rows({24, 12});
  rows.encode({16, 1});
  CHECK(fault(rows, "2d.L2.global.tile::gather4 [%base, {4, 5, 0, 11, 7}];") == "");
  CHECK(fault(rows, "2d.L2.global.im2col [%base, {4, 5}], {%h1};") != "");
  const int none[] = {0, 0};
  DenseTensor images({8, 6, 5, 3});
  images.encode({.lower = none, .upper = none, .channels = 8, .pixels = 20});
  CHECK(fault(images, "4d.L2.global.im2col [%base, {0, 0, 0, 1}], {%h1, %h1};") == "");
  CHECK(fault(images, "4d.L2.global [%base, {0, 0, 0, 1}];").starts_with("tensor map"));
}

TEST_CASE("Forms: im2col loads a filter's pixels, and stores them without offsets") {
  // Images of 6 by 5 pixels of 8 channels; a 3 by 3 filter with a border of one: the box is from -1 to W - 2.
  const int lower[] = {-1, -1}, upper[] = {-1, -1};
  const emulator::tensor::Im2colBox box = {.lower = lower, .upper = upper, .channels = 8, .pixels = 40};
  for (const char* space : {"shared::cta", "shared::cluster"}) {
    DenseTensor tensor({8, 6, 5, 3});
    tensor.encode(box);
    run_ptx(kernel_text(load_text(std::string("mov.u16 %h1, 2; mov.u16 %h2, 1; cp.async.bulk.tensor.4d.") + space +
                                      ".global.im2col.mbarrier::complete_tx::bytes [%r1], [%base, {0, -1, -1, 1}], "
                                      "[bar], {%h1, %h2};",
                                  40 * 32),
                        "sm_100a", kShared),
            tensor.memory, {}, "sm_100a");
    u32 wrong = 0;
    for (u32 pixel = 0; pixel < 40; ++pixel)
      for (u32 c = 0; c < 8; ++c) {
        const s64 w = -1 + s64{pixel % 6} + 2, h = -1 + s64{pixel / 6 % 5} + 1, n = 1 + pixel / 30;
        const s64 from = tensor.index({c, w, h, n});
        wrong += tensor.out()[pixel * 8 + c] != (from < 0 ? 0 : tensor.before[static_cast<std::size_t>(from)]) ? 1 : 0;
      }
    CHECK(wrong == 0);
  }
  const int none[] = {0, 0};
  const emulator::tensor::Im2colBox whole = {.lower = none, .upper = none, .channels = 8, .pixels = 20};
  for (const bool adds : {false, true}) {
    DenseTensor stored({8, 6, 5, 3});
    stored.encode(whole);
    const std::string form = std::string(adds ? "cp.reduce" : "cp") + ".async.bulk.tensor.4d.global.shared::cta" +
                             (adds ? ".add" : "") + ".im2col_no_offs.bulk_group [%base, {0, 2, 4, 1}], [%r1];";
    run_ptx(kernel_text(store_text(form), "sm_100a", kShared), stored.memory, {}, "sm_100a");
    std::vector<u32> expected = stored.before;
    for (u32 i = 0; i < 160; ++i) {  // pixels continue in the next image
      u32& to = expected[(30 + 4 * 6 + 2 + i / 8) * 8 + i % 8];
      to = filler(i) + (adds ? to : 0);
    }
    CHECK(std::equal(expected.begin(), expected.end(), stored.words()));
  }
}
