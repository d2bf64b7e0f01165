#include "estimation/demand.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace tma_jit::estimation {
namespace {

constexpr std::int64_t kReservedSharedBytes = 1024;  // of each block, by the system, from sm_80 on
constexpr std::int64_t kBlocksPerSmMax = 32;
constexpr double kOtherRegisters = 50;  // of a thread, beside its accumulators
constexpr std::int64_t kRowsTogether = 8;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

std::optional<std::int64_t> constant_of(const Plan& plan, std::string_view name) {
  for (const Constant& constant : plan.constants) {
    if (constant.name == name && constant.kind == Constant::Kind::integer) return constant.value;
  }
  return std::nullopt;
}

// A param or let that a kernel of its kind may lack; at least 1.
std::int64_t constant_or(const Plan& plan, std::string_view name, std::int64_t absent) {
  return std::max<std::int64_t>(1, constant_of(plan, name).value_or(absent));
}

std::optional<std::int64_t> dim_of(const Plan& plan, std::string_view name) {
  for (const DimValue& dim : plan.dims) {
    if (dim.name == name) return dim.value;
  }
  return std::nullopt;
}

bool is_tensor(const Argument& argument) {
  return argument.present && (argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view);
}

double bytes_of(const Argument& tensor) {
  auto bytes = static_cast<double>(size_of(tensor.dtype));
  for (const std::int64_t extent : tensor.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

double tensor_bytes(const Plan& plan) {
  double bytes = 0;
  for (const Argument& argument : plan.arguments) {
    if (is_tensor(argument)) bytes += bytes_of(argument);
  }
  return bytes;
}

int input_size(const Plan& plan) {
  for (const Argument& argument : plan.arguments) {
    if (is_tensor(argument) && !argument.output) return static_cast<int>(size_of(argument.dtype));
  }
  return 4;
}

Unit unit_of(const Plan& plan) {
  const std::string_view text = plan.body;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("tcgen05")) return Unit::tcgen05;
  if (has("wgmma")) return Unit::wgmma;
  return has("mma") || has("Mma") ? Unit::mma : Unit::none;
}

std::int64_t product_of(const std::array<std::uint32_t, 3>& extents) {
  return std::int64_t{extents[0]} * extents[1] * extents[2];
}

// `accumulators` are a block's; limits that are unknown (0) do not count.
std::int64_t resident_blocks(const Plan& plan, const DeviceInfo& device, double accumulators) {
  const std::int64_t threads = std::max<std::int64_t>(1, product_of(plan.geometry.block));
  std::int64_t blocks = kBlocksPerSmMax;
  if (device.threads_per_sm > 0) blocks = std::min(blocks, device.threads_per_sm / threads);
  if (device.smem_per_sm > 0 && plan.geometry.smem_bytes > 0) {
    blocks = std::min(blocks, device.smem_per_sm / (plan.geometry.smem_bytes + kReservedSharedBytes));
  }
  if (device.registers_per_sm > 0 && accumulators > 0) {
    const double registers = accumulators + kOtherRegisters * static_cast<double>(threads);
    blocks = std::min(blocks, static_cast<std::int64_t>(static_cast<double>(device.registers_per_sm) / registers));
  }
  return std::max<std::int64_t>(1, blocks);
}

double boxed_input_bytes(const Plan& plan) {
  double bytes = 0;
  for (const Argument& argument : plan.arguments) {
    if (!argument.map || argument.output || argument.hooks_offset) continue;
    auto box = static_cast<double>(size_of(argument.dtype));
    for (int i = 0; i < argument.map->box_rank(); ++i) box *= argument.map->box[static_cast<std::size_t>(i)];
    bytes += box;
  }
  return bytes;
}

struct Tile {
  std::int64_t m = 0, n = 0, k = 0;
};

// Elements of A and B that the tensor cores read from shared memory for one column of a step's K. An instruction of
// wgmma reads its 64 rows and all columns; either operand may be its rows. A warp of mma reads the rows and columns of
// its own tile.
double elements_read(const Plan& plan, Unit unit, const Tile& tile) {
  const auto m = static_cast<double>(tile.m), n = static_cast<double>(tile.n);
  if (unit == Unit::mma) {
    const auto wm = static_cast<double>(constant_or(plan, "WM", std::min<std::int64_t>(tile.m, 64)));
    const auto wn = static_cast<double>(constant_or(plan, "WN", std::min<std::int64_t>(tile.n, 64)));
    return m / wm * (n / wn) * (wm + wn);
  }
  const double by_rows = std::ceil(m / 64) * (64 + n), by_columns = std::ceil(n / 64) * (64 + m);
  if (tile.m % 64 != 0) return by_columns;
  return tile.n % 64 != 0 ? by_rows : std::min(by_rows, by_columns);
}

Product product_of(const Plan& plan, const Demand& demand, const Tile& tile, std::int64_t parts, std::int64_t depth) {
  Product product;
  product.parts = parts;
  product.steps = ceil_div(ceil_div(depth, tile.k), parts);
  product.elements = static_cast<double>(tile.m) * static_cast<double>(tile.n);
  const double column =
      static_cast<double>(tile.k) * demand.element_bytes;  // bytes of a step's part of one row of A or B
  product.flops = 2 * product.elements * static_cast<double>(tile.k);
  const double operands = static_cast<double>(tile.m + tile.n) * column;
  const double boxed = boxed_input_bytes(plan);
  const auto cluster = static_cast<double>(product_of(plan.geometry.cluster));
  product.loaded_bytes = boxed > 0 && cluster > 1 ? std::clamp(boxed, operands / cluster, operands) : operands;
  product.shared_bytes = demand.unit == Unit::tcgen05 ? 2 * product.loaded_bytes
                                                      : operands + elements_read(plan, demand.unit, tile) * column;
  if (boxed == 0) product.accesses = operands / static_cast<double>(constant_or(plan, "VEC", 16));
  product.stages = constant_or(plan, "STAGES", 1);
  product.stores_overlap = constant_of(plan, "PINGPONG").value_or(0) != 0;
  return product;
}

// The problem of a product, and how many tiles it has down and across.
struct Extents {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t down = 0, across = 0;
};

// Bytes that come from HBM if L2 does not hold both operands. A wave is GROUP_M tiles high. Each group of tile rows
// reads B anew, and each wave reads its rows of A anew unless half of L2 holds those of the group.
double streamed_bytes(const Plan& plan, const DeviceInfo& device, const Demand& demand, const Tile& tile,
                      const Extents& extents) {
  const double row_bytes = static_cast<double>(extents.k) * demand.element_bytes;
  const double a = static_cast<double>(extents.m) * row_bytes, b = static_cast<double>(extents.n) * row_bytes;
  const auto l2 = static_cast<double>(device.l2_bytes);
  if (l2 == 0 || a + b <= l2) return demand.needed_bytes;
  const std::int64_t high = std::min(extents.down, constant_or(plan, "GROUP_M", kRowsTogether));
  const double wide = static_cast<double>(demand.at_once) / static_cast<double>(demand.product.parts * high);
  const bool kept = static_cast<double>(high * tile.m) * row_bytes <= l2 / 2;
  const double times_a = kept ? 1 : std::max(1.0, static_cast<double>(extents.across) / wide);
  const double times_b = static_cast<double>(extents.down) / static_cast<double>(high);
  return demand.needed_bytes + a * (times_a - 1) + b * (times_b - 1);
}

void spread(Demand& demand, std::int64_t grid, std::int64_t pieces, std::int64_t slots) {
  demand.pieces = pieces;
  demand.at_once = std::max<std::int64_t>(1, std::min({grid, slots, std::max<std::int64_t>(pieces, 1)}));
  demand.waves = ceil_div(pieces, demand.at_once);
  const std::int64_t last = pieces - std::max<std::int64_t>(demand.waves - 1, 0) * demand.at_once;
  demand.tail = static_cast<double>(last) / static_cast<double>(slots);
}

}  // namespace

Demand demand_of(const Plan& plan, const DeviceInfo& device) {
  Demand demand;
  demand.flops = plan.work.flops;
  demand.described = plan.work.flops > 0 || plan.work.bytes > 0;
  demand.needed_bytes = demand.described ? plan.work.bytes : tensor_bytes(plan);
  demand.hbm_bytes = demand.needed_bytes;
  demand.element_bytes = input_size(plan);
  demand.unit = unit_of(plan);
  const std::int64_t grid = product_of(plan.geometry.grid);
  const Tile tile{constant_of(plan, "BM").value_or(0), constant_of(plan, "BN").value_or(0),
                  constant_of(plan, "BK").value_or(0)};
  const auto m = dim_of(plan, "M"), n = dim_of(plan, "N"), k = dim_of(plan, "K");
  demand.is_product =
      demand.flops > 0 && demand.unit != Unit::none && m && n && k && tile.m > 0 && tile.n > 0 && tile.k > 0;
  const double accumulators = demand.is_product ? static_cast<double>(tile.m) * static_cast<double>(tile.n) : 0;
  demand.blocks_per_sm = resident_blocks(plan, device, demand.unit == Unit::tcgen05 ? 0 : accumulators);
  const std::int64_t slots = std::max(1, device.sm_count) * demand.blocks_per_sm;
  if (!demand.is_product) {
    spread(demand, grid, grid, slots);
    return demand;
  }
  const std::int64_t parts = constant_or(plan, "SPLIT", 1) * constant_or(plan, "CHUNKS", 1);
  const Extents extents{*m, *n, *k, ceil_div(*m, tile.m), ceil_div(*n, tile.n)};
  const double one = 2 * static_cast<double>(*m) * static_cast<double>(*n) * static_cast<double>(*k);
  const std::int64_t batch = one > 0 ? std::max<std::int64_t>(1, std::llround(demand.flops / one)) : 1;
  spread(demand, grid, batch * extents.down * extents.across * parts, slots);
  demand.product = product_of(plan, demand, tile, parts, *k);
  if (demand.pieces > 0) demand.hbm_bytes = streamed_bytes(plan, device, demand, tile, extents);
  return demand;
}

}  // namespace tma_jit::estimation
