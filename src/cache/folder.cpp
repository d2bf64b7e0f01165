#include "cache/folder.h"

#include <dirent.h>
#include <unistd.h>
#include <charconv>
#include <cstring>
#include <memory>
#include <random>
#include <span>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/digest.h"

namespace tma_jit::cache {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr std::string_view kTemporaryPrefix = ".tmp-";

std::optional<std::uint8_t> byte_of(char high, char low) {
  const auto value = [](char c) { return c >= 'A' && c <= 'F' ? c - 'A' + 10 : c <= '9' ? c - '0' : c - 'a' + 10; };
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  if (!is_digit(high) || !is_digit(low)) return std::nullopt;
  return static_cast<std::uint8_t>(value(high) << 4 | value(low));
}

// Eight digits that differ between hosts, because hosts that share a folder may use the same process ids.
std::string host_digits() {
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  const Digest digest = sha256(host, std::strlen(host));
  return to_hex(std::span(digest).first(4));
}

// What the name of a temporary file says about the process that made it.
struct Maker {
  std::string_view host;
  int process = 0;
};

std::optional<Maker> maker_of(std::string_view temporary) {
  constexpr std::size_t kHostDigits = 8;
  const auto are_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
  };
  if (!temporary.starts_with(kTemporaryPrefix)) return std::nullopt;
  temporary.remove_prefix(kTemporaryPrefix.size());
  Maker maker{temporary.substr(0, kHostDigits)};
  if (!are_digits(maker.host) || !temporary.substr(maker.host.size()).starts_with('-')) return std::nullopt;
  temporary.remove_prefix(kHostDigits + 1);
  const char* const last = temporary.data() + temporary.size();
  const auto [end, error] = std::from_chars(temporary.data(), last, maker.process);
  if (error != std::errc{} || maker.process <= 0 || end == last || *end != '-') return std::nullopt;
  if (!are_digits({end + 1, last})) return std::nullopt;
  return maker;
}

}  // namespace

std::filesystem::path format_folder(const std::filesystem::path& root) {
  return root / kFormatName;
}

std::filesystem::path compilers_folder(const std::filesystem::path& root) {
  return format_folder(root) / kCompilersName;
}

std::filesystem::path entry_path(const std::filesystem::path& root, const Key& key) {
  return format_folder(root) / entry_name(key).data();
}

std::string shard_name(unsigned shard) {
  return {kDigits[shard >> 4 & 15], kDigits[shard & 15]};
}

std::array<char, 66> entry_name(const Key& key) {
  std::array<char, 66> name{};
  std::size_t at = 0;
  for (const std::uint8_t byte : key.bytes) {
    if (at == 2) name[at++] = '/';
    name[at++] = kDigits[byte >> 4];
    name[at++] = kDigits[byte & 15];
  }
  return name;
}

std::optional<Key> key_named(std::string_view folder, std::string_view file_name) {
  for (const char c : file_name) {
    if (c >= 'A' && c <= 'F') return std::nullopt;
  }
  return key_of_hex(std::string(folder).append(file_name));
}

std::optional<Key> key_of_hex(std::string_view text) {
  Key key;
  if (text.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const auto byte = byte_of(text[2 * i], text[2 * i + 1]);
    if (!byte) return std::nullopt;
    key.bytes[i] = *byte;
  }
  return key;
}

std::string temporary_name() {
  std::random_device random;
  return fmt::format("{}{}-{}-{:08x}{:08x}{:08x}{:08x}", kTemporaryPrefix, host_digits(), ::getpid(), random(),
                     random(), random(), random());
}

bool is_temporary(std::string_view file_name) {
  return maker_of(file_name).has_value();
}

std::optional<int> local_writer(std::string_view temporary) {
  const auto maker = maker_of(temporary);
  return maker && maker->host == host_digits() ? std::optional(maker->process) : std::nullopt;
}

std::vector<std::string> names_in(const FileSystem& files, int folder, const char* path) {
  std::vector<std::string> names;
  Descriptor opened(files.open(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
  if (!opened) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(opened.get()), ::closedir);
  if (!listing) return names;
  (void)opened.release();  // owned by the listing
  while (const dirent* item = ::readdir(listing.get())) {
    if (std::string_view(item->d_name) != "." && std::string_view(item->d_name) != "..")
      names.emplace_back(item->d_name);
  }
  return names;
}

}  // namespace tma_jit::cache
