#include "npy_header.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tma_jit::cli {
namespace {

// Parses the subset of Python literals that numpy writes. After a fault every further step does nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_space();
    if (fault_.empty() && at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }

  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return fail("expected a string"), std::string();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail("a string that does not end"), std::string();
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    if (word("True")) return true;
    if (word("False")) return false;
    fail("expected True or False");
    return false;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (fault_.empty() && !take(')')) {
      values.push_back(integer());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  void fail(std::string what) {
    if (fault_.empty()) fault_ = fmt::format("{} at byte {}", what, at_);
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  const std::string& fault() const { return fault_; }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool word(std::string_view expected) {
    skip_space();
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) {
      fail("expected an extent");
      return 0;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

void read_entry(Reader& reader, NpyHeader& header, std::array<bool, 3>& seen) {
  const std::string key = reader.string();
  reader.expect(':');
  if (key == "descr" && !seen[0]) {
    if (reader.peek() == '[') return reader.fail("structured element types are not supported");
    header.descr = reader.string();
    seen[0] = true;
  } else if (key == "fortran_order" && !seen[1]) {
    header.fortran_order = reader.boolean();
    seen[1] = true;
  } else if (key == "shape" && !seen[2]) {
    header.shape = reader.tuple();
    seen[2] = true;
  } else {
    reader.fail(fmt::format("unexpected key \"{}\"", key));
  }
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& name) {
  Reader reader(text);
  NpyHeader header;
  std::array<bool, 3> seen{};
  reader.expect('{');
  while (reader.fault().empty() && !reader.take('}')) {
    read_entry(reader, header, seen);
    if (!reader.take(',')) {
      reader.expect('}');
      break;
    }
  }
  if (reader.fault().empty() && !reader.at_end()) reader.fail("text after the dictionary");
  if (reader.fault().empty() && !(seen[0] && seen[1] && seen[2]))
    reader.fail("descr, fortran_order or shape is missing");
  if (!reader.fault().empty()) {
    return tl::make_unexpected(
        Error{ErrorCode::invalid_argument, fmt::format("{}: bad .npy header: {}", name, reader.fault()), {}});
  }
  return header;
}

}  // namespace tma_jit::cli
