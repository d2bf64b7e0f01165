// What the encoders of tensor maps and tensormap.replace refuse, and the reductions of tensor copies.
#include <array>
#include <tuple>

#include <doctest/doctest.h>

#include "emulator/fault.h"
#include "emulator/tensor/encode.h"
#include "emulator/tensor/transfer.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::tensor;

TEST_CASE("every documented demand of the encoders is checked") {
  std::array<u64, 5> dims{128, 64, 4, 2, 2};
  std::array<u64, 4> strides{256, 16384, 65536, 131072};
  std::array<u32, 5> box{64, 8, 1, 1, 1};
  std::array<u32, 5> steps{1, 1, 1, 1, 1};
  EncodeArguments good = {.data_type = 9,
                          .rank = 2,
                          .address = 4096,
                          .dims = dims.data(),
                          .strides = strides.data(),
                          .element_strides = steps.data(),
                          .swizzle = 3};
  TensorMap map;
  const auto refused = [&](const EncodeArguments& arguments) {
    return !encode_tiled(arguments, box.data(), map).empty();
  };
  const auto with = [&](auto change) {
    const auto saved = std::tuple(dims, strides, box, steps);
    EncodeArguments arguments = good;
    change(arguments);
    const bool result = refused(arguments);
    std::tie(dims, strides, box, steps) = saved;
    return result;
  };
  CHECK(!refused(good));
  CHECK(with([](auto& a) { a.rank = 0; }));
  CHECK(with([](auto& a) { a.rank = 6; }));
  CHECK(with([](auto& a) { a.data_type = 16; }));
  CHECK(with([](auto& a) { a.swizzle = 7; }));
  CHECK(with([](auto& a) { a.interleave = 3; }));
  CHECK(with([](auto& a) { a.interleave = 1; }));  // rank 2
  CHECK(with([](auto& a) { a.fill = 2; }));
  CHECK(with([](auto& a) { a.fill = 1, a.data_type = 2; }));  // NaN for integers
  CHECK(with([](auto& a) { a.address = 4104; }));
  CHECK(with([&](auto&) { dims[1] = 0; }));
  CHECK(with([&](auto&) { dims[1] = (u64{1} << 32) + 1; }));
  CHECK(with([&](auto&) { strides[0] = 264; }));
  CHECK(with([&](auto&) { strides[0] = u64{1} << 40; }));
  CHECK(with([&](auto&) { box[1] = 0; }));
  CHECK(with([&](auto&) { box[1] = 257; }));
  CHECK(with([&](auto&) { box[0] = 72; }));  // wider than the swizzle
  CHECK(with([&](auto&) { box[0] = 4; }));   // 8 bytes
  CHECK(with([&](auto&) { steps[1] = 0; }));
  CHECK(with([&](auto&) { steps[1] = 9; }));
  CHECK(!with([&](auto&) { steps[0] = 9; }));  // ignored by the driver
  CHECK(with([&](auto& a) {
    a.data_type = 14, box[0] = 128;
    strides[0] = 48;
    a.swizzle = 0;
  }));  // stride of 32
  CHECK(with([&](auto& a) { a.data_type = 14, box[0] = 64, a.swizzle = 0; }));
  CHECK(with([&](auto& a) { a.data_type = 14, box[0] = 128, a.swizzle = 2; }));
  CHECK(with([&](auto& a) { a.data_type = 15, box[0] = 128, dims[0] = 130, a.swizzle = 0; }));
  int lower[3] = {-129, 0, 0};
  int upper[3] = {0, 0, 0};
  good.rank = 4;
  CHECK(!encode_im2col(good, {lower, upper, 64, 16}, map).empty());
  lower[0] = -1;
  CHECK(encode_im2col(good, {lower, upper, 64, 16}, map).empty());
  CHECK(!encode_im2col(good, {lower, upper, 64, 1025}, map).empty());
  CHECK(!encode_im2col(good, {lower, upper, 257, 16}, map).empty());
}

