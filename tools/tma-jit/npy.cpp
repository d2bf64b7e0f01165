#include "npy.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "npy_header.h"
#include "output_file.h"

namespace tma_jit::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

template <class... Args> tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Error{ErrorCode::invalid_argument, fmt::format(format, std::forward<Args>(args)...), {}});
}

tl::unexpected<Error> io_error(const std::filesystem::path& path, std::string_view what) {
  return tl::make_unexpected(Error{ErrorCode::io, fmt::format("{}: {}", path.string(), what), {}});
}

struct NumpyType {
  std::string_view code;  // kind and size, without the byte order
  DType type;
};
constexpr std::array<NumpyType, 12> kTypes = {{{"u1", DType::u8},
                                               {"i1", DType::s8},
                                               {"u2", DType::u16},
                                               {"i2", DType::s16},
                                               {"u4", DType::u32},
                                               {"i4", DType::s32},
                                               {"u8", DType::u64},
                                               {"i8", DType::s64},
                                               {"f2", DType::f16},
                                               {"f4", DType::f32},
                                               {"f8", DType::f64},
                                               {"b1", DType::u8}}};

std::string descr_of(DType type) {
  if (type == DType::bf16) return "<u2";
  if (type == DType::e4m3 || type == DType::e5m2) return "|u1";
  for (const NumpyType& known : kTypes)
    if (known.type == type) return fmt::format("{}{}", size_of(type) == 1 ? '|' : '<', known.code);
  return {};
}

Result<void> set_type(Array& array, const std::string& descr, const std::string& name) {
  if (descr.size() < 2) return refuse("{}: element type '{}' is not understood", name, descr);
  const char order = descr[0];
  const std::string_view code = std::string_view(descr).substr(1);
  if (code.starts_with('O')) return refuse("{}: an array of Python objects ('{}') cannot be read", name, descr);
  if (order == '>' && !code.ends_with('1'))
    return refuse("{}: big-endian elements ('{}'); write it with a.astype(a.dtype.newbyteorder('<'))", name, descr);
  if (order != '<' && order != '|' && order != '=' && order != '>')
    return refuse("{}: element type '{}' is not understood", name, descr);
  if (code == "V1" || code == "V2") {
    array.dtype = code == "V1" ? DType::u8 : DType::u16;
    array.opaque = true;
    return {};
  }
  for (const NumpyType& known : kTypes) {
    if (known.code != code) continue;
    array.dtype = known.type;
    return {};
  }
  return refuse("{}: element type '{}' is none of u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8", name, descr);
}

// Returns the number of bytes according to the header; nullopt if it does not fit into 63 bits.
std::optional<std::uint64_t> promised_bytes(const Array& array) {
  std::uint64_t bytes = size_of(array.dtype);
  for (const std::int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return std::nullopt;
  return bytes >> 63 == 0 ? std::optional(bytes) : std::nullopt;
}

// The position and length of the dictionary.
struct Extent {
  std::size_t begin = 0;
  std::size_t size = 0;
};
Result<Extent> header_extent(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < 8 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0)
    return refuse("{}: not a .npy file (its first bytes are not \\x93NUMPY)", name);
  const int major = std::to_integer<int>(file[6]);
  const int minor = std::to_integer<int>(file[7]);
  if (major < 1 || major > 3 || minor != 0) return refuse("{}: .npy format {}.{} is not known", name, major, minor);
  const std::size_t width = major == 1 ? 2 : 4;
  if (file.size() < 8 + width)
    return refuse("{}: truncated: {} bytes, the header's length is missing", name, file.size());
  std::uint32_t size = 0;
  std::memcpy(&size, file.data() + 8, width);
  const Extent extent{8 + width, size};
  if (extent.size > file.size() - extent.begin)
    return refuse("{}: truncated: the header says {} bytes, {} are there", name, size, file.size() - extent.begin);
  return extent;
}

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

}  // namespace

bool holds(const Array& array, DType type) {
  if (array.dtype == type && !array.opaque) return true;
  const bool no_numpy_type = type == DType::bf16 || type == DType::e4m3 || type == DType::e5m2;
  const bool raw = array.opaque || array.dtype == DType::u16 || array.dtype == DType::u8;
  return no_numpy_type && raw && size_of(array.dtype) == size_of(type);
}

Result<Array> parse_npy(std::span<const std::byte> file, const std::string& name) {
  auto extent = header_extent(file, name);
  if (!extent) return tl::make_unexpected(std::move(extent).error());
  const auto* text = reinterpret_cast<const char*>(file.data() + extent->begin);
  auto header = parse_npy_header({text, extent->size}, name);
  if (!header) return tl::make_unexpected(std::move(header).error());

  Array array;
  if (auto typed = set_type(array, header->descr, name); !typed) return tl::make_unexpected(std::move(typed).error());
  array.shape = header->shape;
  if (header->fortran_order && array.shape.size() > 1)
    return refuse("{}: Fortran order; write it with numpy.ascontiguousarray", name);
  const std::span<const std::byte> body = file.subspan(extent->begin + extent->size);
  const std::optional<std::uint64_t> promised = promised_bytes(array);
  if (!promised || *promised != body.size()) {
    return refuse("{}: shape [{}] of {}-byte elements is {} bytes, the file holds {}", name,
                  fmt::join(array.shape, ", "), size_of(array.dtype),
                  promised ? fmt::format("{}", *promised) : "more than 2^63", body.size());
  }
  array.bytes.assign(body.begin(), body.end());
  return array;
}

Result<Array> read_npy(const std::filesystem::path& path) {
  auto bytes = read_bytes(path);
  if (!bytes) return tl::make_unexpected(std::move(bytes).error());
  return parse_npy(*bytes, path.string());
}

std::string npy_header(DType type, std::span<const std::int64_t> shape) {
  const std::string tuple = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr_of(type), tuple);
  // The data start at a multiple of 64 bytes: magic, version, length, text, newline.
  text.append(63 - (10 + text.size()) % 64, ' ').push_back('\n');
  const auto size = static_cast<unsigned>(text.size());
  std::string header(kMagic);
  header.append({'\x01', '\0', static_cast<char>(size & 0xff), static_cast<char>(size >> 8)});
  return header + text;
}

Result<void> write_npy(const std::filesystem::path& path, DType type, std::span<const std::int64_t> shape,
                       std::span<const std::byte> bytes) {
  const std::string header = npy_header(type, shape);
  return write_bytes(path, std::as_bytes(std::span(header)), bytes);
}

Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path) {
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status)) return io_error(path, "no such file");
  if (!std::filesystem::is_regular_file(status)) return io_error(path, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, fault);
  if (fault) return io_error(path, fault.message());
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return io_error(path, std::strerror(errno));
  std::vector<std::byte> bytes(size);
  if (!bytes.empty() && std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size())
    return io_error(path, "could not be read whole");
  return bytes;
}

}  // namespace tma_jit::cli
