// .npy files: what numpy writes is read, what is not ours is refused with words.
#include "npy.h"

#include <cstring>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "command.h"
#include "npy_header.h"
#include "output_file.h"
#include "support/temporary_folder.h"

namespace tma_jit::cli {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

// A file of format 1.0 with this dictionary and this many bytes of data.
std::vector<std::byte> file_with(const std::string& dictionary, std::size_t data, char major = 1) {
  std::string text = "\x93NUMPY";
  text += major;
  text += '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  if (major > 1) text += std::string(2, '\0');
  return bytes_of(text + dictionary + std::string(data, '\x01'));
}

std::string refusal(const std::vector<std::byte>& file) {
  const auto array = parse_npy(file, "a.npy");
  REQUIRE_FALSE(array.has_value());
  return array.error().text();
}

TEST_CASE("a file as numpy writes it") {
  const auto array =
      parse_npy(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", 48), "a.npy");
  REQUIRE(array.has_value());
  CHECK(array->dtype == DType::f32);
  CHECK(array->shape == std::vector<std::int64_t>{3, 4});
  CHECK(array->bytes.size() == 48);
}

TEST_CASE("formats 2.0 and 3.0, scalars, vectors and empty arrays") {
  for (const char major : {'\x02', '\x03'}) {
    const auto array =
        parse_npy(file_with("{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }\n", 5, major), "a.npy");
    REQUIRE(array.has_value());
    CHECK(array->shape == std::vector<std::int64_t>{5});
  }
  CHECK(parse_npy(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8), "a.npy")->shape.empty());
  CHECK(parse_npy(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7)}", 0), "a.npy")->bytes.empty());
}

TEST_CASE("a vector in Fortran order is a vector") {
  CHECK(parse_npy(file_with("{'descr': '<i2', 'fortran_order': True, 'shape': (2,)}", 4), "a.npy").has_value());
}

TEST_CASE("writing and reading give the same array") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "array.npy";
  for (const DType type : {DType::u8, DType::s8, DType::u16, DType::s16, DType::u32, DType::s32, DType::u64, DType::s64,
                           DType::f16, DType::bf16, DType::f32, DType::f64, DType::e4m3, DType::e5m2}) {
    std::vector<std::byte> data(6 * size_of(type));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
    const std::vector<std::int64_t> shape = {2, 3};
    REQUIRE(write_npy(path, type, shape, data).has_value());
    CHECK(npy_header(type, shape).size() % 64 == 0);
    const auto array = read_npy(path);
    REQUIRE(array.has_value());
    CAPTURE(name_of(type));
    CHECK(holds(*array, type));
    CHECK(array->shape == shape);
    CHECK(array->bytes == data);
  }
}

TEST_CASE("raw bits stand for types numpy lacks, and for nothing else") {
  Array u16{DType::u16, false, {}, {}};
  CHECK(holds(u16, DType::bf16));
  CHECK(holds(u16, DType::u16));
  CHECK_FALSE(holds(u16, DType::f16));
  CHECK_FALSE(holds(u16, DType::e4m3));
  Array opaque{DType::u16, true, {}, {}};
  CHECK(holds(opaque, DType::bf16));
  CHECK_FALSE(holds(opaque, DType::u16));
  const auto v2 = parse_npy(file_with("{'descr': '|V2', 'fortran_order': False, 'shape': (1,)}", 2), "a.npy");
  REQUIRE(v2.has_value());
  CHECK(v2->opaque);
}

TEST_CASE("what is refused says why") {
  CHECK(refusal(bytes_of("hello, world")) ==
        "invalid_argument: a.npy: not a .npy file (its first bytes are not \\x93NUMPY)");
  CHECK(refusal(bytes_of("\x93NUM")) ==
        "invalid_argument: a.npy: not a .npy file (its first bytes are not \\x93NUMPY)");
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4)}", 48)) ==
        "invalid_argument: a.npy: Fortran order; write it with numpy.ascontiguousarray");
  CHECK(refusal(file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (3,)}", 12))
            .find("big-endian elements ('>f4')") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", 24)) ==
        "invalid_argument: a.npy: an array of Python objects ('|O') cannot be read");
  CHECK(refusal(file_with("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8)).find("'<c8' is none of") !=
        std::string::npos);
  CHECK(refusal(file_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4))
            .find("structured element types are not supported") != std::string::npos);
}

TEST_CASE("headers that lie") {
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", 47)) ==
        "invalid_argument: a.npy: shape [3, 4] of 4-byte elements is 48 bytes, the file holds 47");
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", 49)).find("the file holds 49") !=
        std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 8))
            .find("is more than 2^63 bytes") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4))
            .find("expected an extent at byte") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4))
            .find("expected an extent") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f4', 'shape': (1,)}", 4)).find("is missing") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4))
            .find("unexpected key \"descr\"") != std::string::npos);
  CHECK(refusal(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} import os", 4))
            .find("text after the dictionary") != std::string::npos);
}

TEST_CASE("truncated anywhere, a file is refused and never read past its end") {
  const std::vector<std::byte> whole = file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 48);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(parse_npy(std::span(whole).first(size), "a.npy").has_value());
  for (std::size_t at = 0; at < whole.size() - 48; ++at) {  // any byte of the header may be anything
    for (const int value : {0, 0x27, 0x28, 0xff}) {
      std::vector<std::byte> changed = whole;
      changed[at] = static_cast<std::byte>(value);
      (void)parse_npy(changed, "a.npy");
    }
  }
}

TEST_CASE("files that cannot be read or written") {
  const std::string missing = missing_file("a");
  CHECK(read_npy(missing).error().text() == "io: " + missing + ": no such file");
  CHECK(read_npy("/").error().text() == "io: /: not a regular file");
  CHECK(read_npy("/dev/null").error().text() == "io: /dev/null: not a regular file");
  CHECK(write_bytes(missing, {}, {}).error().text() == "io: cannot write " + missing + ": No such file or directory");
}

}  // namespace
}  // namespace tma_jit::cli
