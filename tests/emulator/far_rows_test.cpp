// Tensors whose rows, matrices or batches lie gigabytes apart, one behind or before the other: every kernel must give
// what it gives for packed tensors. Only what is touched of their memory exists. Needs NVRTC.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include <doctest/doctest.h>

#include "core/reach.h"
#include "core/scalar_image.h"
#include "emulator/devices.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

using Strides = std::vector<std::int64_t>;

constexpr std::int64_t kFar = (std::int64_t{5} << 30) + 4096;  // bytes; beyond 32 bits, and not a multiple of 2^32

// Larger examples take too long to emulate.
constexpr double kMostBytes = 1e6, kMostFlops = 3e7;

// Returns zeros of which only the pages that are written take memory; null if the system does not give them.
void* mapped(std::size_t bytes) {
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : made;
}

// Such memory, as an emulated device's.
class SparseMemory {
 public:
  SparseMemory(emulator::driver::Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
    first_ = static_cast<std::byte*>(mapped(bytes));
    REQUIRE(first_ != nullptr);
    device_.memory.register_external(address(), bytes, "a tensor", false);
  }
  ~SparseMemory() {
    device_.memory.unregister_external(address());
    munmap(first_, bytes_);
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(first_); }

 private:
  emulator::driver::Device& device_;
  std::size_t bytes_;
  std::byte* first_ = nullptr;
};

struct Placed {
  const Argument& argument;
  Strides strides;
  std::uint64_t first;  // the address of the first element
};

std::size_t count_of(const Argument& argument) {
  std::size_t count = 1;
  for (const std::int64_t extent : argument.shape) count *= static_cast<std::size_t>(extent);
  return count;
}

// Calls f(i, address of element i) in row-major order.
template <class F> void each_element(const Placed& placed, F f) {
  const std::vector<std::int64_t>& shape = placed.argument.shape;
  for (std::size_t i = 0; i < count_of(placed.argument); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), offset = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) offset += rest % shape[d] * placed.strides[d];
    f(i, placed.first + static_cast<std::uint64_t>(offset * static_cast<std::int64_t>(size_of(placed.argument.dtype))));
  }
}

// Returns a valid index for element `at` of a row.
std::int64_t index_at(const ValueRange& range, std::int64_t at, std::int64_t columns) {
  const std::int64_t values = range.most - range.least + 1;
  if (!range.rising) return range.least + at * 7919 % values;
  return at == columns - 1 ? range.most : range.least + (values - 1) * at / columns;
}

// Small integers, whose sums are exact, or valid indices.
std::vector<std::byte> content_of(const Argument& argument) {
  const std::size_t size = size_of(argument.dtype);
  const std::int64_t columns = argument.shape.back(), least = is_floating_point(argument.dtype) ? -3 : 0;
  std::vector<std::byte> content(count_of(argument) * size);
  for (std::size_t i = 0; i < count_of(argument); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t value = argument.range ? index_at(*argument.range, at % columns, columns)
                                              : least + static_cast<std::int64_t>(i * 2654435761U >> 7 & 7);
    std::memcpy(content.data() + i * size, scalar_image("an element", argument.dtype, Scalar(value))->data(), size);
  }
  return content;
}

enum class Layout { rows, backwards, batches };  // what lies far apart

// Row-major, but for one dimension, whose elements lie kFar bytes apart, or if `near` as close as those of the others
// between them allow at multiples of 256 bytes.
Strides strides_of(const Argument& argument, Layout layout, bool near) {
  const std::size_t rank = argument.shape.size(), size = size_of(argument.dtype);
  const std::size_t far = rank < 2 ? rank : layout == Layout::batches ? 0 : rank - 2;
  Strides strides(rank);
  std::int64_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = next;
    if (d != far) next *= std::max<std::int64_t>(argument.shape[d], 1);
  }
  const std::int64_t unit = 256 / static_cast<std::int64_t>(size);
  const std::int64_t apart = near ? (next + unit - 1) / unit * unit : kFar / static_cast<std::int64_t>(size);
  if (far < rank) strides[far] = layout == Layout::backwards ? -apart : apart;
  return strides;
}

bool is_tensor(const Argument& argument) {
  const bool tensor = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
  return tensor && argument.present && !argument.hooks_offset;
}

