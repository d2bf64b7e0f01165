// Integers in JSON from untrusted sources. nlohmann's own conversion silently accepts floats, booleans and integers
// that do not fit, and converting a float that is out of range is undefined behaviour.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

// Returns the error for a value that is not an integer in the range; `found` is the value as JSON text.
[[nodiscard]] tl::unexpected<Error> not_an_integer(std::string_view what, const std::string& found, std::int64_t least,
                                                   std::uint64_t most);

// Converts `value`, an nlohmann::basic_json, to an integer. Fails (parse) if it is not one or does not fit; `what`
// names it in the error.
template <std::integral Integer, class Json>
[[nodiscard]] Result<Integer> integer_in(const Json& value, std::string_view what,
                                         Integer least = std::numeric_limits<Integer>::min()) {
  constexpr Integer kMost = std::numeric_limits<Integer>::max();
  const auto fits = [&](auto number) {
    return std::in_range<Integer>(number) && std::cmp_greater_equal(number, least);
  };
  if (value.is_number_unsigned() ? fits(value.template get<std::uint64_t>())
                                 : value.is_number_integer() && fits(value.template get<std::int64_t>())) {
    return value.template get<Integer>();
  }
  return not_an_integer(what, value.dump(-1, ' ', true, Json::error_handler_t::replace),
                        static_cast<std::int64_t>(least), static_cast<std::uint64_t>(kMost));
}

// Returns the members of a JSON object of integers, by name. `Json` is an nlohmann::basic_json.
template <class Json>
[[nodiscard]] Result<std::map<std::string, std::int64_t>> named_integers_in(const Json& value, std::string_view what) {
  if (!value.is_object()) {
    return tl::make_unexpected(Error{ErrorCode::parse, std::string(what).append(" is not an object"), {}});
  }
  std::map<std::string, std::int64_t> numbers;
  for (const auto& [name, number] : value.items()) {
    auto integer = integer_in<std::int64_t>(number, std::string(what).append(".").append(name));
    if (!integer) return tl::make_unexpected(std::move(integer).error());
    numbers[name] = *integer;
  }
  return numbers;
}

template <std::integral Integer, class Json>
[[nodiscard]] Result<std::vector<Integer>> integers_in(const Json& value, std::string_view what) {
  if (!value.is_array()) {
    return tl::make_unexpected(Error{ErrorCode::parse, std::string(what).append(" is not an array"), {}});
  }
  std::vector<Integer> integers;
  for (const Json& element : value) {
    auto integer = integer_in<Integer>(element, what);
    if (!integer) return tl::make_unexpected(std::move(integer).error());
    integers.push_back(*integer);
  }
  return integers;
}

}  // namespace tma_jit
