// tcgen05.mma against sums in f64: kinds, shapes, one and two CTAs, A in tensor memory, block scaling, layouts.
#include <memory>

#include "emulator/fault.h"
#include "emulator/tcgen05_samples.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::testing;
using namespace tma_jit::testing::tensor_core;

namespace {

// A * B with scales, and with the columns that the instruction is to clear.
Values expected_of(const Case& c, const Values& a, const Values& b, const Scales& scales) {
  Values expected(c.m, c.n);
  for (u32 i = 0; i < c.m; ++i)
    for (u32 j = 0; j < c.n; ++j)
      for (u32 k = 0; k < c.kind.k; ++k) {
        double term = a.at(i, k) * b.at(j + c.shift, k);
        if (c.kind.scale_vector != 0) {
          const u32 block = k * c.kind.scale_vector / c.kind.k;
          term *= scales.a.at(i, block) * scales.b.at(j, block);
        }
        expected.at(i, j) += c.negate_a != c.negate_b ? -term : term;
      }
  if (c.zero_columns &&
      (*c.zero_columns >> 39 & 1) != 0) {  // used and skipped columns alternate, from the first of each part
    const u32 width = c.n / (128 / c.m);
    const u64 zeros = (*c.zero_columns >> 40 & 255) + 1;
    const u64 used = (*c.zero_columns >> 48 & 255) + 1;
    for (u32 j = 0; j < c.n; ++j)
      if (j % width % (zeros + used) >= used)
        for (u32 i = 0; i < c.m; ++i) expected.at(i, j) = 0;
  }
  return expected;
}

// Checks that words outside the plan's regions, which have D, are as they were.
void check_strays(const TensorMmaPlan& planned, const std::vector<Cta>& before, const std::vector<Cta>& after) {
  for (std::size_t cta = 0; cta < after.size(); ++cta) {
    std::vector<bool> written(std::size_t{128} * 512);
    for (const Region& region : planned.tensor_writes)
      for (u32 l = 0; l < region.lanes; ++l)
        for (u32 k = 0; k < region.columns; ++k) written[std::size_t{region.lane + l} * 512 + region.column + k] = true;
    u32 strayed = 0;
    for (std::size_t i = 0; i < written.size(); ++i)
      strayed += !written[i] && after[cta].tensor[i] != before[cta].tensor[i] ? 1 : 0;
    CHECK(strayed == 0);
  }
}

// One case: D = A * B, then D = A * B + D / 2^scale_input. Every element is compared, and all other words must be
// unchanged.
void run_case(const Case& c, std::mt19937& random) {
  constexpr u32 kD = 128;
  constexpr u32 kA = 448;
  constexpr u32 kScalesA = 8;
  constexpr u32 kScalesB = 16;
  const Values a = sample(c.m, c.kind.k, c.kind.a, random);
  Values b = sample(c.n + c.shift, c.kind.k, c.kind.b, random);  // by columns of B
  std::vector<Cta> ctas(c.group);
  TensorMma mma;
  mma.form = {c.kind.kind, c.group, c.stationary, c.kind.scale_vector};
  mma.d = c.lane << 16 | kD;
  mma.instruction = instruction_of(c);
  mma.zero_columns = c.zero_columns;
  const auto part = [](const Values& all, u32 first, u32 count) {
    Values rows(count, all.columns);
    for (u32 i = 0; i < count; ++i)
      for (u32 k = 0; k < all.columns; ++k) rows.at(i, k) = all.at(first + i, k);
    return rows;
  };
  for (u32 cta = 0; cta < c.group; ++cta) {
    const u32 rows = c.m / c.group;
    const u32 columns = c.n / c.group;
    if (!c.a_in_tensor) mma.a = place(c, part(a, cta * rows, rows), c.kind.a, c.a, 2048, ctas[cta]);
    mma.b = place(c, part(b, cta * columns, columns + c.shift), c.kind.b, c.b, 98304, ctas[cta]);
  }
  if (c.a_in_tensor) {
    mma.a_in_tensor = true;
    mma.a = c.lane << 16 | kA;
    put_tensor_a(c, a, ctas, kA);
  }
  const Scales scales{powers(c.m, 4, random), powers(c.n, 4, random)};
  if (c.kind.scale_vector != 0) {
    mma.a_scales = kScalesA | c.a_id << 30;
    mma.b_scales = kScalesB | c.b_id << 30;
    for (u32 cta = 0; cta < c.group; ++cta) {
      put_scales(c, scales.a, cta * (c.m / c.group), c.m / c.group, kScalesA, c.a_id, ctas[cta]);
      put_scales(c, scales.b, 0, c.n, kScalesB, c.b_id, ctas[cta]);
    }
  }
  const TensorMmaPlan planned = plan(mma, kSharedBytes);
  std::vector<CtaMemory> memory;
  for (Cta& cta : ctas) memory.push_back({cta.shared.data(), cta.tensor.data()});
  const auto before = ctas;
  mma.accumulate = false;
  execute(mma, planned.instruction, memory);
  const Values expected = expected_of(c, a, b, scales);
  u32 wrong = 0;
  for (u32 i = 0; i < c.m; ++i)
    for (u32 j = 0; j < c.n; ++j) wrong += read_d(c, ctas, i, j, kD) != expected.at(i, j) ? 1 : 0;
  CHECK(wrong == 0);
  mma.accumulate = true;
  mma.scale_input = c.scale_input;
  execute(mma, planned.instruction, memory);
  wrong = 0;
  for (u32 i = 0; i < c.m; ++i)
    for (u32 j = 0; j < c.n; ++j)
      wrong +=
          read_d(c, ctas, i, j, kD) != expected.at(i, j) * (1 + std::exp2(-static_cast<int>(c.scale_input))) ? 1 : 0;
  CHECK(wrong == 0);
  check_strays(planned, before, ctas);
}

}  // namespace

