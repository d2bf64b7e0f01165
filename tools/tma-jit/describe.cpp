#include "describe.h"

#include <algorithm>

#include <tma_jit/json.h>

#include "text.h"

namespace tma_jit::cli {
namespace {

template <class Array> std::string dims3(const Array& values) {
  return fmt::format("{} x {} x {}", values[0], values[1], values[2]);
}

const char* name_of(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::tensor_map: return "tensor map";
    case Argument::Kind::view: return "view";
    case Argument::Kind::workspace: return "workspace";
    case Argument::Kind::scalar: return "scalar";
    case Argument::Kind::hooks: return "hooks";
    default: return "dims";
  }
}

int interleave_bytes(Interleave interleave) {
  return interleave == Interleave::none ? 0 : 8 << static_cast<int>(interleave);
}
int promotion_bytes(L2Promotion promotion) {
  return promotion == L2Promotion::none ? 0 : 32 << static_cast<int>(promotion);
}

// Reverses the driver's order to outermost first, as templates write shapes.
template <class Array> std::vector<std::int64_t> outermost_first(const Array& values, int count) {
  std::vector<std::int64_t> out;
  for (int i = count; i-- > 0;) out.push_back(static_cast<std::int64_t>(values[static_cast<std::size_t>(i)]));
  return out;
}

// Returns the swizzle as a manifest writes it.
std::string swizzle_words(Swizzle swizzle) {
  if (atom_of(swizzle) == 16) return fmt::format("{}", span_of(swizzle));
  return fmt::format("{} atom {}{}", span_of(swizzle), atom_of(swizzle),
                     swizzle == Swizzle::b128_atom_b32_flip_b8 ? " flip" : "");
}

std::string describe(const TensorMapSpec& map) {
  std::string text;
  if (map.as) text += fmt::format("as {} ", name_of(*map.as));
  if (map.corners() > 0) {
    text += fmt::format("{} {} {} ", name_of(map.mode), bracketed(outermost_first(map.lower, map.corners())),
                        bracketed(outermost_first(map.upper, map.corners())));
  }
  text += fmt::format("box {} swizzle {} l2 {}", bracketed(outermost_first(map.box, map.box_rank())),
                      swizzle_words(map.swizzle), promotion_bytes(map.l2_promotion));
  if (map.interleave != Interleave::none) text += fmt::format(" interleave {}", interleave_bytes(map.interleave));
  if (map.fill == Fill::nan) text += " fill nan";
  const auto stepped = [](std::uint32_t step) { return step != 1; };
  if (std::any_of(map.element_strides.begin(), map.element_strides.begin() + map.rank, stepped))
    text += fmt::format(" steps {}", bracketed(outermost_first(map.element_strides, map.rank)));
  return text;
}

std::string describe(const Argument& argument) {
  std::string text = fmt::format("  argument  {:<10} {}", name_of(argument.kind), argument.name);
  const bool tensor = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
  if (tensor && !argument.present) return text + " absent\n";
  if (tensor) text += fmt::format(" : {}{}", name_of(argument.dtype), bracketed(argument.shape));
  if (argument.kind == Argument::Kind::scalar) text += fmt::format(" : {}", name_of(argument.dtype));
  if (argument.map) text.append(" ").append(describe(*argument.map));
  if (argument.workspace_bytes > 0) text += fmt::format(" {} bytes", argument.workspace_bytes);
  if (argument.workspace_zeroed) text += " zeroed";
  if (argument.output) text += " out";
  if (const auto& range = argument.range) {
    text += fmt::format(" in {}..{}{}{}", range->least, range->most, range->rising ? " rising" : "",
                        range->distinct ? " distinct" : "");
  }
  if (argument.hooks_offset) text += ", of hooks";
  return text + "\n";
}

std::string_view form_of(const Artifact& artifact) {
  return artifact.form == Artifact::Form::ptx ? "PTX" : "cubin";
}

void append_word(std::string& words, const std::string& word) {
  words += (words.empty() ? "" : " ") + word;
}

}  // namespace

std::string config_words(const Plan& plan) {
  return value_words(plan.config);
}

std::string dim_words(const Plan& plan) {
  std::string words;
  for (const DimValue& dim : plan.dims)
    append_word(words, fmt::format("{}={}{}", dim.name, dim.value, dim.fixed ? " (fixed)" : ""));
  return words;
}

std::string type_words(const Plan& plan) {
  std::string words;
  for (const Constant& constant : plan.constants) {
    if (constant.kind == Constant::Kind::type)
      append_word(words, fmt::format("{}={}", constant.name, name_of(constant.type)));
  }
  return words;
}

std::string because_line(const Plan& plan) {
  return plan.reason.empty() ? std::string() : fmt::format("  because   {}\n", plan.reason);
}

std::string describe(const Plan& plan) {
  const Geometry& g = plan.geometry;
  std::string text = fmt::format("{} for {} from {}\n", plan.kernel, plan.arch, plan.file);
  text += fmt::format("  dims      {}\n  types     {}\n  config    {}\n", dim_words(plan), type_words(plan),
                      config_words(plan));
  if (!plan.record.empty()) text += fmt::format("  record    {}\n", plan.record);
  text += fmt::format("  launch    grid {}, block {}, cluster {}, {} bytes of dynamic shared memory{}\n", dims3(g.grid),
                      dims3(g.block), dims3(g.cluster), g.smem_bytes, g.programmatic ? ", programmatic" : "");
  text += because_line(plan);
  for (const Argument& argument : plan.arguments) text += describe(argument);
  for (const Hook& hook : plan.hooks) text += fmt::format("  hook      {} = {}\n", hook.name, hook.text);
  for (const Constant& constant : plan.constants) {
    if (constant.kind == Constant::Kind::integer && constant.origin != "param")
      text += fmt::format("  constant  {} = {} ({})\n", constant.name, constant.value, constant.origin);
  }
  return text + fmt::format("  work      {:.6g} flops, {:.6g} bytes\n", plan.work.flops, plan.work.bytes);
}

std::string describe(const Artifact& artifact, const Plan& plan) {
  const Resources& r = artifact.resources;
  std::string text = fmt::format("  key       {}\n", artifact.key.hex());
  text += fmt::format(
      "  {:<8}  {} bytes, {}\n", form_of(artifact), artifact.bytes.size(),
      artifact.compiled ? fmt::format("compiled in {:.0f} ms", artifact.compile_ms) : std::string("from the cache"));
  text += fmt::format("  uses      {} registers, {} bytes of stack, {} + {} bytes of spills (stores + loads)\n",
                      r.registers, r.stack_bytes, r.spill_store_bytes, r.spill_load_bytes);
  text += fmt::format("            {} + {} bytes of shared memory (static + dynamic)\n", r.static_shared_bytes,
                      plan.geometry.smem_bytes);
  for (const std::string& warning : r.warnings) text += fmt::format("  warning   {}\n", warning);
  return text;
}

Json to_json(const DeviceInfo& device) {
  return parse_json(json_of(device));
}

Json to_json(const Plan& plan) {
  return parse_json(json_of(plan));
}

Json to_json(const Artifact& artifact, const Plan& plan) {
  Json object = parse_json(json_of(artifact));
  object["shared_bytes"] = artifact.resources.static_shared_bytes + plan.geometry.smem_bytes;
  object["dynamic_shared_bytes"] = plan.geometry.smem_bytes;
  return object;
}

void merge(Json& object, const Json& more) {
  for (const auto& [name, value] : more.items()) object[name] = value;
}

}  // namespace tma_jit::cli
