// A kernel called with tensors each time: finds the prepared kernel by shape, writes the addresses into a copy of its
// arguments, and launches it.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "core/failure.h"
#include "core/scalar_image.h"
#include "engine/function_key.h"
#include "engine/function_table.h"
#include "engine/launch_swap.h"
#include "engine/state.h"
#include "plan/planner.h"
#include "template/operand_declarations.h"

namespace tma_jit {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
constexpr std::uint64_t kScratchAlignment = 256;  // alignments of addresses are considered up to this

bool is_given(const Tensor& tensor) {
  return tensor.rank != 0 || tensor.address != 0;
}

// Returns the index of each tensor's argument; kAbsent if the plan has none.
std::vector<std::size_t> arguments_of(const Plan& plan, const std::vector<std::string>& tensors) {
  std::vector<std::size_t> indices;
  for (const std::string& name : tensors) {
    const auto found = std::find_if(plan.arguments.begin(), plan.arguments.end(), [&](const Argument& argument) {
      const bool tensor = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
      return tensor && argument.present && argument.name == name;
    });
    indices.push_back(found == plan.arguments.end() ? kAbsent
                                                    : static_cast<std::size_t>(found - plan.arguments.begin()));
  }
  return indices;
}

// The params as the request pins them, else their defaults.
class ParamScope final : public templates::Scope {
 public:
  ParamScope(const templates::Template& kernel, const Request& request) : kernel_(kernel), request_(request) {}
  Result<std::int64_t> value(const templates::Reference& reference) const override {
    const templates::Param* param = kernel_.find_param(reference.name);
    if (param == nullptr) return failure(ErrorCode::not_found, "{} is no param", reference.text());
    const auto pin = request_.params.find(param->name);
    return pin != request_.params.end() ? pin->second : param->default_value;
  }

 private:
  const templates::Template& kernel_;
  const Request& request_;
};

// Returns the indices of the tensors without the optional ones that these params exclude.
std::vector<std::size_t> usual_tensors(const templates::Template& kernel, const Request& request) {
  const ParamScope scope(kernel, request);
  std::vector<std::size_t> usual;
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    const auto& when = kernel.tensors[i].when;
    if (!when.has_value() || when->evaluate(scope).value_or(1) != 0) usual.push_back(i);
  }
  return usual;
}

// A copy of an entry's argument bytes for one call; on the stack unless the parameter list is very large.
class CallArguments {
 public:
  explicit CallArguments(const driver::Arguments& from) {
    const auto bytes = from.bytes();
    if (bytes.size() > sizeof stack_ || from.count() > pointers_.size()) grow(bytes.size(), from.count());
    std::memcpy(bytes_, bytes.data(), bytes.size());
    for (std::size_t i = 0; i < from.count(); ++i) list_[i] = bytes_ + from.parameter_offset(i);
  }
  std::byte* at(std::size_t offset) { return bytes_ + offset; }
  void** pointers() { return list_; }

 private:
  void grow(std::size_t bytes, std::size_t count) {
    heap_.resize(bytes + driver::kArgumentAlignment);
    void* start = heap_.data();
    std::size_t space = heap_.size();
    bytes_ = static_cast<std::byte*>(std::align(driver::kArgumentAlignment, bytes, start, space));
    many_.resize(count);
    list_ = many_.data();
  }

  alignas(driver::kArgumentAlignment) std::byte stack_[4096];
  std::array<void*, 64> pointers_;
  std::vector<std::byte> heap_;
  std::vector<void*> many_;
  std::byte* bytes_ = stack_;
  void** list_ = pointers_.data();
};

using Scalars = std::map<std::string, Scalar>;

Result<void> write_scalars(const driver::Prepared& prepared, const Scalars& scalars, const driver::Arguments& from,
                           CallArguments& to) {
  for (const auto& [name, value] : scalars) {
    const auto found = std::ranges::find_if(prepared.plan.arguments, [&](const Argument& argument) {
      return argument.kind == Argument::Kind::scalar && argument.name == name;
    });
    if (found == prepared.plan.arguments.end()) {
      return failure(ErrorCode::not_found, "{}: there is no scalar \"{}\"", prepared.plan.kernel, name);
    }
    auto image = scalar_image(name, found->dtype, value);
    if (!image) return failure(image.error().code, "{}: {}", prepared.plan.kernel, image.error().message);
    const auto index = static_cast<std::size_t>(found - prepared.plan.arguments.begin());
    std::ranges::copy(*image, to.at(from.offset(index)));
  }
  return {};
}

