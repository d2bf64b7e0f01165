#include "plan/tensor_map_rules.h"

#include <doctest/doctest.h>

namespace tma_jit::planning {
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
  CHECK(after([](TensorMapSpec& s) { s.strides[0] = 0; }) ==
        "A: stride 0 is 0 where the dimension has 1024 elements; copy the tensor to a packed one");
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
  CHECK(after([](TensorMapSpec& s) { s.interleave = Interleave::b32; }, rank3()) ==
        "A: interleave 32 needs swizzle 32, not 128");
}

TEST_CASE("steps") {
  CHECK(after([](TensorMapSpec& s) { s.element_strides[1] = 9; }) ==
        "A: steps [9, 1] has 9 in dimension 0; each takes 1 to 8");
  CHECK(after([](TensorMapSpec& s) { s.element_strides[0] = 0; }) ==
        "A: steps [1, 0] has 0 in dimension 1; each takes 1 to 8");
  TensorMapSpec strided = sound();
  strided.element_strides = {1, 2};
  CHECK(box_bytes(strided) == 64 * 64 * 2);
}

TEST_CASE("NaN fill is for floating-point elements that the driver knows as such") {
  CHECK(after([](TensorMapSpec& s) { s.fill = Fill::nan; }) == "sound");
  const auto filled = [](DType type) {
    return after([type](TensorMapSpec& s) { s.fill = Fill::nan, s.dtype = type, s.box[0] = 16; });
  };
  CHECK(filled(DType::s32) == "A: fill nan needs f16, bf16, f32 or f64 elements, not s32");
  CHECK(filled(DType::e4m3) == "A: fill nan needs f16, bf16, f32 or f64 elements, not e4m3, which TMA takes for u8");
}

}  // namespace tma_jit::planning
