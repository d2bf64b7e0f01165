// The directives that declare values: type, dim, param, and preset.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/failure.h"
#include "template/directives.h"

namespace tma_jit::templates {
namespace {

constexpr std::int64_t kMaxDim = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxWideDim = std::int64_t{1} << 62;
constexpr std::int64_t kMaxValues = 4096;  // most values of one param
constexpr std::size_t kMaxPresets = 4096;  // most presets of one line

std::string out_of_set(std::string_view name, std::int64_t value) {
  return fmt::format("{} is not one of the values of {}", value, name);
}

Result<void> parse_value_set(LineParser& line, Param& param) {
  do {
    const Position at = line.peek().at;
    TMA_JIT_ASSIGN(const std::int64_t value, line.constant("a value", "a param's values"));
    if (std::find(param.values.begin(), param.values.end(), value) != param.values.end()) {
      return line.error(at, fmt::format("{} is listed twice", value));
    }
    param.values.push_back(value);
  } while (line.accept(","));
  return line.expect("}", "after the values");
}

struct Range {
  std::int64_t low = 0, high = 0;
  Position at;
};

Result<Range> parse_range(LineParser& line, std::string_view whose) {
  Range range;
  range.at = line.peek().at;
  TMA_JIT_ASSIGN(range.low, line.constant("a value", whose));
  TMA_JIT_CHECK(line.expect("..", "in the range"));
  TMA_JIT_ASSIGN(range.high, line.constant("the upper end of the range", whose));
  if (range.low > range.high) {
    return line.error(range.at, fmt::format("the range {}..{} is empty", range.low, range.high));
  }
  return range;
}

Result<void> parse_values(LineParser& line, Param& param) {
  if (line.accept("{")) return parse_value_set(line, param);
  TMA_JIT_ASSIGN(const Range range, parse_range(line, "a param's values"));
  std::int64_t count = 0;
  if (__builtin_sub_overflow(range.high, range.low, &count) || count >= kMaxValues) {
    return line.error(range.at,
                      fmt::format("the range {}..{} has more than {} values", range.low, range.high, kMaxValues));
  }
  for (std::int64_t value = range.low; value <= range.high; ++value) param.values.push_back(value);
  return {};
}

Result<void> parse_asked(LineParser& line, Param& param) {
  param.asked = line.accept_word("asked");
  if (!param.asked || !line.accept_word("chain")) return {};
  const Position at = line.peek().at;
  TMA_JIT_ASSIGN(param.chain, line.constant("the param's value in a chain", "a param's values"));
  if (std::ranges::find(param.values, *param.chain) != param.values.end()) return {};
  return line.error(at, out_of_set(param.name, *param.chain));
}

// The attributes that all dims of one line share.
struct DimShape {
  bool wide = false;
  std::optional<Range> range;
  std::optional<std::int64_t> value;
  Position value_at;
  std::optional<Expression> when;
};

Result<void> parse_dim_attribute(LineParser& line, DimShape& shape, std::vector<std::string_view>& given) {
  const Token word = line.peek();
  if (std::ranges::find(given, word.text) != given.end()) {
    return line.error(word.at, fmt::format("{} is given twice", described(word)));
  }
  given.push_back(word.text);
  if (line.accept(":")) {
    const Position at = line.peek().at;
    TMA_JIT_ASSIGN(const Token type, line.name("s32 or s64"));
    if (type.text != "s32" && type.text != "s64")
      return line.error(at, fmt::format("a dim is s32 or s64, not {}", type.text));
    shape.wide = type.text == "s64";
    return {};
  }
  if (line.accept_word("in")) {
    if (line.peek().is("{")) return line.error(line.peek().at, "the values of a dim are a range, like 1..4096");
    TMA_JIT_ASSIGN(shape.range, parse_range(line, "a dim's bounds"));
    return {};
  }
  if (line.accept_word("when")) {
    TMA_JIT_ASSIGN(shape.when, line.expression("the dim's condition"));
    return {};
  }
  TMA_JIT_CHECK(line.expect("=", "before the dim's value"));
  shape.value_at = line.peek().at;
  TMA_JIT_ASSIGN(shape.value, line.constant("the dim's value", "a fixed dim's values"));
  return {};
}

Result<void> check_dim(const LineParser& line, const DimShape& shape, const Dim& dim) {
  const std::int64_t limit = dim.wide ? kMaxWideDim : kMaxDim;
  if (shape.range && dim.min < 0) return line.error(shape.range->at, fmt::format("a dim cannot be {}", dim.min));
  if (shape.range && dim.max > limit) {
    return line.error(shape.range->at, fmt::format("a dim{} cannot be more than {}{}", dim.wide ? "" : " of 32 bits",
                                                   limit, dim.wide ? "" : "; \": s64\" makes it 64-bit"));
  }
  if (dim.value && (*dim.value < dim.min || *dim.value > dim.max)) {
    return line.error(shape.value_at, fmt::format("{} is not in {}..{}", *dim.value, dim.min, dim.max));
  }
  return {};
}

Result<std::vector<std::int64_t>> parse_setting_values(LineParser& line) {
  std::vector<std::int64_t> values;
  const bool several = line.accept("{");
  do {
    const Position at = line.peek().at;
    TMA_JIT_ASSIGN(const std::int64_t value, line.constant("a value", "a preset's values"));
    if (std::ranges::find(values, value) != values.end()) {
      return line.error(at, fmt::format("{} is listed twice", value));
    }
    values.push_back(value);
  } while (several && line.accept(","));
  if (several) TMA_JIT_CHECK(line.expect("}", "after the values"));
  return values;
}

// Returns the settings of each preset of the line: where params have several values, of each combination of them, those
// of the last param in turn first.
Result<std::vector<std::vector<Preset::Setting>>> parse_settings(LineParser& line) {
  std::vector<std::vector<Preset::Setting>> presets(1);
  do {
    TMA_JIT_ASSIGN(const Token name, line.name("a param in the preset"));
    if (std::ranges::find(presets.front(), name.text, &Preset::Setting::param) != presets.front().end()) {
      return line.error(name.at, fmt::format("{} is set twice", name.text));
    }
    TMA_JIT_CHECK(line.expect("=", "after", name.text));
    TMA_JIT_ASSIGN(const std::vector<std::int64_t> values, parse_setting_values(line));
    if (values.size() == 1) {
      for (auto& settings : presets) settings.push_back({std::string(name.text), values.front(), name.at});
      continue;
    }
    if (values.size() > kMaxPresets / presets.size()) {
      return line.error(name.at, fmt::format("the line states more than {} presets, one for each combination of values",
                                             kMaxPresets));
    }
    std::vector<std::vector<Preset::Setting>> extended;
    for (const std::vector<Preset::Setting>& settings : presets) {
      for (const std::int64_t value : values) {
        extended.push_back(settings);
        extended.back().push_back({std::string(name.text), value, name.at});
      }
    }
    presets = std::move(extended);
  } while (line.accept(","));
  return presets;
}

// Returns the preset as a line of its own would state it.
std::string text_of(const Preset& preset) {
  std::string text;
  for (const Preset::Setting& setting : preset.settings) {
    text.append(text.empty() ? "" : ", ").append(setting.param).append(" = ").append(std::to_string(setting.value));
  }
  if (preset.when.has_value()) text.append(" when ").append(preset.when->text());
  return text;
}

}  // namespace

Result<void> parse_type(LineParser& line, Builder& builder) {
  Type type;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::type));
  type.name = name.text;
  type.at = name.at;
  TMA_JIT_CHECK(line.expect("=", "after", name.text));
  const Position default_at = line.peek().at;
  const auto earlier = std::ranges::find(builder.result.types, line.peek().text, &Type::name);
  if (earlier != builder.result.types.end()) {
    type.follows = static_cast<std::size_t>(earlier - builder.result.types.begin());
    TMA_JIT_CHECK(line.type_name("the type's default"));
  } else {
    TMA_JIT_ASSIGN(type.default_value, line.dtype("the type's default"));
  }
  if (line.accept_word("in")) {
    TMA_JIT_CHECK(line.expect("{", "after in"));
    do {
      const Position at = line.peek().at;
      TMA_JIT_ASSIGN(const DType choice, line.dtype("an element type"));
      if (std::find(type.choices.begin(), type.choices.end(), choice) != type.choices.end()) {
        return line.error(at, fmt::format("{} is listed twice", name_of(choice)));
      }
      type.choices.push_back(choice);
    } while (line.accept(","));
    TMA_JIT_CHECK(line.expect("}", "after the types"));
  } else if (type.follows.has_value()) {
    type.choices = earlier->choices;
  } else {
    type.choices.push_back(type.default_value);
  }
  if (type.follows.has_value()) type.default_value = type.choices.front();
  if (std::find(type.choices.begin(), type.choices.end(), type.default_value) == type.choices.end()) {
    return line.error(default_at, fmt::format("the default {} is not one of the choices of {}",
                                              name_of(type.default_value), type.name));
  }
  TMA_JIT_CHECK(line.finish(type, "\"in\", a doc text or the end of the line"));
  builder.result.types.push_back(std::move(type));
  return {};
}

