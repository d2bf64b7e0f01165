#include "tma_comparison.h"

#include "bound.h"
#include "trial.h"

namespace tma_jit::cli {
namespace {

struct Problem {
  const char* kernel;
  const char* words;
  std::map<std::string, std::int64_t> dims;
};

// A copy of 256 MiB in total, and a matrix product that fills any device.
const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"copy", "M=8192 N=16384", {{"M", 8192}, {"N", 16384}}},
      {"gemm", "M=4096 N=4096 K=4096", {{"M", 4096}, {"N", 4096}, {"K", 4096}}},
  };
  return all;
}

Outcome<ComparedSide> measure_side(Engine& engine, const Problem& problem, std::string& peak) {
  Request request;
  request.kernel = problem.kernel;
  request.dims = problem.dims;
  CLI_ASSIGN(Trial trial, prepare_trial(engine, request, {}));
  CLI_ASSIGN(const Measurement time, measure(engine, trial.launch, {.repeats = 15, .host_launches = 0}));
  CLI_ASSIGN(const DeviceInfo device, engine.device());
  const Bound bound = bound_of(trial, device);
  peak = peak_of(bound);
  return ComparedSide{stem_of(trial.launch.plan().file), time.median_us, bound.share(time.median_us), {}};
}

ComparedSide side(const Settings& settings, const Problem& problem, std::string& peak) {
  auto engine = make_engine(settings);
  if (!engine) return ComparedSide{{}, 0, 0, engine.error().error};
  auto measured = measure_side(*engine, problem, peak);
  return measured ? *measured : ComparedSide{{}, 0, 0, measured.error().error};
}

std::string describe(const ComparedSide& side) {
  if (side.file.empty()) return side.error.line();
  return fmt::format("{:5.1f}%  {:9.2f} us  {}", 100 * side.share, side.median_us, side.file);
}

Json to_json(const ComparedSide& side) {
  if (side.file.empty()) return {{"error", cli::to_json(side.error)}};
  return {{"file", side.file}, {"median_us", side.median_us}, {"share", side.share}};
}

}  // namespace

std::vector<ComparedProblem> compare_tma(const Settings& settings) {
  Settings without = settings;
  without.disable_tma = true;
  std::vector<ComparedProblem> compared;
  for (const Problem& problem : problems()) {
    ComparedProblem row{problem.kernel, problem.words, {}, {}, {}};
    row.without_tma = side(without, problem, row.peak);
    row.with_tma = side(settings, problem, row.peak);
    compared.push_back(std::move(row));
  }
  return compared;
}

std::string describe(const std::vector<ComparedProblem>& problems) {
  std::string text;
  for (const ComparedProblem& problem : problems) {
    text += fmt::format("  {} {}, of {}\n", problem.kernel, problem.words, problem.peak);
    text += fmt::format("    with TMA     {}\n", describe(problem.with_tma));
    text += fmt::format("    without TMA  {}\n", describe(problem.without_tma));
  }
  return text;
}

Json to_json(const std::vector<ComparedProblem>& problems) {
  Json list = Json::array();
  for (const ComparedProblem& problem : problems) {
    list.push_back({{"kernel", problem.kernel},
                    {"problem", problem.words},
                    {"peak", problem.peak},
                    {"with_tma", to_json(problem.with_tma)},
                    {"without_tma", to_json(problem.without_tma)}});
  }
  return list;
}

}  // namespace tma_jit::cli
