// Plans written by hand, for tests of what comes after planning.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <tma_jit/plan.h>

namespace tma_jit::testing {

template <class Value> std::vector<std::byte> bytes_of(const Value& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// A bf16 matrix with a box of 64 by 64 elements, swizzled over 128 bytes.
inline Argument boxed(std::string name, std::uint64_t address, std::uint64_t rows, std::uint64_t columns) {
  Argument argument;
  argument.kind = Argument::Kind::tensor_map;
  argument.name = std::move(name);
  argument.alignment = 64;
  argument.image.resize(128);
  argument.dtype = DType::bf16;
  argument.address = address;
  argument.address_alignment = 16;
  argument.shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  argument.strides = {static_cast<std::int64_t>(columns), 1};
  if (rows == 0 || columns == 0) return argument;
  TensorMapSpec spec;
  spec.dtype = DType::bf16;
  spec.rank = 2;
  spec.dims = {columns, rows};
  spec.strides = {columns * 2};
  spec.box = {64, 64};
  spec.swizzle = Swizzle::b128;
  argument.map = spec;
  return argument;
}

// A packed f32 vector, as a View<f32, 1>.
inline Argument viewed(std::string name, std::uint64_t address, std::int64_t extent) {
  struct View {
    std::uint64_t data;
    long long stride;
  };
  Argument argument;
  argument.kind = Argument::Kind::view;
  argument.name = std::move(name);
  argument.image = bytes_of(View{address, 1});
  argument.address = address;
  argument.address_alignment = 4;
  argument.shape = {extent};
  argument.strides = {1};
  return argument;
}

inline Argument workspace(std::string name, std::uint64_t bytes, bool zeroed) {
  Argument argument;
  argument.kind = Argument::Kind::workspace;
  argument.name = std::move(name);
  argument.image.resize(8);
  argument.workspace_bytes = bytes;
  argument.workspace_zeroed = zeroed;
  argument.address_alignment = 256;
  return argument;
}

template <class Value> Argument valued(Argument::Kind kind, std::string name, const Value& value) {
  Argument argument;
  argument.kind = kind;
  argument.name = std::move(name);
  argument.alignment = alignof(Value);
  argument.image = bytes_of(value);
  return argument;
}

inline Plan plan_of(std::vector<Argument> arguments) {
  Plan plan;
  plan.kernel = "gemm";
  plan.entry = "gemm";
  plan.arch = "sm_90a";
  plan.arguments = std::move(arguments);
  plan.geometry.grid = {132, 1, 1};
  plan.geometry.block = {384, 1, 1};
  return plan;
}

}  // namespace tma_jit::testing
