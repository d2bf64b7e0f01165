#include "device/fact_names.h"

#include <type_traits>

#include "core/fields.h"

namespace tma_jit::device {
namespace {

// Visits the facts that are integers.
template <class Visit> void each_fact(const DeviceInfo& device, Visit&& visit) {
  each_device_number(
      [&](const char* name, const auto& value) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>) visit(name, std::int64_t{value});
      },
      device);
}

}  // namespace

std::optional<std::int64_t> device_fact(const DeviceInfo& device, std::string_view name) {
  std::optional<std::int64_t> found;
  each_fact(device, [&](std::string_view fact, std::int64_t value) {
    if (fact == name) found = value;
  });
  return found;
}

bool is_device_fact(std::string_view name) {
  bool found = false;
  each_fact({}, [&](std::string_view fact, std::int64_t) { found = found || fact == name; });
  return found;
}

std::vector<std::string> device_fact_names() {
  std::vector<std::string> names;
  each_fact({}, [&](std::string_view fact, std::int64_t) { names.emplace_back(fact); });
  return names;
}

}  // namespace tma_jit::device