TEST_CASE("tcgen05.mma: every shape of one CTA and of two") {
  std::mt19937 random(1);
  for (u32 n = 8; n <= 256; n += 8) {
    CAPTURE(n);
    run_case({.kind = kBf16, .m = 64, .n = n}, random);
    if (n % 16 != 0) continue;
    run_case({.kind = kBf16, .m = 128, .n = n}, random);
    run_case({.kind = kBf16, .m = 128, .n = n, .group = 2}, random);
    run_case({.kind = kBf16, .m = 256, .n = n, .group = 2}, random);
  }
  run_case({.kind = kBf16, .m = 64, .n = 32, .lane = 16}, random);
  for (const u32 n : {64U, 128U, 256U})
    for (const u32 m : {32U, 64U, 128U}) run_case({.kind = kBf16, .m = m, .n = n, .stationary = true}, random);
}

TEST_CASE("tcgen05.mma: every kind and type") {
  std::mt19937 random(2);
  std::vector<Kind> kinds = {{MmaKind::f16, Format::f16, Format::f16, Format::f16, 16},
                             {MmaKind::f16, Format::f16, Format::f16, Format::f32, 16},
                             {MmaKind::tf32, Format::tf32, Format::tf32, Format::f32, 8}};
  const Format small[] = {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1};
  for (const Format a : small)
    for (const Format b : small) {
      for (const Format d : {Format::f16, Format::f32}) kinds.push_back({MmaKind::f8f6f4, a, b, d, 32});
      kinds.push_back({MmaKind::mxf8f6f4, a, b, Format::f32, 32, 1});
    }
  for (const Format a : {Format::u8, Format::s8})
    for (const Format b : {Format::u8, Format::s8}) kinds.push_back({MmaKind::i8, a, b, Format::s32, 32});
  kinds.push_back({MmaKind::mxf4, Format::e2m1, Format::e2m1, Format::f32, 64, 2});
  kinds.push_back({MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::f32, 64, 2});
  kinds.push_back({MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::f32, 64, 4});
  kinds.push_back({MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::f32, 64, 4, Format::ue4m3});
  for (const Kind& kind : kinds)
    for (const u32 group : {1U, 2U})
      for (const bool tensor : {false, true}) {
        CAPTURE(numeric::name_of(kind.a));
        CAPTURE(numeric::name_of(kind.b));
        CAPTURE(static_cast<int>(kind.kind));
        CAPTURE(group);
        CAPTURE(tensor);
        if ((tensor || group == 2) && kind.a != kind.b) continue;  // one combination of mixed types is sufficient
        run_case({.kind = kind, .m = 128 * group, .n = 32, .group = group, .a_in_tensor = tensor}, random);
        if (group == 2) run_case({.kind = kind, .m = 128, .n = 32, .group = group, .a_in_tensor = tensor}, random);
      }
}