Result<void> call(const engine::FunctionEntry& entry, const Tensor* tensors, const Scalars& scalars, Stream stream) {
  const driver::Prepared& prepared = *entry.launch->prepared;
  CallArguments arguments(entry.launch->arguments);
  for (std::size_t i = 0; i < entry.argument_of.size(); ++i) {
    const std::size_t index = entry.argument_of[i];
    if (index == kAbsent) continue;
    const Argument& argument = prepared.plan.arguments[index];
    if (tensors[i].address == argument.address) continue;  // unchanged since the entry was made
    TMA_JIT_CHECK(driver::write_address(prepared.kernel->context(), argument, tensors[i].address,
                                        arguments.at(entry.launch->arguments.offset(index)), true));
  }
  if (!scalars.empty()) TMA_JIT_CHECK(write_scalars(prepared, scalars, entry.launch->arguments, arguments));
  return driver::launch(prepared, arguments.pointers(), stream);
}

}  // namespace

struct Function::State : std::enable_shared_from_this<Function::State> {
  std::shared_ptr<Engine::State> engine;
  Request request;                   // everything but the tensors
  std::vector<std::string> tensors;  // names in declaration order
  std::vector<std::size_t> usual;    // those that the pinned and default params include
  engine::FunctionTable table;
  Memo<std::vector<std::uint64_t>, const engine::FunctionEntry*> making;

  Result<const engine::FunctionEntry*> find(const engine::FunctionKey& key, const Tensor* given, Stream stream) {
    const engine::FunctionEntry* entry = table.find(key.words());
    if (entry != nullptr) [[likely]]
      return entry;
    const std::vector<std::uint64_t> words(key.words().begin(), key.words().end());
    return making.get(words, [&]() -> Result<const engine::FunctionEntry*> { return make(words, given, stream); });
  }

  Result<const engine::FunctionEntry*> make(const std::vector<std::uint64_t>& words, const Tensor* given,
                                            Stream stream) {
    Request full = request;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (is_given(given[i])) full.tensors.push_back({tensors[i], given[i]});
    }
    TMA_JIT_ASSIGN(auto launch, engine->launch(full));
    if (const Argument* unbound = launch->arguments.unbound(); unbound != nullptr) {
      return failure(ErrorCode::invalid_argument, "{}: the address of {} is null", request.kernel, unbound->name);
    }
    auto entry = entry_of(words, std::move(launch), driver::id_of(stream));
    const Plan& plan = entry->launch->prepared->plan;
    const bool tuned_later = engine->live_tuning.wants(full, plan);
    if (tuned_later) entry->swap = std::make_unique<engine::LaunchSwap>(table);
    const engine::FunctionEntry* made = table.insert(std::move(entry));
    if (tuned_later && made->swap != nullptr) {
      engine->live_tuning.add(full, plan, [weak = weak_from_this(), made, full](bool tuned) {
        if (const auto self = weak.lock()) self->settle(*made, full, tuned);
      });
    }
    return made;
  }

  std::unique_ptr<engine::FunctionEntry> entry_of(const std::vector<std::uint64_t>& words,
                                                  std::unique_ptr<Launch::State> launch,
                                                  driver::StreamId stream) const {
    auto entry = std::make_unique<engine::FunctionEntry>();
    entry->key = words;
    entry->argument_of = arguments_of(launch->prepared->plan, tensors);
    entry->workspace_per_stream = !launch->workspaces.empty();
    entry->stream = stream;
    entry->launch = std::move(launch);
    return entry;
  }

  // Called once the shape of an entry has been tuned, or will not be.
  void settle(const engine::FunctionEntry& planned, Request full, bool tuned) {
    if (!tuned) return planned.swap->settle();
    auto faster = faster_than(planned, std::move(full));
    if (!faster) engine->live_tuning.report(request, faster.error());
    if (!faster || *faster == nullptr) return planned.swap->settle();
    planned.swap->publish(*std::move(faster));
    ++engine->counters.launches_swapped;
  }

  // Returns an entry with the configuration that records give now; null if it is the one that was planned. Arguments
  // are encoded with addresses of this object's memory, because the first call's tensors may be gone; calls replace
  // them.
  Result<std::unique_ptr<engine::FunctionEntry>> faster_than(const engine::FunctionEntry& planned, Request full) const {
    TMA_JIT_ASSIGN(const driver::SharedContext context, engine->device.context());
    TMA_JIT_ASSIGN(const driver::Memory scratch, driver::Memory::allocate(context, 2 * kScratchAlignment));
    for (NamedTensor& named : full.tensors) {
      if (named.tensor.address != 0) {
        named.tensor.address = scratch.address() + named.tensor.address % kScratchAlignment;
      }
    }
    TMA_JIT_ASSIGN(Plan plan, engine->plan(full));
    const Plan& before = planned.launch->prepared->plan;
    if (plan.file == before.file && plan.config == before.config) return nullptr;
    TMA_JIT_ASSIGN(auto launch, engine->launch(std::move(plan)));
    return entry_of(planned.key, std::move(launch), planned.stream);
  }

  // The entry for a call on this stream, if a faster one may replace it.
  const engine::FunctionEntry* current(const engine::FunctionEntry* entry, Stream stream) const {
    if (entry->swap == nullptr || entry->swap->settled()) [[likely]]
      return entry;
    const driver::Context& context = entry->launch->prepared->kernel->context();
    return entry->swap->choose(entry, driver::id_of(stream), driver::capture_of(context, stream));
  }
};