Result<void> parse_dim(LineParser& line, Builder& builder) {
  std::vector<Token> names;
  do {
    TMA_JIT_ASSIGN(const Token name, declare_list(line, builder, NameKind::dim));
    names.push_back(name);
  } while (line.accept(","));
  line.begin_declaration();
  DimShape shape;
  std::vector<std::string_view> given;
  while (line.peek().is(":") || line.peek().is_word("in") || line.peek().is("=") || line.peek().is_word("when")) {
    TMA_JIT_CHECK(parse_dim_attribute(line, shape, given));
  }
  Dim dim;
  dim.wide = shape.wide;
  dim.value = shape.value;
  dim.when = std::move(shape.when);
  if (shape.range) dim.min = shape.range->low;
  dim.max = shape.range ? shape.range->high : (dim.wide ? kMaxWideDim : kMaxDim);
  TMA_JIT_CHECK(check_dim(line, shape, dim));
  if (dim.value && names.size() > 1) return line.error(shape.value_at, "a dim with a value has a line of its own");
  TMA_JIT_CHECK(line.finish(dim, "\",\", \":\", \"in\", \"=\", \"when\", a doc text or the end of the line"));
  const std::string attributes = dim.text;
  for (const Token& name : names) {
    dim.name = name.text;
    dim.at = name.at;
    dim.text = attributes.empty() ? dim.name : fmt::format("{} {}", dim.name, attributes);
    builder.result.dims.push_back(dim);
  }
  return {};
}