TEST_CASE("tensormap.replace edits a map or builds one in zeroed memory; rubbish is refused") {
  alignas(128) u8 bytes[128] = {};
  CHECK_THROWS_AS(read_map(bytes), Fault);
  replace(bytes, Field::rank, 0, 1);
  replace(bytes, Field::elemtype, 0, 10);
  replace(bytes, Field::global_address, 0, 65536);
  for (const u32 d : {0U, 1U}) {
    replace(bytes, Field::box_dim, d, d == 0 ? 64 : 8);
    replace(bytes, Field::global_dim, d, 100 + d);
    replace(bytes, Field::element_stride, d, 1);
  }
  replace(bytes, Field::global_stride, 0, 208);
  replace(bytes, Field::swizzle_mode, 0, 3);
  const TensorMap map = read_map(bytes);
  CHECK(map.rank == 2);
  CHECK(map.element == ElementType::bf16);
  CHECK(map.dims[1] == 101);
  CHECK(map.strides[0] == 208);
  replace(bytes, Field::global_stride, 0, 209);
  CHECK_THROWS_AS(read_map(bytes), Fault);
  CHECK_THROWS_AS(replace(bytes, Field::box_dim, 5, 1), Fault);
  CHECK_THROWS_AS(replace(bytes, Field::swizzle_mode, 0, 4), Fault);
  bytes[0] ^= 1;
  CHECK_THROWS_AS(replace(bytes, Field::rank, 0, 1), Fault);
}

TEST_CASE("reductions combine element by element") {
  using numeric::Format;
  const auto reduce_one = [](Reduction reduction, Format format, auto target, auto source) {
    reduce(reduction, format, reinterpret_cast<u8*>(&target), reinterpret_cast<const u8*>(&source), sizeof target);
    return target;
  };
  CHECK(reduce_one(Reduction::add, Format::u32, 0xffffffffU, 2U) == 1);
  CHECK(reduce_one(Reduction::min, Format::s32, -5, 3) == -5);
  CHECK(reduce_one(Reduction::max, Format::u32, 0xfffffff0U, 3U) == 0xfffffff0U);
  CHECK(reduce_one(Reduction::inc, Format::u32, 7U, 7U) == 0);
  CHECK(reduce_one(Reduction::inc, Format::u32, 6U, 7U) == 7);
  CHECK(reduce_one(Reduction::dec, Format::u32, 0U, 7U) == 7);
  CHECK(reduce_one(Reduction::dec, Format::u32, 9U, 7U) == 7);
  CHECK(reduce_one(Reduction::bitwise_and, Format::u64, u64{12}, u64{10}) == 8);
  CHECK(reduce_one(Reduction::bitwise_or, Format::s64, s64{12}, s64{10}) == 14);
  CHECK(reduce_one(Reduction::bitwise_xor, Format::u64, u64{12}, u64{10}) == 6);
  CHECK(reduce_one(Reduction::add, Format::f32, 1.5F, 2.25F) == 3.75F);
  CHECK(reduce_one(Reduction::add, Format::f32, 0x1p-140F, 0.0F) == 0.0F);  // flushed
  CHECK(reduce_one(Reduction::add, Format::f64, 1.5, 2.25) == 3.75);
  CHECK(reduce_one(Reduction::add, Format::bf16, u16{0x3f80}, u16{0x4000}) == 0x4040);
  CHECK(reduce_one(Reduction::add, Format::f16, u16{0x0001}, u16{0x0001}) == 2);  // subnormals stay
  CHECK(reduce_one(Reduction::max, Format::f16, u16{0x7fff}, u16{0x3c00}) == 0x3c00);
  CHECK(reduce_one(Reduction::min, Format::bf16, u16{0xbf80}, u16{0x3f80}) == 0xbf80);
  CHECK_THROWS_AS(reduce_one(Reduction::min, Format::f32, 1.0F, 2.0F), Fault);
  CHECK_THROWS_AS(reduce_one(Reduction::inc, Format::s32, 1, 2), Fault);
}