Function::Function(std::shared_ptr<State> state) : state_(std::move(state)) {}
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

const std::vector<std::size_t>& Function::usual_tensors() const {
  return state_->usual;
}

Result<void> Function::operator()(std::initializer_list<Tensor> tensors, Stream stream) {
  return (*this)(tensors.begin(), tensors.size(), stream);
}

Result<void> Function::operator()(const Tensor* tensors, std::size_t count, Stream stream) {
  return (*this)(tensors, count, {}, stream);
}

Result<void> Function::operator()(const Tensor* tensors, std::size_t count, const Scalars& scalars, Stream stream) {
  if (count != state_->tensors.size() && count == state_->usual.size()) {
    std::array<Tensor, engine::kFunctionTensorsMax> all{};
    for (std::size_t i = 0; i < count; ++i) all[state_->usual[i]] = tensors[i];
    return (*this)(all.data(), state_->tensors.size(), scalars, stream);
  }
  if (count != state_->tensors.size()) {
    return failure(ErrorCode::invalid_argument, "{}: {} tensors given, it takes {}: {}", state_->request.kernel, count,
                   state_->tensors.size(), joined(state_->tensors));
  }
  engine::FunctionKey key(tensors, count);
  TMA_JIT_ASSIGN(const engine::FunctionEntry* entry, state_->find(key, tensors, stream));
  entry = state_->current(entry, stream);
  if (entry->workspace_per_stream && entry->stream != driver::id_of(stream)) {
    key.add(static_cast<std::uint64_t>(driver::id_of(stream)));
    TMA_JIT_ASSIGN(entry, state_->find(key, tensors, stream));
    entry = state_->current(entry, stream);
  }
  return call(*entry, tensors, scalars, stream);
}

Result<Function> Engine::function(const Request& request) {
  if (!request.tensors.empty()) {
    return failure(ErrorCode::invalid_argument, "{}: a function's request gives no tensors; each call does",
                   request.kernel);
  }
  TMA_JIT_CHECK(state_->device.context());
  TMA_JIT_ASSIGN(const DeviceInfo facts, device());
  TMA_JIT_ASSIGN(const engine::Selection selection, state_->select(request.kernel));
  const auto found = plan::candidates(request.file, facts, selection.templates());
  if (!found) return tl::make_unexpected(selection.explained(found.error()));
  auto state = std::make_shared<Function::State>();
  state->engine = state_;
  state->request = request;
  TMA_JIT_ASSIGN(const auto kernel, templates::with_operands(*found->front(), request.operands));
  for (const templates::Tensor& tensor : kernel.tensors) state->tensors.push_back(tensor.name);
  state->usual = usual_tensors(kernel, request);
  if (state->tensors.size() > engine::kFunctionTensorsMax) {
    return failure(ErrorCode::unsupported, "{}: {} tensors; a function takes at most {}", request.kernel,
                   state->tensors.size(), engine::kFunctionTensorsMax);
  }
  return Function(std::move(state));
}

}  // namespace tma_jit