TEST_CASE("tcgen05.mma: every layout of shared memory") {
  std::mt19937 random(3);
  for (const Kind& kind : {kBf16, Kind{MmaKind::f8f6f4, Format::e4m3, Format::e5m2, Format::f32, 32},
                           Kind{MmaKind::i8, Format::s8, Format::u8, Format::s32, 32}})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn})
        for (const u32 span : {16U, 32U, 64U, 128U}) {
          CAPTURE(span);
          run_case({.kind = kind, .m = 128, .n = 128, .a = {a, span}, .b = {b, span}}, random);
        }
  const Kind tf32 = {MmaKind::tf32, Format::tf32, Format::tf32, Format::f32, 8};
  const Layout wide = {Major::mn, 128, 32};
  for (const Layout& a : {Layout{}, wide})
    for (const Layout& b : {Layout{}, wide}) run_case({.kind = tf32, .m = 128, .n = 64, .a = a, .b = b}, random);
  run_case({.kind = kBf16, .m = 128, .n = 64, .a = {Major::k, 128, 32}, .b = {Major::k, 128, 32}}, random);
}

TEST_CASE("tcgen05.mma: A in tensor memory with every data path") {
  std::mt19937 random(4);
  run_case({.kind = kBf16, .m = 64, .n = 32, .a_in_tensor = true}, random);
  run_case({.kind = kBf16, .m = 64, .n = 32, .a_in_tensor = true, .lane = 16}, random);
  for (const u32 m : {32U, 64U, 128U})
    run_case({.kind = kBf16, .m = m, .n = 64, .stationary = true, .a_in_tensor = true}, random);
}

TEST_CASE("tcgen05.mma: negation, scaled input, scale factor ids, zero-column masks, disabled lanes") {
  std::mt19937 random(5);
  for (const bool a : {false, true})
    for (const bool b : {false, true}) run_case({.kind = kBf16, .negate_a = a, .negate_b = b}, random);
  for (const u32 scale : {1U, 2U}) run_case({.kind = kBf16, .scale_input = scale}, random);
  for (u32 id = 0; id < 4; ++id)
    run_case({.kind = {MmaKind::mxf8f6f4, Format::e4m3, Format::e4m3, Format::f32, 32, 1}, .a_id = id, .b_id = 3 - id},
             random);
  for (const u32 id : {0U, 2U})
    run_case({.kind = {MmaKind::mxf4, Format::e2m1, Format::e2m1, Format::f32, 64, 2}, .a_id = id, .b_id = 2 - id},
             random);
  for (const u32 m : {32U, 64U, 128U}) {
    const u64 mask = u64{1} << 39 | u64{2} << 40 | u64{3} << 48;  // four columns used, three zero
    run_case({.kind = kBf16, .m = m, .n = 64, .stationary = true, .zero_columns = mask}, random);
    run_case({.kind = kBf16, .m = m, .n = 64, .stationary = true, .zero_columns = mask | u64{8} << 56, .shift = 8},
             random);
  }
  Cta cta;
  TensorMma mma;
  const Case c = {.kind = kBf16};
  mma.instruction = instruction_of(c);
  mma.a = place(c, sample(128, 16, Format::bf16, random), Format::bf16, {}, 2048, cta);
  mma.b = place(c, sample(64, 16, Format::bf16, random), Format::bf16, {}, 98304, cta);
  mma.accumulate = false;
  mma.disabled_lanes = {0xffffffff, 0, 0x80000000, 1};
  const CtaMemory memory = {cta.shared.data(), cta.tensor.data()};
  execute(mma, plan(mma, kSharedBytes).instruction, {&memory, 1});
  for (u32 lane = 0; lane < 128; ++lane)
    CHECK((cta.word(lane, 0) == kPoison) == (lane < 32 || lane == 95 || lane == 96));
}

