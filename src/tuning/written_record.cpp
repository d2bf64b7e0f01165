#include "tuning/written_record.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tma_jit::tuning {
namespace {

constexpr std::size_t kUsual = 256;  // characters of a problem's text, or less
constexpr double kTimeMost = 1e15;   // microseconds, as parse_tuning_line has it

// Which characters a text in quotes has: printable ASCII, without quotes, and backslashes, which begin escapes.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (char c = ' '; c <= '~'; ++c) plain[static_cast<unsigned char>(c)] = c != '"' && c != '\\';
  return plain;
}();

// Reads a line from its beginning. Every function returns whether the line goes on as it says.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : line_(line) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == line_.size(); }
  std::string_view since(std::size_t begin) const { return line_.substr(begin, at_ - begin); }

  bool take(std::string_view word) {
    if (line_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool take(char c) {
    if (at_ == line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Takes a text in quotes, and what follows it.
  bool text(std::string_view& value, std::string_view then) { return text(value) && take(then); }
  bool text(std::string_view& value) {
    if (!take('"')) return false;
    const char* const begin = line_.data() + at_;
    const char* const end = line_.data() + line_.size();
    const char* at = begin;
    while (at != end && kPlain[static_cast<unsigned char>(*at)]) ++at;
    value = {begin, static_cast<std::size_t>(at - begin)};
    at_ += value.size();
    return take('"');
  }

  template <class Integer> bool integer(Integer& value) {
    const char* const begin = line_.data() + at_;
    const auto [end, fault] = std::from_chars(begin, line_.data() + line_.size(), value);
    if (fault != std::errc()) return false;
    const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
    at_ += digits.size();
    return digits == "0" || (!digits.starts_with('0') && !digits.starts_with("-0"));
  }

  // Takes digits, a point and digits.
  bool time(double& value) {
    const std::size_t begin = at_;
    if (!digits() || !take('.') || !digits()) return false;
    const std::string_view number = since(begin);
    if (number.starts_with('0') && !number.starts_with("0.")) return false;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value > 0 && value < kTimeMost;
  }

  // Takes the members of an object and its end. `value` takes a member's value.
  template <class Value> bool members(std::string_view& all, const Value& value) {
    const std::size_t begin = at_;
    std::string_view before, name;
    for (bool first = true; !take('}'); first = false) {
      if (!first && !take(',')) return false;
      if (!text(name) || !take(':') || (!first && name <= before) || !value()) return false;
      before = name;
    }
    all = line_.substr(begin, at_ - 1 - begin);
    return true;
  }

 private:
  bool digits() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

bool read_integers(Cursor& line, std::string_view& members) {
  return line.members(members, [&] {
    std::int64_t value = 0;
    return line.integer(value);
  });
}

bool read_types(Cursor& line, std::string_view& members) {
  return line.members(members, [&] {
    std::string_view type;
    return line.text(type) && dtype_named(type).has_value();
  });
}

bool read_problem(Cursor& line, WrittenRecord& record) {
  const bool whole = line.take("{\"kernel\":") && line.text(record.kernel, ",\"types\":{") &&
                     read_types(line, record.types) && line.take(",\"dims\":{") && read_integers(line, record.dims) &&
                     line.take(",\"hooks\":") && line.text(record.hooks) &&
                     (!line.take(",\"pins\":{") || (read_integers(line, record.pins) && !record.pins.empty())) &&
                     (!line.take(",\"conditions\":") || (line.text(record.conditions) && !record.conditions.empty()));
  record.problem = line.since(0);
  return whole;
}

bool read_choice(Cursor& line, WrittenRecord& record) {
  return line.take(",\"device\":") && line.text(record.device, ",\"sm_count\":") && line.integer(record.sm_count) &&
         line.take(",\"file\":") && line.text(record.file, ",\"digest\":") &&
         line.text(record.digest, ",\"params\":{") && read_integers(line, record.params) && line.take(",\"us\":") &&
         line.time(record.us) && line.take(",\"preset_us\":") && line.time(record.preset_us) &&
         line.take(",\"driver\":") && line.text(record.driver, ",\"compiler\":") && line.text(record.compiler, "}");
}

std::map<std::string, std::int64_t> integers_of(std::string_view members) {
  std::map<std::string, std::int64_t> integers;
  for (Cursor line(members); !line.at_end(); line.take(',')) {
    std::string_view name;
    std::int64_t value = 0;
    if (!line.text(name) || !line.take(':') || !line.integer(value)) break;
    integers.emplace_hint(integers.end(), name, value);
  }
  return integers;
}

std::map<std::string, DType> types_of(std::string_view members) {
  std::map<std::string, DType> types;
  for (Cursor line(members); !line.at_end(); line.take(',')) {
    std::string_view name, type;
    if (!line.text(name) || !line.take(':') || !line.text(type)) break;
    types.emplace_hint(types.end(), name, dtype_named(type).value_or(DType::f32));
  }
  return types;
}

}  // namespace

std::optional<WrittenRecord> read_written(std::string_view text) {
  Cursor line(text);
  WrittenRecord record;
  if (!read_problem(line, record) || !read_choice(line, record) || !line.at_end()) return std::nullopt;
  if (record.kernel.empty() || record.device.empty() || record.file.empty() || record.digest.empty()) {
    return std::nullopt;
  }
  return record;
}

TuningRecord record_of(const WrittenRecord& written) {
  return {.kernel = std::string(written.kernel),
          .types = types_of(written.types),
          .dims = integers_of(written.dims),
          .hooks = std::string(written.hooks),
          .pins = integers_of(written.pins),
          .conditions = std::string(written.conditions),
          .device = std::string(written.device),
          .sm_count = written.sm_count,
          .file = std::string(written.file),
          .digest = std::string(written.digest),
          .params = integers_of(written.params),
          .us = written.us,
          .preset_us = written.preset_us,
          .driver = std::string(written.driver),
          .compiler = std::string(written.compiler)};
}

namespace {

// Appends the members and the end of an object.
void append_integers(std::string& text, const std::map<std::string, std::int64_t>& integers) {
  for (const auto& [name, value] : integers) {
    if (text.back() != '{') text += ',';
    text.append("\"").append(name).append("\":").append(fmt::format_int(value).c_str());
  }
  text += '}';
}

}  // namespace

std::string types_text(const TuningRecord& record) {
  std::string text;
  text.reserve(kUsual);
  text.append("{\"kernel\":\"").append(record.kernel).append("\",\"types\":{");
  for (const auto& [name, type] : record.types) {
    if (text.back() != '{') text += ',';
    text.append("\"").append(name).append("\":\"").append(name_of(type)).append("\"");
  }
  return text.append("},\"dims\":{");
}

std::string problem_text(const TuningRecord& record) {
  std::string text = types_text(record);
  append_integers(text, record.dims);
  text.append(",\"hooks\":\"").append(record.hooks).append("\"");
  if (!record.pins.empty()) append_integers(text.append(",\"pins\":{"), record.pins);
  if (!record.conditions.empty()) text.append(",\"conditions\":\"").append(record.conditions).append("\"");
  return text;
}

std::optional<NamedInteger> take_integer(std::string_view& members) {
  Cursor line(members);
  NamedInteger member;
  if (!line.text(member.name) || !line.take(':') || !line.integer(member.value)) return std::nullopt;
  line.take(',');
  members.remove_prefix(line.at());
  return member;
}

}  // namespace tma_jit::tuning
