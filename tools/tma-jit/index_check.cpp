#include "index_check.h"

#include <cstdint>
#include <limits>
#include <unordered_map>

#include "element.h"
#include "layout.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

// The elements of a file as integers, in row-major order.
class Indices {
 public:
  Indices(const InputFile& file, const Argument& argument)
      : bytes_(file.array.bytes.data()),
        size_(size_of(argument.dtype)),
        count_(static_cast<std::int64_t>(file.array.bytes.size() / size_)),
        signed_(argument.dtype == DType::s8 || argument.dtype == DType::s16 || argument.dtype == DType::s32 ||
                argument.dtype == DType::s64) {}

  std::int64_t count() const { return count_; }
  // A u64 that is too large becomes the greatest value.
  std::int64_t operator[](std::int64_t index) const {
    const std::uint64_t bits = load_bits(bytes_ + static_cast<std::size_t>(index) * size_, size_);
    const std::size_t unused = 64 - 8 * size_;
    if (signed_) return static_cast<std::int64_t>(bits << unused) >> unused;
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(bits < kMost ? bits : kMost);
  }

 private:
  const std::byte* bytes_;
  std::size_t size_;
  std::int64_t count_;
  bool signed_;
};

class IndexCheck {
 public:
  IndexCheck(const InputFile& file, const Argument& argument)
      : argument_(argument), range_(*argument.range), file_(file), values_(file, argument) {}

  // Returns "" if all values are valid.
  std::string fault() const {
    std::int64_t first = -1, others = -1;
    for (std::int64_t i = 0; i < values_.count(); ++i) {
      if (!outside(i) && !falls(i)) continue;
      if (first < 0) first = i;
      ++others;
    }
    if (first < 0) return {};
    std::string text = fmt::format("{}: {} is {}, ", file_.path, name(first), values_[first]);
    text += outside(first)
                ? fmt::format("outside of {}..{}", range_.least, range_.most)
                : fmt::format("less than {}, {}, and these values rise", name(first - 1), values_[first - 1]);
    if (others > 0) text += fmt::format("; {} more {} not valid", others, others == 1 ? "value is" : "values are");
    return text;
  }

  // Returns "" if no valid value is there twice in a row, where values are distinct. No kernel checks that.
  std::string repetition() const {
    if (!range_.distinct) return {};
    std::unordered_map<std::int64_t, std::int64_t> places;  // of the values of a row
    for (std::int64_t i = 0; i < values_.count(); ++i) {
      if (i % argument_.shape.back() == 0) places.clear();
      if (outside(i)) continue;
      if (const auto [place, first] = places.emplace(values_[i], i); !first) {
        return fmt::format("{}: {} is {}, as {} is, and these values are distinct", file_.path, name(i), values_[i],
                           name(place->second));
      }
    }
    return {};
  }

 private:
  bool outside(std::int64_t index) const { return values_[index] < range_.least || values_[index] > range_.most; }
  bool falls(std::int64_t index) const {
    return range_.rising && index % argument_.shape.back() != 0 && values_[index] < values_[index - 1];
  }
  std::string name(std::int64_t index) const {
    return argument_.name + bracketed(Layout::row_major(argument_.shape).position(index));
  }

  const Argument& argument_;
  const ValueRange& range_;
  const InputFile& file_;
  const Indices values_;
};

}  // namespace

Outcome<std::vector<std::string>> check_indices(const Plan& plan, const DataChoices& choices) {
  std::vector<std::string> notes;
  for (const Argument& argument : plan.arguments) {
    const auto file = choices.inputs.find(argument.name);
    if (!argument.range || file == choices.inputs.end()) continue;
    const IndexCheck check(file->second, argument);
    if (const std::string repeated = check.repetition(); !repeated.empty())
      return failed(ErrorCode::invalid_argument, "{}", repeated);
    const std::string fault = check.fault();
    if (fault.empty()) continue;
    if (!argument.range->checked) return failed(ErrorCode::invalid_argument, "{}", fault);
    notes.push_back(fault + "; the kernel checks these values itself");
  }
  return notes;
}

}  // namespace tma_jit::cli
