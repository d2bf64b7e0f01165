// The problem: a template of six params with four values each has 4,096 configurations, and some templates have
// millions, so that a plan cannot evaluate all of them. The idea: presets come first; they are few, and one of them
// nearly always fits. Otherwise the configurations are enumerated like the digits of a number, the last param fastest,
// and the first one that satisfies every condition is used. A condition depends on few params: its outcomes are cached
// in a table with one cell per combination of these, filled on first use. The cost: expressions are evaluated at most
// once per cell of the tables, and each configuration needs one lookup per table. If no configuration is valid, what
// each condition excludes is counted (search_count.cpp).
#include "plan/search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "plan/cycles.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kConfigurationsMax = std::int64_t{1} << 24;

// Returns only the pinned value, or the default followed by the others as written.
std::vector<std::int64_t> choices_of(const templates::Param& param, const Request& request) {
  if (const auto pin = request.params.find(param.name); pin != request.params.end()) return {pin->second};
  std::vector<std::int64_t> choices = {param.default_value};
  std::ranges::copy_if(param.values, std::back_inserter(choices),
                       [&](std::int64_t value) { return value != param.default_value; });
  return choices;
}

}  // namespace

Search::Search(const Binding& binding)
    : binding_(binding), values_(binding), conditions_(conditions_of(binding)), at_(binding.kernel->params.size()) {
  choices_.reserve(binding.kernel->params.size());
  for (const templates::Param& param : binding.kernel->params) choices_.push_back(choices_of(param, *binding.request));
  if (pinned()) {
    usual_ = default_values();
  } else {
    narrow();
    settle_asked();
    const std::vector<std::size_t> problem = open_problem();
    usual_ = usual_values(problem);
    for (const std::size_t param : problem) choices_[param] = {usual_[param]};  // other values compute something else
  }
  values_.set_params(usual_);
}

// Returns whether there is one configuration, as where a tuning record decides.
bool Search::pinned() const {
  return std::ranges::all_of(choices_, [](const std::vector<std::int64_t>& choices) { return choices.size() == 1; });
}

// If a single param decides whether a tensor or a hook's argument is present, restricts it to the values that match the
// request, so that presets, which do not set it, apply with these. If no value matches, keeps all, and `count` reports
// the reason.
void Search::narrow() {
  const auto all = choices_;
  const bool suited =
      std::ranges::all_of(conditions_, [&](const Condition& condition) { return narrow_by(condition); });
  if (!suited) choices_ = all;
}

bool Search::narrow_by(const Condition& condition) {
  if (!condition.of_presence()) return true;
  const std::vector<std::size_t> deciding = condition.params(binding_);
  if (deciding.size() != 1) return true;
  std::vector<std::int64_t>& choices = choices_[deciding.front()];
  std::vector<std::int64_t> params = default_values(), fitting;
  for (const std::int64_t value : choices) {
    params[deciding.front()] = value;
    values_.set_params(params);
    if (!condition.violated(values_)) fitting.push_back(value);
  }
  choices = std::move(fitting);
  return !choices.empty();
}

// Restricts params that the engine does not choose to their defaults, or to the first value that the request's tensors
// and hooks leave.
void Search::settle_asked() {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (binding_.kernel->params[i].asked) choices_[i].resize(1);
  }
}

// Returns the params that decide which tensors there are and what shape they have, if the request gives none.
std::vector<std::size_t> Search::open_problem() const {
  return binding_.has_tensors ? std::vector<std::size_t>() : params_of_problem(*binding_.kernel);
}

std::vector<std::int64_t> Search::default_values() const {
  std::vector<std::int64_t> params;
  params.reserve(choices_.size());
  for (const std::vector<std::int64_t>& choices : choices_) params.push_back(choices.front());
  return params;
}

