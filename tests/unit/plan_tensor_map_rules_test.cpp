#include "plan/tensor_map_rules.h"

#include <doctest/doctest.h>

namespace tma_jit::plan {
namespace {

// bf16[1024, 512] in boxes of [128, 64], 128-byte swizzle: breaks no rule.
TensorMapSpec sound() {
  TensorMapSpec spec;
  spec.dtype = DType::bf16;
  spec.rank = 2;
  spec.dims = {512, 1024};
  spec.strides = {1024};
  spec.box = {64, 128};
  spec.swizzle = Swizzle::b128;
  return spec;
}

TensorMapSpec rank3() {
  TensorMapSpec spec = sound();
  spec.rank = 3;
  spec.dims = {64, 32, 16};
  spec.strides = {128, 4096};
  spec.box = {64, 8, 2};
  return spec;
}

std::string fault(const TensorMapSpec& spec, std::uint64_t address = 4096) {
  const Result<void> checked = check_tensor_map(spec, {address, 90}, "A");
  if (checked.has_value()) return "sound";
  CHECK(checked.error().code == ErrorCode::invalid_argument);
  return checked.error().message;
}

template <class Change> std::string after(Change change, TensorMapSpec spec = sound()) {
  change(spec);
  return fault(spec);
}

}  // namespace

TEST_CASE("a sound tensor map passes, with an address and without") {
  CHECK(fault(sound()) == "sound");
  CHECK(fault(sound(), 0) == "sound");
  CHECK(fault(rank3()) == "sound");
  CHECK(after([](TensorMapSpec& s) { s.dims[1] = std::uint64_t{1} << 32; }) == "sound");
}

TEST_CASE("strides need not grow outwards: overlapping and permuted tensors are the driver's business") {
  CHECK(after([](TensorMapSpec& s) { s.strides = {4096, 128}; }, rank3()) == "sound");
}

TEST_CASE("rank") {
  CHECK(after([](TensorMapSpec& s) { s.rank = 0; }) ==
        "A: a tensor map has 1 to 5 dimensions, this one 0; merge dimensions");
  CHECK(after([](TensorMapSpec& s) { s.rank = 6; }) ==
        "A: a tensor map has 1 to 5 dimensions, this one 6; merge dimensions");
  CHECK(after([](TensorMapSpec& s) { s.interleave = Interleave::b16; }) ==
        "A: an interleaved tensor map has at least 3 dimensions, this one 2");
}

TEST_CASE("address") {
  CHECK(fault(sound(), 0x1008) == "A: address 0x1008 is not a multiple of 16 bytes; it is 8 bytes past one");
  CHECK(fault(sound(), (std::uint64_t{1} << 57) - 16) == "sound");
  CHECK(fault(sound(), std::uint64_t{1} << 57) ==
        "A: address 0x200000000000000 is not below 2^57, where addresses end");
  TensorMapSpec interleaved = rank3();
  interleaved.interleave = Interleave::b32;
  interleaved.swizzle = Swizzle::b32;
  CHECK(fault(interleaved, 0x1010) == "A: address 0x1010 is not a multiple of 32 bytes; it is 16 bytes past one");
  CHECK(fault(interleaved, 0x1020) == "sound");
}

TEST_CASE("extents") {
  CHECK(after([](TensorMapSpec& s) { s.dims[0] = 0; }) ==
        "A: dimension 1 has 0 elements; a tensor map takes 1 to 2^32");
  CHECK(after([](TensorMapSpec& s) { s.dims[1] = (std::uint64_t{1} << 32) + 1; }) ==
        "A: dimension 0 has 4294967297 elements; a tensor map takes 1 to 2^32");
}

TEST_CASE("strides") {
  CHECK(after([](TensorMapSpec& s) { s.strides[0] = 8194; }) ==
        "A: stride 0 is 4097 elements of bf16 = 8194 bytes, not a multiple of 16; pad the pitch to 4104 elements");
  CHECK(after([](TensorMapSpec& s) { s.strides[0] = 1025; }) ==
        "A: stride 0 is 1025 bytes, not a multiple of 16; pad the pitch to 1040 bytes");
  CHECK(after([](TensorMapSpec& s) { s.strides[0] = std::uint64_t{1} << 40; }) ==
        "A: stride 0 is 1099511627776 bytes; a tensor map takes less than 2^40");
  CHECK(after([](TensorMapSpec& s) { s.strides[0] = 0; }) == "sound");
  TensorMapSpec interleaved = rank3();
  interleaved.interleave = Interleave::b32;
  interleaved.swizzle = Swizzle::b32;
  interleaved.strides[1] = 4112;
  CHECK(fault(interleaved) ==
        "A: stride 0 is 2056 elements of bf16 = 4112 bytes, not a multiple of 32; pad the pitch to 2064 elements");
}

TEST_CASE("box") {
  CHECK(after([](TensorMapSpec& s) { s.box[1] = 257; }) ==
        "A: box [257, 64] of bf16 has 257 elements in dimension 0; each takes 1 to 256");
  CHECK(after([](TensorMapSpec& s) { s.box[0] = 0; }) ==
        "A: box [128, 0] of bf16 has 0 elements in dimension 1; each takes 1 to 256");
  CHECK(after([](TensorMapSpec& s) { s.box[0] = 12; }) ==
        "A: box [128, 12] of bf16 is 24 bytes wide, not a multiple of 16; make its last extent 16");
  CHECK(after(
            [](TensorMapSpec& s) {
              s.box = {64, 256, 8};
            },
            rank3()) == "A: box [8, 256, 64] of bf16 is 262144 bytes; the shared memory of a block holds 232448");
}

TEST_CASE("swizzle, interleave") {
  CHECK(after([](TensorMapSpec& s) { s.box[0] = 96; }) ==
        "A: box [128, 96] at swizzle 128 is 192 bytes wide, limit 128");
  CHECK(after([](TensorMapSpec& s) { s.swizzle = Swizzle::b64; }) ==
        "A: box [128, 64] at swizzle 64 is 128 bytes wide, limit 64");
  CHECK(after([](TensorMapSpec& s) { s.interleave = Interleave::b32; }, rank3()) == "sound");
  CHECK(after([](TensorMapSpec& s) { s.interleave = Interleave::b16, s.box[0] = 256; }, rank3()) == "sound");
  CHECK(after([](TensorMapSpec& s) { s.interleave = Interleave::b16, s.box[0] = 12; }, rank3()) ==
        "A: box [2, 8, 12] of bf16 is 24 bytes wide, not a multiple of 16; make its last extent 16");
}

namespace {

// 32 pixels of 8 channels of s32[16, 20, 64], one pixel of padding on the left.
TensorMapSpec column() {
  TensorMapSpec spec;
  spec.dtype = DType::s32;
  spec.mode = MapMode::im2col;
  spec.rank = 3;
  spec.dims = {64, 20, 16};
  spec.strides = {256, 5120};
  spec.box = {8, 32};
  spec.lower = {-1};
  return spec;
}

// The same for a device that has every mode.
std::string on_blackwell(TensorMapSpec spec) {
  const Result<void> checked = check_tensor_map(spec, {4096, 100}, "A");
  return checked.has_value() ? "sound" : checked.error().message;
}

}  // namespace

TEST_CASE("channels and pixels") {
  CHECK(fault(column()) == "sound");
  CHECK(after([](TensorMapSpec& s) { s.box[1] = 1025; }, column()) ==
        "A: box [1025, 8] of s32 has 1025 pixels; an im2col map takes 1 to 1024");
  CHECK(after([](TensorMapSpec& s) { s.box[0] = 257; }, column()) ==
        "A: box [32, 257] of s32 has 257 channels; an im2col map takes 1 to 256");
  CHECK(after([](TensorMapSpec& s) { s.rank = 2; }, column()) ==
        "A: an im2col map has 3 to 5 dimensions, this one 2; add dimensions of extent 1");
}

TEST_CASE("corners") {
  CHECK(after([](TensorMapSpec& s) { s.lower[0] = -32769; }, column()) ==
        "A: the lower corner [-32769] has -32769 along W; an im2col map of 3 dimensions takes -32768 to 32767");
  CHECK(after([](TensorMapSpec& s) { s.lower[0] = 19; }, column()) == "sound");
  CHECK(after([](TensorMapSpec& s) { s.lower[0] = 20; }, column()) ==
        "A: the corners leave no pixel along W: 20 in the tensor, from 20 at the first to 0 at the last");
  CHECK(after([](TensorMapSpec& s) { s.dims[1] = std::uint64_t{1} << 31; }, column()) ==
        "A: an im2col map has 2147483648 pixels along W; the driver takes less than 2^31");
}

TEST_CASE("an interleaved map's corners are held against the dimensions one further in, as the driver does") {
  const auto interleaved = [](TensorMapSpec& s) { s.interleave = Interleave::b16, s.lower[0] = 20; };
  CHECK(after(interleaved, column()) == "sound");
  TensorMapSpec narrow = column();
  narrow.dims[0] = 16;
  CHECK(after(interleaved, narrow) ==
        "A: the corners leave no pixel along W: 16 in the tensor, from 20 at the first to 0 at the last");
}

TEST_CASE("the wide modes") {
  TensorMapSpec wide = column();
  wide.mode = MapMode::im2col_w;
  wide.swizzle = Swizzle::b64;
  CHECK(on_blackwell(wide) == "sound");
  CHECK(fault(wide) == "A: im2col_w needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a; this device is sm_90");
  TensorMapSpec rank4 = wide;
  rank4.rank = 4;
  rank4.dims = {64, 20, 16, 4};
  rank4.strides = {256, 5120, 81920};
  CHECK(on_blackwell(rank4) == "sound");
  rank4.lower[0] = -129;
  CHECK(on_blackwell(rank4) ==
        "A: the lower corner [-129] has -129 along W; an im2col_w map of 4 dimensions takes -128 to 127");
  wide.mode = MapMode::im2col_w128;
  CHECK(on_blackwell(wide) == "A: box [32, 8] of s32 has 32 pixels; im2col_w128 moves 128");
}

TEST_CASE("steps") {
  CHECK(after([](TensorMapSpec& s) { s.element_strides[1] = 9; }) ==
        "A: steps [9, 1] has 9 in dimension 0; each takes 1 to 8");
  CHECK(after([](TensorMapSpec& s) { s.element_strides[0] = 0; }) ==
        "A: steps [1, 0] has 0 in dimension 1; each takes 1 to 8");
  CHECK(after([](TensorMapSpec& s) { s.element_strides[0] = 2; }) ==
        "A: steps [1, 2] has 2 in dimension 1, the innermost, whose steps TMA ignores; make it 1");
}

TEST_CASE("a box brings each extent divided by its step, rounded up; the innermost has no steps") {
  TensorMapSpec strided = sound();
  strided.element_strides = {1, 2};
  CHECK(box_bytes(strided) == 64 * 64 * 2);
  strided.box[1] = 8;
  strided.element_strides = {1, 3};
  CHECK(box_bytes(strided) == 64 * 3 * 2);
  strided.element_strides = {3, 3};
  CHECK(box_bytes(strided) == 64 * 3 * 2);
}

TEST_CASE("NaN fill is for floating-point elements that the driver knows as such") {
  CHECK(after([](TensorMapSpec& s) { s.fill = Fill::nan; }) == "sound");
  const auto filled = [](DType type) {
    return after([type](TensorMapSpec& s) { s.fill = Fill::nan, s.dtype = type, s.box[0] = 16; });
  };
  CHECK(filled(DType::s32) == "A: fill nan needs f16, bf16, f32 or f64 elements, not s32");
  CHECK(filled(DType::e4m3) == "A: fill nan needs f16, bf16, f32 or f64 elements, not e4m3, which TMA takes for u8");
}

}  // namespace tma_jit::plan
