// Chains: which stage may begin before the one before it has ended, by the memory that they read and write.
#include <tma_jit/chain.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/failure.h"
#include "core/reach.h"
#include "driver/argument_buffer.h"
#include "engine/following.h"
#include "engine/state.h"

namespace tma_jit {
namespace {

// Addresses from `first` to `end` - 1.
struct Range {
  std::uint64_t first = 0, end = 0;
  bool overlaps(const Range& other) const { return first < other.end && other.first < end; }
};

bool is_tensor(const Argument& argument) {
  return argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
}

// Returns the memory from the lowest element to the highest; empty if there is none.
Range memory_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::workspace)
    return {argument.address, argument.address + argument.workspace_bytes};
  if (!is_tensor(argument) || !argument.present) return {};
  const std::optional<Reach> reach = reach_of(argument.shape, argument.strides);
  if (!reach) return {};
  const std::size_t size = size_of(argument.dtype);
  return {argument.address - static_cast<std::uint64_t>(reach->before) * size,
          argument.address + static_cast<std::uint64_t>(reach->after + 1) * size};
}

std::string words_of(const Argument& argument) {
  return fmt::format("{} {}[{}]", argument.name, name_of(argument.dtype), fmt::join(argument.shape, ", "));
}

// What the stages so far write.
class Written {
 public:
  // Fails if the plan reads what an earlier stage writes as another type, or beyond its end. Decides how it is
  // launched.
  Result<void> check(Plan& plan) const {
    bool early = begun_ && plan.geometry.waits;
    for (const Argument& argument : plan.arguments) {
      if (is_tensor(argument) && argument.address == 0 && driver::needs_address(argument)) {
        return failure(ErrorCode::invalid_argument, "{} has no address; a chain's tensors have theirs from the start",
                       argument.name);
      }
      if (argument.early && overlaps(memory_of(argument))) early = false;
      if (is_tensor(argument) && !argument.output) TMA_JIT_CHECK(check_read(argument));
    }
    plan.geometry.programmatic = plan.geometry.programmatic || early;
    return {};
  }

  void add(const Plan& plan, std::size_t stage) {
    for (const Argument& argument : plan.arguments) {
      const bool written = argument.output || (argument.kind == Argument::Kind::workspace && argument.address != 0);
      if (written && argument.present) outputs_.push_back({stage, plan.kernel, argument, memory_of(argument)});
    }
    begun_ = begun_ || std::ranges::find(plan.geometry.grid, 0U) == plan.geometry.grid.end();
  }

 private:
  struct Output {
    std::size_t stage;
    std::string kernel;
    Argument argument;
    Range memory;
  };

  bool overlaps(const Range& memory) const {
    return std::ranges::any_of(outputs_, [&](const Output& output) { return output.memory.overlaps(memory); });
  }

  // Compares a tensor with the last output that begins where it does.
  Result<void> check_read(const Argument& read) const {
    const Range memory = memory_of(read);
    const auto found = std::find_if(outputs_.rbegin(), outputs_.rend(), [&](const Output& output) {
      return is_tensor(output.argument) && output.memory.overlaps(memory) && output.memory.first == memory.first;
    });
    if (found == outputs_.rend()) return {};
    if (found->argument.dtype == read.dtype && memory.end <= found->memory.end) return {};
    return failure(ErrorCode::invalid_argument, "it reads {} where stage {} ({}) writes {}", words_of(read),
                   found->stage + 1, found->kernel, words_of(found->argument));
  }

  std::vector<Output> outputs_;
  bool begun_ = false;  // whether an earlier stage launches anything
};

tl::unexpected<Error> of_stage(std::size_t stage, std::size_t count, const std::string& kernel, Error error) {
  error.message = fmt::format("stage {} of {} ({}): {}", stage + 1, count, kernel, error.message);
  return tl::make_unexpected(std::move(error));
}

}  // namespace

Result<void> Chain::launch(Stream stream) {
  for (Launch& stage : stages_) TMA_JIT_CHECK(stage.launch(stream));
  return {};
}

Result<Chain> Engine::chain(const std::vector<Request>& stages) {
  if (stages.empty()) return failure(ErrorCode::invalid_argument, "a chain of no stages");
  Written written;
  std::vector<Launch> launches;
  for (const Request& request : stages) {
    engine::Stage stage = launches.empty() ? engine::Stage{request, {}} : engine::following(*state_, request);
    auto launch = state_->prepare_launch(
        stage.request, [&](Plan& plan) { return written.check(plan); }, std::move(stage.searched));
    if (!launch) return of_stage(launches.size(), stages.size(), request.kernel, std::move(launch).error());
    written.add(launch->plan(), launches.size());
    launches.push_back(*std::move(launch));
  }
  return Chain(std::move(launches));
}

}  // namespace tma_jit