// Returns what presets leave the params at that they do not set: the default or, where a rule that depends on no other
// undecided param forbids it, the first value that such rules permit. Params of the open `problem` follow rules that
// depend on no other param at all: what is computed is not a matter of the others.
std::vector<std::int64_t> Search::usual_values(const std::vector<std::size_t>& problem) {
  std::vector<std::int64_t> params = default_values();
  std::map<std::size_t, std::vector<const Condition*>> rules;  // by the param on which alone they depend
  for (const Condition& condition : conditions_) {
    if (condition.stage() != Stage::rule) continue;
    std::vector<std::size_t> deciding = condition.params(binding_);
    const bool of_one = deciding.size() == 1;
    std::erase_if(deciding, [&](std::size_t param) { return choices_[param].size() == 1; });
    if (deciding.size() != 1 || (!of_one && std::ranges::binary_search(problem, deciding.front()))) continue;
    rules[deciding.front()].push_back(&condition);
  }
  for (const auto& rule : rules) {
    const std::size_t param = rule.first;
    const std::vector<const Condition*>& of_param = rule.second;
    const auto permitted = std::ranges::find_if(choices_[param], [&](std::int64_t value) {
      params[param] = value;
      values_.set_params(params);
      return std::ranges::none_of(of_param, [&](const Condition* one) { return one->violated(values_).has_value(); });
    });
    params[param] = permitted != choices_[param].end() ? *permitted : choices_[param].front();
  }
  return params;
}

bool Search::take(const std::vector<std::int64_t>& params) {
  values_.set_params(params);
  return valid(values_, conditions_) && !avoided();
}

bool Search::take_pinned() {
  if (!pinned()) return false;
  values_.set_params(usual_);
  return !avoided() && std::ranges::none_of(conditions_, [&](const Condition& condition) {
    return condition.stage() != Stage::machine && condition.violated(values_).has_value();
  });
}

bool Search::fits() {
  return pinned() && take(usual_);
}

void Search::avoid(const std::vector<std::pair<std::string, std::int64_t>>& params) {
  std::vector<std::int64_t> values;
  values.reserve(params.size());
  for (const auto& [name, value] : params) values.push_back(value);
  avoided_.push_back(std::move(values));
}

bool Search::avoided() const {
  return std::ranges::any_of(avoided_,
                             [&](const auto& params) { return std::ranges::equal(params, values_.params()); });
}

// Returns whether the request pins a param that the preset would choose: the pin then replaces the preset's value.
bool Search::replaced(const templates::Preset::Setting& setting) const {
  return !binding_.kernel->params[setting.index].asked && binding_.request->params.contains(setting.param);
}

std::vector<std::int64_t> Search::params_of(const templates::Preset& preset) const {
  std::vector<std::int64_t> params = usual_;
  for (const templates::Preset::Setting& setting : preset.settings) {
    if (!replaced(setting)) params[setting.index] = setting.value;
  }
  return params;
}

// Leaves the preset's configuration in values_ and returns whether the preset is for this request: its condition holds,
// and what it computes is what the request asks for.
bool Search::take_preset(const templates::Preset& preset) {
  values_.set_params(params_of(preset));
  const bool suited = std::ranges::all_of(preset.settings, [&](const templates::Preset::Setting& setting) {
    return replaced(setting) ||
           std::ranges::find(choices_[setting.index], setting.value) != choices_[setting.index].end();
  });
  return suited && (!preset.when.has_value() || preset.when->evaluate(values_).value_or(0) != 0);
}

bool Search::choose_preset() {
  const templates::Template& kernel = *binding_.kernel;
  std::optional<std::vector<std::int64_t>> cheapest;
  std::int64_t fewest = 0;
  for (const templates::Preset& preset : kernel.presets) {
    if (!take_preset(preset) || avoided()) continue;
    const std::int64_t estimate = cycles();
    if (cheapest.has_value() && estimate >= fewest) continue;
    if (!valid(values_, conditions_)) continue;
    if (!kernel.work.cycles.has_value()) return true;
    cheapest = values_.params();
    fewest = estimate;
  }
  if (cheapest.has_value()) values_.set_params(*cheapest);
  return cheapest.has_value();
}

// Returns the estimate for the configuration in values_.
std::int64_t Search::cycles() {
  if (!binding_.kernel->work.cycles.has_value()) return 0;
  return cycles_of(values_).value_or(std::numeric_limits<std::int64_t>::max());
}

Result<bool> Search::choose() {
  if (pinned()) return take(usual_);
  if (unmappable()) return false;
  if (choose_preset() || take(usual_)) return true;
  TMA_JIT_CHECK(prepare());
  if (hopeless()) return false;
  while (find_valid()) {
    apply();
    if (!avoided()) return true;
    if (!next()) break;
  }
  return false;
}

