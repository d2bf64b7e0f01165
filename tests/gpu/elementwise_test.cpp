// map and copy against what the host computes: vectors and rows of every length, pitch, address and type.
#include <array>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tma_jit/tma_jit.h>

#include "gpu/kernel_run.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("map agrees with float64 for vectors of every length, type and alignment") {
  Engine engine;
  const char* const expressions[] = {"2 * a + 1", "a + b", "a * b - c", "a + b * c - d"};
  const std::pair<DType, DType> types[] = {{DType::f32, DType::f32}, {DType::bf16, DType::bf16},
                                           {DType::f16, DType::f32}, {DType::f32, DType::bf16},
                                           {DType::f64, DType::f64}, {DType::bf16, DType::f16}};
  for (const auto& pair : types) {
    const DType in = pair.first, out = pair.second;
    for (const std::int64_t n : {0, 1, 7, 255, 4096, 100003}) {
      for (const std::int64_t offset : {0, 1, 4}) {
        for (int inputs = 1; inputs <= 4; ++inputs) {
          std::vector<HostTensor> tensors;
          const Layout2D layout{1, n, 0, offset};
          for (int i = 0; i < inputs; ++i) {
            tensors.emplace_back(in, layout);
            tensors.back().fill_random(10 + static_cast<std::uint64_t>(i));
          }
          tensors.emplace_back(out, layout);
          Request request{.kernel = "map", .hooks = {{"apply", expressions[inputs - 1]}}};
          for (int i = 0; i <= inputs; ++i) {
            require_ok(tensors[static_cast<std::size_t>(i)].send(engine));
            request.tensors.push_back(
                {i == inputs ? "Y" : std::string(1, "ABCD"[i]), tensors[static_cast<std::size_t>(i)].vector()});
          }
          run(engine, request);
          require_ok(tensors.back().fetch());
          const auto expected = [&](std::int64_t, std::int64_t i) {
            const auto x = [&](std::size_t input) { return tensors[input].at(0, i); };
            if (inputs == 1) return 2 * x(0) + 1;
            if (inputs == 2) return x(0) + x(1);
            if (inputs == 3) return x(0) * x(1) - x(2);
            return x(0) + x(1) * x(2) - x(3);
          };
          const std::string disagreement =
              tensors.back().compare(expected, unit_roundoff(out) * 1.01, in == DType::f64 ? 1e-14 : 4e-6);
          CHECK_MESSAGE(disagreement.empty(), fmt::format("{}->{} n {} offset {} inputs {}: {}", name_of(in),
                                                          name_of(out), n, offset, inputs, disagreement));
        }
      }
    }
  }
}

TEST_CASE("map agrees with float64 for rows at any pitch") {
  Engine engine;
  for (const auto& [rows, columns, pitch, offset] : {std::array<std::int64_t, 4>{1, 1, 1, 0},
                                                     {3, 5, 7, 1},
                                                     {17, 129, 132, 4},
                                                     {100, 64, 64, 0},
                                                     {0, 5, 5, 0},
                                                     {5, 0, 8, 0},
                                                     {33, 1000, 1001, 3}}) {
    HostTensor a(DType::f32, {rows, columns, pitch, offset}), b(DType::f32, {rows, columns, pitch + 4, 0}),
        y(DType::bf16, {rows, columns, pitch + 1, offset});
    a.fill_random(5);
    b.fill_random(6);
    for (HostTensor* tensor : {&a, &b, &y}) require_ok(tensor->send(engine));
    run(engine, {.kernel = "map",
                 .tensors = {{"A", a.matrix()}, {"B", b.matrix()}, {"Y", y.matrix()}},
                 .hooks = {{"apply", "a * b"}}});
    require_ok(y.fetch());
    CHECK(y.compare([&](std::int64_t row, std::int64_t column) { return a.at(row, column) * b.at(row, column); },
                    0x1.01p-8, 1e-30) == "");
  }
}

TEST_CASE("copy is exact for vectors of every type, length and alignment") {
  Engine engine;
  for (const DType type : {DType::u8, DType::u16, DType::s32, DType::bf16, DType::f32, DType::f64, DType::e4m3}) {
    for (const std::int64_t n : {0, 1, 15, 16, 17, 8191, 8192, 100003}) {
      for (const std::int64_t offset : {0, 1, 2, 16}) {
        HostTensor s(type, {1, n, 0, offset}), d(type, {1, n, 0, offset});
        s.fill_random(7);
        for (HostTensor* tensor : {&s, &d}) require_ok(tensor->send(engine));
        run(engine, {.kernel = "copy", .tensors = {{"S", s.vector()}, {"D", d.vector()}}});
        require_ok(d.fetch());
        CHECK(d.compare([&](std::int64_t, std::int64_t i) { return s.at(0, i); }, 0, 0) == "");
      }
    }
  }
}

TEST_CASE("copy is exact for rows at any pitch that TMA can walk") {
  Engine engine;
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    const auto chunk = static_cast<std::int64_t>(16 / size_of(type));
    for (const auto& [rows, columns] :
         {std::array<std::int64_t, 2>{1, 1}, {3, 5}, {33, 257}, {100, 1000}, {31, 512}, {0, 3}, {3, 0}, {65, 129}}) {
      HostTensor s(type, {rows, columns, padded(columns, type) + chunk, chunk}),
          d(type, {rows, columns, padded(columns, type) + 2 * chunk, 0});
      s.fill_random(8);
      for (HostTensor* tensor : {&s, &d}) require_ok(tensor->send(engine));
      run(engine, {.kernel = "copy", .tensors = {{"S", s.matrix()}, {"D", d.matrix()}}});
      require_ok(d.fetch());
      CHECK(d.compare([&](std::int64_t row, std::int64_t column) { return s.at(row, column); }, 0, 0) == "");
    }
  }
}

TEST_CASE("copy is exact for rows at any pitch and address") {
  Engine engine;
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    for (const auto& [rows, columns] :
         {std::array<std::int64_t, 2>{1, 1}, {3, 5}, {33, 257}, {100, 1000}, {31, 512}, {0, 3}, {3, 0}, {9, 9001}}) {
      for (const auto& [from, to] : {std::array<std::int64_t, 2>{0, 0}, {1, 0}, {0, 3}, {5, 2}, {7, 7}}) {
        HostTensor s(type, {rows, columns, columns + from, from}), d(type, {rows, columns, columns + to, to});
        s.fill_random(8);
        for (HostTensor* tensor : {&s, &d}) require_ok(tensor->send(engine));
        run(engine, {.kernel = "copy", .tensors = {{"S", s.matrix()}, {"D", d.matrix()}}, .file = "copy_rows"});
        require_ok(d.fetch());
        CHECK(d.compare([&](std::int64_t row, std::int64_t column) { return s.at(row, column); }, 0, 0) == "");
      }
    }
  }
}

}  // namespace tma_jit