Result<void> parse_param(LineParser& line, Builder& builder) {
  Param param;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::param));
  param.name = name.text;
  param.at = name.at;
  TMA_JIT_CHECK(line.expect("=", "after", name.text));
  const Position default_at = line.peek().at;
  TMA_JIT_ASSIGN(param.default_value, line.constant("the param's default", "a param's values"));
  if (!line.accept_word("in")) return line.unexpected("\"in\" and the param's values");
  TMA_JIT_CHECK(parse_values(line, param));
  if (std::find(param.values.begin(), param.values.end(), param.default_value) == param.values.end()) {
    return line.error(default_at, fmt::format("the default {}", out_of_set(param.name, param.default_value)));
  }
  TMA_JIT_CHECK(parse_asked(line, param));
  TMA_JIT_CHECK(line.finish(param, param.chain   ? "a doc text or the end of the line"
                                   : param.asked ? "\"chain\", a doc text or the end of the line"
                                                 : "\"asked\", a doc text or the end of the line"));
  builder.result.params.push_back(std::move(param));
  return {};
}

Result<void> parse_preset(LineParser& line, Builder& builder) {
  Preset preset;
  preset.at = line.peek().at;
  TMA_JIT_ASSIGN(std::vector<std::vector<Preset::Setting>> presets, parse_settings(line));
  if (line.accept_word("when")) {
    TMA_JIT_ASSIGN(preset.when, line.expression("the preset's condition"));
  }
  TMA_JIT_CHECK(line.finish(preset, preset.when ? "an operator, a doc text or the end of the line"
                                                : "\",\", \"when\", a doc text or the end of the line"));
  if (presets.size() == 1) {
    preset.settings = std::move(presets.front());
    builder.result.presets.push_back(std::move(preset));
    return {};
  }
  for (std::vector<Preset::Setting>& settings : presets) {
    Preset& added = builder.result.presets.emplace_back(preset);
    added.settings = std::move(settings);
    added.text = text_of(added);
  }
  return {};
}

}  // namespace tma_jit::templates