// Returns whether no configuration can have a tensor map of a given tensor, because of the tensor's memory. Most
// requests whose presets all fail are of this kind, and to find that out costs less than one preset.
bool Search::unmappable() const {
  return std::ranges::any_of(conditions_, [&](const Condition& condition) {
    return condition.of_memory() && condition.params(binding_).empty() && condition.violated(values_).has_value();
  });
}

// Returns whether a condition holds for no configuration. The first values that satisfy a condition are found soon, so
// that this takes long only where it saves an enumeration.
bool Search::hopeless() {
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (!any_combination(tables_[i].params, [&] { return holds(i); })) return true;
  }
  std::ranges::fill(at_, 0);
  return false;
}

Search::Table Search::table_for(const Condition& condition) const {
  Table table;
  table.params = condition.params(binding_);
  std::size_t size = 1;
  for (const std::size_t param : table.params) size *= choices_[param].size();
  table.outcomes.assign(size, Table::Outcome::unknown);
  return table;
}

Result<void> Search::prepare() {
  std::int64_t size = 1;
  for (const std::vector<std::int64_t>& choices : choices_) {
    if (!__builtin_mul_overflow(size, static_cast<std::int64_t>(choices.size()), &size) && size <= kConfigurationsMax) {
      continue;
    }
    return fault(*binding_.kernel, ErrorCode::invalid_argument,
                 "more than {} configurations would have to be tried; pin some params", kConfigurationsMax);
  }
  std::ranges::fill(at_, 0);
  tables_.clear();
  for (const Condition& condition : conditions_) tables_.push_back(table_for(condition));
  order_.resize(tables_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [this](std::size_t i) { return last_param(i); });
  changed_ = 0;
  return {};
}

// Returns the last param on which a condition depends; 0 if it depends on none.
std::size_t Search::last_param(std::size_t condition) const {
  const std::vector<std::size_t>& params = tables_[condition].params;
  return params.empty() ? 0 : params.back();
}

// Advances to the next configuration; the last param varies fastest.
bool Search::next() {
  return next_after(at_.size());
}

// Advances to the next configuration in which one of the first `params` params differs.
bool Search::next_after(std::size_t params) {
  std::fill(at_.begin() + static_cast<std::ptrdiff_t>(params), at_.end(), 0);
  for (std::size_t i = params; i-- > 0;) {
    changed_ = i;
    if (++at_[i] < choices_[i].size()) return true;
    at_[i] = 0;
  }
  return false;
}

// Advances to the next configuration that is valid, from the current one on. Those in which a violated condition
// depends on the same values are skipped together.
bool Search::find_valid() {
  while (const auto violated = first_violated()) {
    const std::vector<std::size_t>& params = tables_[*violated].params;
    if (!next_after(params.empty() ? 0 : params.back() + 1)) return false;
  }
  return true;
}

// Those that depend on the first params only come first, because they rule out the most. Conditions on params before
// the first that has changed hold, or `find_valid` would not have come here.
std::optional<std::size_t> Search::first_violated() {
  const auto first = std::ranges::lower_bound(order_, changed_, {}, [this](std::size_t i) { return last_param(i); });
  const auto found = std::find_if(first, order_.end(), [this](std::size_t i) { return !holds(i); });
  return found != order_.end() ? std::optional(*found) : std::nullopt;
}

void Search::apply() {
  std::vector<std::int64_t> params(at_.size());
  for (std::size_t i = 0; i < at_.size(); ++i) params[i] = choices_[i][at_[i]];
  values_.set_params(params);
}

bool Search::holds(std::size_t condition) {
  Table& table = tables_[condition];
  std::size_t index = 0;
  for (const std::size_t param : table.params) index = index * choices_[param].size() + at_[param];
  Table::Outcome& outcome = table.outcomes[index];
  if (outcome == Table::Outcome::unknown) {
    apply();
    std::optional<Violation> violation = conditions_[condition].violated(values_);
    outcome = violation.has_value() ? Table::Outcome::violated : Table::Outcome::holds;
    if (!table.example.has_value()) table.example = std::move(violation);
  }
  return outcome == Table::Outcome::holds;
}

}  // namespace tma_jit::plan