TEST_CASE("zero-column masks of the manual's examples") {
  // Example 4: M = 32, start counts {1, 2, 1, 0} from sub-mask 3 down, first spans {0, 0, 1, 1}.
  std::mt19937 random(6);
  const u64 bits = u64{0} | u64{1} << 8 | u64{2} << 16 | u64{1} << 24 | u64{3} << 32 | u64{1} << 39 | u64{2} << 40 |
                   u64{3} << 48 | u64{2} << 56;
  const char* const masks[] = {"00001110000111", "0000111000011", "111000011100",
                               "1110000111000"};  // highest column first
  Cta cta;
  const Case c = {.kind = kBf16, .m = 32, .n = 128, .stationary = true, .shift = 2};
  TensorMma mma;
  mma.form.weight_stationary = true;
  mma.instruction = instruction_of(c);
  Values ones(32, 16);
  Values b(130, 16);
  for (double& value : ones.data) value = 1;
  for (u32 j = 0; j < 130; ++j) b.at(j, 0) = j + 1;  // sums identify the column of B
  mma.a = place(c, ones, Format::bf16, {}, 2048, cta);
  mma.b = place(c, b, Format::bf16, {}, 98304, cta);
  mma.zero_columns = bits;
  mma.accumulate = false;
  const CtaMemory memory = {cta.shared.data(), cta.tensor.data()};
  execute(mma, plan(mma, kSharedBytes).instruction, {&memory, 1});
  for (u32 part = 0; part < 4; ++part) {
    const std::string mask = masks[part];
    for (u32 j = 0; j < mask.size(); ++j) {
      const bool zero = mask[mask.size() - 1 - j] == '1';
      const double expected = zero ? 0 : part * 32 + j + 2 + 1;
      CHECK(numeric::value_of(Format::f32, cta.word(part * 32, j)) == expected);
    }
  }
}

TEST_CASE("tcgen05.mma: bad descriptors and places are refused by kind") {
  const auto fault_of = [](auto change) {
    TensorMma mma;
    Case c = {.kind = kBf16};
    mma.instruction = instruction_of(c);
    mma.a = descriptor_of(0, 0, 1024, {});
    mma.b = descriptor_of(32768, 0, 1024, {});
    change(mma);
    try {
      plan(mma, kSharedBytes);
    } catch (const Fault& fault) {
      return fault.kind;
    }
    return FaultKind::trap;
  };
  CHECK(fault_of([](TensorMma&) {}) == FaultKind::trap);
  CHECK(fault_of([](TensorMma& m) { m.a &= ~(u64{1} << 46); }) == FaultKind::descriptor);
  CHECK(fault_of([](TensorMma& m) { m.a |= u64{3} << 61; }) == FaultKind::descriptor);
  CHECK(fault_of([](TensorMma& m) { m.b = descriptor_of(196608 - 1024, 0, 1024, {}); }) == FaultKind::bounds);
  CHECK(fault_of([](TensorMma& m) { m.instruction |= 4; }) == FaultKind::unsupported);
  CHECK(fault_of([](TensorMma& m) { m.instruction |= 2U << 7; }) == FaultKind::descriptor);
  CHECK(fault_of([](TensorMma& m) { m.instruction += 1U << 17; }) == FaultKind::descriptor);  // N = 72 with M = 128
  CHECK(fault_of([](TensorMma& m) { m.instruction += 1U << 24; }) == FaultKind::descriptor);  // M = 144
  CHECK(fault_of([](TensorMma& m) { m.instruction |= 1U << 29; }) == FaultKind::descriptor);
  CHECK(fault_of([](TensorMma& m) { m.d = 32U << 16; }) == FaultKind::tensor_memory);
  CHECK(fault_of([](TensorMma& m) { m.d = 480; }) == FaultKind::tensor_memory);
  CHECK(fault_of([](TensorMma& m) { m.form.cta_group = 2, m.instruction = (m.instruction & 0xffffff) | 4U << 24; }) ==
        FaultKind::descriptor);
}

TEST_CASE("instruction descriptors in use decode as they were meant") {
  const auto decoded = [](u32 bits, MmaForm form = {}) { return decode_instruction(form, bits); };
  CHECK(decoded(0x08400490).n == 256);
  CHECK(decoded(0x08400490).a == Format::bf16);
  CHECK(decoded(0x08200490).m == 128);
  CHECK(decoded(0x10400490, {.cta_group = 2}).m == 256);
  CHECK(decoded(0x08400010).b == Format::f16);
  CHECK(decoded(0x08400910, {.kind = MmaKind::tf32}).a == Format::tf32);
  CHECK(decoded(0x08400010, {.kind = MmaKind::f8f6f4}).a == Format::e4m3);
  CHECK(decoded(0x08a00000, {.kind = MmaKind::mxf8f6f4, .scale_vector = 1}).scale == Format::ue8m0);
  CHECK(decoded(0x08200480, {.kind = MmaKind::mxf4nvf4, .scale_vector = 4}).scale == Format::ue4m3);
  CHECK(decoded(0x08410490).b_major == Major::mn);
  CHECK(decoded(0x08408490).a_major == Major::mn);
}
