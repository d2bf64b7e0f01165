#include "estimation/constants.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/embedded_file.h"
#include "base/json_text.h"
#include "core/failure.h"

namespace tma_jit::estimation {
namespace {

using Json = nlohmann::json;

template <class Visit> void each_constant(Constants& constants, Visit&& visit) {
  visit("launch_us", constants.launch_us);
  visit("product_us", constants.product_us);
  visit("fill_us", constants.fill_us);
  visit("hbm_share", constants.hbm_share);
  visit("wgmma_share", constants.wgmma_share);
  visit("tcgen05_share", constants.tcgen05_share);
  visit("mma_share", constants.mma_share);
  visit("fused_share", constants.fused_share);
  visit("f32_share", constants.f32_share);
  visit("shared_bytes_per_cycle", constants.shared_bytes_per_cycle);
  visit("l2_bytes_per_cycle", constants.l2_bytes_per_cycle);
  visit("access_cycles", constants.access_cycles);
  visit("latency_cycles", constants.latency_cycles);
  visit("step_cycles", constants.step_cycles);
  visit("tile_cycles", constants.tile_cycles);
  visit("store_cycles", constants.store_cycles);
  visit("reduce_cycles", constants.reduce_cycles);
  visit("reduce_store_cycles", constants.reduce_store_cycles);
  visit("sag", constants.sag);
  visit("sag_traffic", constants.sag_traffic);
  visit("sag_us", constants.sag_us);
  visit("overlap_sm", constants.overlap_sm);
  visit("overlap_hbm", constants.overlap_hbm);
}

// Divided by, or an exponent.
bool must_be_positive(std::string_view name) {
  return name.ends_with("_share") || name.ends_with("_bytes_per_cycle") || name.starts_with("overlap_") ||
         name == "sag_us";
}

// Returns the number of one constant: from the target's object, else from the base.
Result<double> number_of(const Json& base, const Json& own, const char* name) {
  const Json& given = own.contains(name) ? own[name] : base.contains(name) ? base[name] : Json();
  if (!given.is_object() || !given.contains("value") || !given["value"].is_number()) {
    return failure(ErrorCode::parse, "constants of the estimate: {} has no number as its value", name);
  }
  const double value = given["value"].get<double>();
  if (std::isfinite(value) && value >= 0 && (value > 0 || !must_be_positive(name))) return value;
  return failure(ErrorCode::parse, "constants of the estimate: {} is {}", name, value);
}

}  // namespace

Result<Constants> constants_for(std::string_view arch, std::string_view text) {
  auto read = read_json<Json>(text);
  if (!read) return failure(ErrorCode::parse, "constants of the estimate: {}", read.error().message);
  const Json& object = *read;
  for (const char* part : {"base", "targets"}) {
    if (!object.is_object() || !object.contains(part) || !object[part].is_object()) {
      return failure(ErrorCode::parse, "constants of the estimate: \"{}\" must be an object", part);
    }
  }
  const Json& targets = object["targets"];
  const Json own = targets.value(std::string(arch), Json::object());
  Constants constants;
  Result<void> taken;
  each_constant(constants, [&](const char* name, double& value) {
    if (!taken) return;
    const Result<double> number = number_of(object["base"], own, name);
    if (number) value = *number;
    if (!number) taken = tl::make_unexpected(number.error());
  });
  if (!taken) return tl::make_unexpected(std::move(taken).error());
  const Json& origin = own.contains("origin") ? own["origin"] : object.value("origin", Json());
  if (origin.is_string()) constants.origin = origin.get<std::string>();
  return constants;
}

}  // namespace tma_jit::estimation
