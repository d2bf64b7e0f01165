#include "estimated.h"

#include <algorithm>
#include <filesystem>

#include <tma_jit/json.h>

#include "describe.h"
#include "input_text.h"
#include "kernel.h"
#include "roofline.h"

namespace tma_jit::cli {
namespace {

constexpr double kLaunchUs = 1;  // the slope of the picture of bytes

std::string stem(const Plan& plan) {
  return std::filesystem::path(plan.file).stem().string();
}

DType input_type(const Plan& plan) {
  for (const Argument& argument : plan.arguments) {
    const bool tensor = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
    if (tensor && argument.present && !argument.output) return argument.dtype;
  }
  return DType::f32;
}

std::string row(const char* part, double us) {
  return fmt::format("    {:<14}{:>10.2f} us\n", part, us);
}

bool same_work(const Plan& a, const Plan& b) {
  return a.work.flops == b.work.flops && a.work.bytes == b.work.bytes;
}

RooflinePoint point_of(const Estimated& one, bool by_bytes, bool chosen) {
  const Estimate& estimate = one.estimate;
  const std::string label = fmt::format("{}: {:.2f} us", one.configuration(), estimate.time_us);
  const std::string name = fmt::format("{:.4g} us", estimate.time_us);
  if (by_bytes) return {estimate.hbm_bytes, estimate.hbm_bytes / estimate.time_us * 1e-3, label, name, chosen};
  return {estimate.flops / estimate.hbm_bytes, estimate.flops / estimate.time_us * 1e-6, label, name, chosen};
}

}  // namespace

std::string Estimated::configuration() const {
  const std::string params = config_words(plan);
  return stem(plan) + (params.empty() ? "" : " ") + params;
}

Outcome<Estimator> Estimator::open(Engine& engine, const std::string& constants) {
  CLI_ASSIGN(DeviceInfo device, engine.device());
  std::string text;
  if (!constants.empty()) {
    CLI_ASSIGN(text, read_text(constants));
  }
  return Estimator(engine, std::move(device), std::move(text), constants);
}

Outcome<Estimated> Estimator::of(const Request& request) const {
  CLI_ASSIGN(Plan plan, engine_->plan(request));
  return of(std::move(plan));
}

Outcome<Estimated> Estimator::of(Plan plan) const {
  auto made = estimate(plan, device_, constants_);
  if (made) return Estimated{std::move(plan), *std::move(made)};
  Error error = std::move(made).error();
  if (!file_.empty()) error.message = fmt::format("--constants {}: {}", file_, error.message);
  return tl::make_unexpected(Failure(std::move(error)));
}

Outcome<std::vector<Estimated>> Estimator::candidates(const Request& request, std::size_t most) const {
  CLI_ASSIGN(const std::vector<Candidate> ranked, engine_->candidates(request, most));
  std::vector<Estimated> all;
  for (const Candidate& candidate : ranked) {
    Request pinned = request;
    pinned.file = candidate.file;
    pinned.types = candidate.types;
    pinned.params = {candidate.params.begin(), candidate.params.end()};
    CLI_ASSIGN(Estimated one, of(pinned));
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<Estimated> Estimator::without_tma(const Settings& settings, const std::string& word,
                                                const Request& request, const Plan& with) const {
  Settings without = settings;
  without.disable_tma = true;
  auto engine = make_engine(without);
  if (!engine || !find_kernel(*engine, word, {})) return std::nullopt;
  Request any = request;  // what is pinned may belong to the file that was chosen
  any.file.clear();
  auto plan = engine->plan(any);
  if (!plan) {
    any.params.clear();
    plan = engine->plan(any);
  }
  if (!plan) return std::nullopt;
  for (const auto& [name, value] : with.config) {
    if (same_work(*plan, with)) break;
    Request pinned = any;
    pinned.params[name] = value;
    auto other = engine->plan(pinned);
    if (!other || same_work(*other, *plan)) continue;
    any = std::move(pinned);
    plan = std::move(other);
  }
  if (!same_work(*plan, with)) return std::nullopt;
  auto estimated = of(*std::move(plan));
  if (!estimated) return std::nullopt;
  return *std::move(estimated);
}

std::string describe(const Estimated& estimated, const DeviceInfo& device) {
  const auto& [plan, estimate] = estimated;
  std::string text = fmt::format("{} on {} ({}): {} {}\n  config    {}\n", plan.kernel, device.name, plan.arch,
                                 dim_words(plan), type_words(plan), estimated.configuration());
  text += because_line(plan);
  text += fmt::format("  time      {:.2f} us, bound by {}\n", estimate.time_us, name_of(estimate.bound));
  text += fmt::format("  share     {:.1f}% of the device's peak", 100 * estimate.share);
  if (estimate.flops > 0) text += fmt::format(", {:.4g} TFLOP/s", estimate.flops / estimate.time_us * 1e-6);
  text += fmt::format(", {:.4g} GB/s\n", estimate.hbm_bytes / estimate.time_us * 1e-3);
  text += fmt::format("  waves     {}, {} blocks an SM; the last fills {:.0f}% of the device\n", estimate.waves,
                      estimate.blocks_per_sm, 100 * estimate.tail);
  text += "  parts     each alone\n";
  const bool tensor_cores = estimate.bound == Estimate::Bound::tensor_cores || estimate.shared_memory_bytes > 0;
  if (estimate.flops > 0) text += row(tensor_cores ? "tensor cores" : "arithmetic", estimate.terms.compute_us);
  if (estimate.shared_memory_bytes > 0) text += row("shared memory", estimate.terms.shared_memory_us);
  text += row("L2", estimate.terms.l2_us) + row("HBM", estimate.terms.hbm_us);
  text += row("latency", estimate.terms.latency_us);
  if (!estimate.described) {
    text += "  note      the kernel states no work: the time is that of moving its tensors once\n";
  }
  return text + fmt::format("  constants {}\n", estimate.origin);
}

Json to_json(const Estimated& estimated, const DeviceInfo& device) {
  Json object = parse_json(json_of(estimated.estimate));
  const Json plan = to_json(estimated.plan);
  object["kernel"] = plan["kernel"];
  object["file"] = stem(estimated.plan);
  object["device"] = device.name;
  object["arch"] = plan["arch"];
  object["dims"] = plan["dims"];
  object["config"] = plan["config"];
  object["cycles"] = estimated.plan.work.cycles;
  object["peak_gb_per_s"] = device.memory_gb_per_s;
  return object;
}

std::string roofline_of(const std::vector<Estimated>& candidates, const DeviceInfo& device) {
  const Plan& chosen = candidates.front().plan;
  const bool by_bytes = candidates.front().estimate.flops == 0;
  Roofline picture;
  picture.title =
      fmt::format("{} {} {} on {}, estimated", chosen.kernel, dim_words(chosen), type_words(chosen), device.name);
  picture.subtitle = candidates.front().configuration();
  if (by_bytes) {
    picture.x_label = "bytes moved";
    picture.y_label = "GB/s";
    picture.peak = device.memory_gb_per_s;
    picture.slope = 1e-3 / kLaunchUs;
    picture.slope_label = "1 us";
    picture.peak_label = fmt::format("{:.4g} GB/s", picture.peak);
  } else {
    picture.x_label = "operations per byte of HBM";
    picture.y_label = "TFLOP/s";
    picture.peak = candidates.front().estimate.peak_tflops;
    picture.slope = device.memory_gb_per_s * 1e-3;
    picture.slope_label = fmt::format("{:.4g} GB/s", device.memory_gb_per_s);
    picture.peak_label = fmt::format("{:.4g} TFLOP/s, {}", picture.peak, name_of(input_type(chosen)));
  }
  for (const Estimated& one : candidates) {
    if (one.estimate.hbm_bytes > 0) picture.points.push_back(point_of(one, by_bytes, &one == &candidates.front()));
  }
  return svg_of(picture);
}

}  // namespace tma_jit::cli