// Tensors of a plan with their content in such a layout.
class Tensors {
 public:
  Tensors(emulator::driver::Device& device, const Plan& plan, Layout layout, bool near) {
    for (const Argument& argument : plan.arguments) {
      if (!is_tensor(argument)) continue;
      Strides strides = strides_of(argument, layout, near);
      const auto reach = reach_of(argument.shape, strides).value_or(Reach{});
      const std::size_t size = size_of(argument.dtype);
      memory_.push_back(std::make_unique<SparseMemory>(device, static_cast<std::size_t>(reach.span()) * size));
      placed_.push_back(
          {argument, std::move(strides), memory_.back()->address() + static_cast<std::uint64_t>(reach.before) * size});
    }
  }
  void add_to(Request& request) const {
    for (const Placed& placed : placed_) {
      const std::vector<std::int64_t>& shape = placed.argument.shape;
      request.tensors.push_back(
          {placed.argument.name, Tensor::strided(placed.first, placed.argument.dtype, static_cast<int>(shape.size()),
                                                 shape.data(), placed.strides.data())});
    }
  }
  void fill() const {
    for (const Placed& placed : placed_) {
      if (placed.argument.output) continue;
      const std::vector<std::byte> content = content_of(placed.argument);
      const std::size_t size = size_of(placed.argument.dtype);
      each_element(placed, [&](std::size_t i, std::uint64_t at) {
        std::memcpy(reinterpret_cast<void*>(at), content.data() + i * size, size);
      });
    }
  }
  // The elements of all outputs, one output after the other.
  std::vector<std::byte> results() const {
    std::vector<std::byte> all;
    for (const Placed& placed : placed_) {
      if (!placed.argument.output) continue;
      const std::size_t size = size_of(placed.argument.dtype), begin = all.size();
      all.resize(begin + count_of(placed.argument) * size);
      each_element(placed, [&](std::size_t i, std::uint64_t at) {
        std::memcpy(all.data() + begin + i * size, reinterpret_cast<const void*>(at), size);
      });
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<SparseMemory>> memory_;
  std::vector<Placed> placed_;
};

// Returns what the request gives in a layout, or nothing if no configuration takes tensors that lie so. Pins the
// configuration that was chosen.
std::optional<std::vector<std::byte>> run(Engine& engine, emulator::driver::Device& device, const Plan& shapes,
                                          Request& request, Layout layout, bool near) {
  const Tensors tensors(device, shapes, layout, near);
  Request placed = request;
  tensors.add_to(placed);
  const auto plan = engine.plan(placed);
  if (!plan) return std::nullopt;
  for (const auto& [name, value] : plan->config) request.params[name] = placed.params[name] = value;
  auto launch = engine.prepare(placed);
  REQUIRE_MESSAGE(launch, launch.error().text());
  tensors.fill();
  const auto launched = launch->launch();
  CHECK_MESSAGE(launched, launched.error().text());
  return tensors.results();
}

// Extents of those dims of which a kernel has so many that its examples are large.
std::map<std::string, std::int64_t> small_dims(const KernelInfo& info) {
  static const std::map<std::string, std::int64_t> kSmall = {
      {"N0", 2}, {"N1", 3},  {"N2", 4}, {"N3", 5},    {"N4", 40}, {"M0", 2},        {"M1", 3},       {"M2", 4},
      {"M3", 5}, {"M4", 40}, {"B", 2},  {"BATCH", 2}, {"P", 6},   {"MAX_PAGES", 3}, {"LONGEST", 70}, {"COPIES", 2}};
  std::map<std::string, std::int64_t> dims;
  for (const KernelInfo::Dim& dim : info.dims)
    if (const auto found = kSmall.find(dim.name); found != kSmall.end()) dims.insert(*found);
  return dims;
}

// Returns how many layouts were compared.
int check_file(Engine& engine, emulator::driver::Device& device, const KernelInfo& info, const std::string& stem) {
  CAPTURE(stem);
  Result<Request> example = engine.example({.kernel = info.kernel, .dims = small_dims(info), .file = stem});
  if (!example) example = engine.example({.kernel = info.kernel, .file = stem});
  if (!example) return 0;  // for a larger device
  const auto shapes = engine.plan(*example);
  REQUIRE_MESSAGE(shapes, shapes.error().text());
  if (shapes->work.bytes > kMostBytes || shapes->work.flops > kMostFlops) return 0;
  int compared = 0;
  for (const Layout layout : {Layout::rows, Layout::backwards, Layout::batches}) {
    CAPTURE(static_cast<int>(layout));
    Request request = *example;
    request.file = stem;
    const auto far = run(engine, device, *shapes, request, layout, false);
    if (!far) continue;
    const auto near = run(engine, device, *shapes, request, layout, true);
    CHECK(near.has_value());
    CHECK((!near || *far == *near));
    ++compared;
  }
  return compared;
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("every kernel finds rows, matrices and batches that lie gigabytes apart") {
  constexpr std::size_t kProbe = std::size_t{1} << 40;
  void* const probe = mapped(kProbe);
  if (probe == nullptr) {
    MESSAGE("skipped: the system maps no more memory than it has");
    return;
  }
  munmap(probe, kProbe);
  std::set<std::string> checked;
  int compared = 0;
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    CAPTURE(arch);
    emulator::driver::Device& device = device_of(arch);
    device.settings.checks = false;
    Engine engine = emulated_engine(arch);
    for (const auto& info : engine.kernels()) {
      if (!info || info->probe || std::ranges::find(info->archs, arch) == info->archs.end()) continue;
      const std::string stem = std::filesystem::path(info->file).stem().string();
      if (checked.insert(stem).second) compared += check_file(engine, device, *info, stem);
    }
    device.settings = {};
  }
  CHECK(compared > 150);
}

TEST_SUITE_END();
