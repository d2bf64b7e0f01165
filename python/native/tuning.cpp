// Tuning and lists of kernels to build ahead.
#include <exception>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/json.h>
#include <tma_jit/tuning.h>
#include <tma_jit/warm_list.h>

#include "engine.h"

namespace tma_jit::python {
namespace {

nb::dict dict_of(const TuneProgress& progress) {
  nb::dict dict;
  dict["request"] = progress.request;
  dict["requests"] = progress.requests;
  dict["trial"] = progress.trial;
  dict["trials"] = progress.trials;
  dict["seconds"] = progress.seconds;
  dict["budget_s"] = progress.budget_s;
  return dict;
}

// Asks Python between two measurements whether to go on: the caller's function, and whether Control-C was pressed.
// Keeps what was raised, to be raised again when tuning has ended.
class Progress {
 public:
  explicit Progress(nb::handle function) : function_(nb::borrow(function)) {}

  bool operator()(const TuneProgress& progress) {
    const Visit visit;
    if (!visit) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (function_.is_none()) return true;
      const nb::object answer = function_(dict_of(progress));
      return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
    } catch (...) {
      raised_ = std::current_exception();
      return false;
    }
  }
  void raise_again() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nb::object function_;
  std::exception_ptr raised_;
};

// The caller's functions by which processes agree, and the one that queues work beside what is measured. What one
// raises ends the tuning of the request, and is raised again when the tuning of all has ended.
class Asked {
 public:
  Asked(nb::handle publish, nb::handle fetch, nb::handle beside)
      : publish_(nb::borrow(publish)), fetch_(nb::borrow(fetch)), beside_(nb::borrow(beside)) {}

  TuneExchange exchange() {
    TuneExchange exchange;
    if (!publish_.is_none()) {
      exchange.publish = [this](const std::string& problem, const std::string& line) {
        return tell(publish_, problem, line);
      };
    }
    if (!fetch_.is_none()) {
      exchange.fetch = [this](const std::string& problem, double wait_s) { return ask(fetch_, problem, wait_s); };
    }
    return exchange;
  }
  std::function<Result<void>(double)> beside() {
    if (beside_.is_none()) return {};
    return [this](double us) { return tell(beside_, us); };
  }
  void raise_again() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  // Calls the function, and lets `use` take what it returns.
  template <class Answer, class Use, class... Arguments>
  Result<Answer> call(const nb::object& function, const Use& use, const Arguments&... arguments) {
    const Visit visit;
    const Error failed{ErrorCode::io, "publish, fetch or beside raised an exception", {}};
    if (!visit) return tl::make_unexpected(failed);
    try {
      return use(function(arguments...));
    } catch (...) {
      raised_ = std::current_exception();
      return tl::make_unexpected(failed);
    }
  }
  // Returns the text that the function returns; nullopt for None.
  template <class... Arguments>
  Result<std::optional<std::string>> ask(const nb::object& function, const Arguments&... arguments) {
    const auto text_of = [](const nb::object& answer) {
      return answer.is_none() ? std::nullopt : std::optional(nb::cast<std::string>(answer));
    };
    return call<std::optional<std::string>>(function, text_of, arguments...);
  }
  template <class... Arguments> Result<void> tell(const nb::object& function, const Arguments&... arguments) {
    return call<void>(
        function, [](const nb::object&) { return Result<void>(); }, arguments...);
  }

  nb::object publish_, fetch_, beside_;
  std::exception_ptr raised_;
};

std::vector<Request> with_tensors(const std::vector<KernelRequest>& given) {
  std::vector<Request> requests;
  for (const KernelRequest& each : given) {
    requests.push_back(each.request);
    for (const auto& [name, array] : each.arrays) requests.back().tensors.push_back({name, array.tensor});
  }
  return requests;
}

nb::object prove_requests(PythonEngine& self, const std::vector<KernelRequest>& given) {
  const std::vector<Request> requests = with_tensors(given);
  return value_of(json_of(unlocked([&] { return prove(*self, requests); })));
}

// NOLINTNEXTLINE(readability-function-size): a parameter for each keyword
nb::list tune_requests(PythonEngine& self, const std::vector<KernelRequest>& given, double budget_s,
                       std::size_t candidates, double least_gain, bool flush_l2, bool again,
                       const std::optional<std::filesystem::path>& records, nb::handle function, nb::handle publish,
                       nb::handle fetch, bool replay, nb::handle beside) {
  const std::vector<Request> requests = with_tensors(given);
  Progress progress(function);
  Asked asked(publish, fetch, beside);
  TuneOptions options{.budget_s = budget_s,
                      .candidates = candidates,
                      .least_gain = least_gain,
                      .flush_l2 = flush_l2,
                      .replay = replay,
                      .beside = asked.beside(),
                      .again = again,
                      .exchange = asked.exchange(),
                      .records = records.value_or(std::filesystem::path()),
                      .progress = [&](const TuneProgress& now) { return progress(now); }};
  auto results = unlocked([&] { return tune(*self, requests, options); });
  progress.raise_again();
  asked.raise_again();
  nb::list list;
  for (const TuneResult& result : take(std::move(results))) list.append(value_of(json_of(result)));
  return list;
}

nb::list read_records(const std::filesystem::path& file) {
  nb::list list;
  for (const TuningRecord& record : take(read_tuning_file(file)).records) list.append(value_of(tuning_line(record)));
  return list;
}

void follow(PythonEngine& self, nb::handle records) {
  const nb::object dumps = nb::module_::import_("json").attr("dumps");
  std::vector<TuningRecord> parsed;
  for (const nb::handle record : records) {
    parsed.push_back(take(parse_tuning_line(nb::cast<std::string>(dumps(record)))));
  }
  unlocked([&] { self->follow(parsed); });
}

nb::list requests_of(PythonEngine& self, const std::string& line) {
  nb::list list;
  const WarmLine parsed = take(parse_warm_line(line));
  for (Request& request : take(unlocked([&] { return warm_requests(*self, parsed); }))) {
    list.append(nb::cast(KernelRequest{std::move(request), {}}));
  }
  return list;
}

}  // namespace

void bind_tuning(nb::module_& module, nb::class_<PythonEngine>& engine) {
  const TuneOptions usual;
  engine
      .def("tune", &tune_requests, nb::arg("requests"), nb::kw_only(), nb::arg("budget_s") = usual.budget_s,
           nb::arg("candidates") = usual.candidates, nb::arg("least_gain") = usual.least_gain,
           nb::arg("flush_l2") = usual.flush_l2, nb::arg("again") = usual.again, nb::arg("records") = nb::none(),
           nb::arg("progress") = nb::none(), nb::arg("publish") = nb::none(), nb::arg("fetch") = nb::none(),
           nb::arg("replay") = usual.replay, nb::arg("beside") = nb::none(),
           nb::sig(
               "def tune(self, requests: collections.abc.Sequence[Request], *, budget_s: float = 60, candidates: int "
               "= 24, least_gain: float = 0.01, flush_l2: bool = True, again: bool = False, records: str | "
               "os.PathLike[str] | None = None, progress: collections.abc.Callable[[dict[str, typing.Any]], bool | "
               "None] | None = None, publish: collections.abc.Callable[[str, str], None] | None = None, fetch: "
               "collections.abc.Callable[[str, float], str | None] | None = None, replay: bool = False, beside: "
               "collections.abc.Callable[[float], None] | None = None) -> list[dict[str, typing.Any]]"),
           "Measures the configurations of requests and records the best. `progress` ends it by returning False; what "
           "it raises, and Control-C, end it too. Processes that share no file agree by `publish(problem, line)` and "
           "`fetch(problem, wait_s)`. With `replay` launches are replayed from CUDA graphs; `beside(us)` queues work "
           "of that "
           "length to another stream, beside which they are timed.")
      .def("follow", &follow, nb::arg("records"),
           nb::sig("def follow(self, records: collections.abc.Iterable[dict[str, typing.Any]]) -> None"),
           "Adds tuning records that later plans follow.")
      .def_prop_ro(
          "tuning_file", [](PythonEngine& self) { return path_or_none(tuning_file(*self)); },
          nb::sig("def tuning_file(self) -> pathlib.Path | None"))
      .def("warm_requests", &requests_of, nb::arg("line"),
           nb::sig("def warm_requests(self, line: str) -> list[Request]"),
           "The requests that a line of a list for `tma-jit warm` describes on the engine's target.")
      .def("prove_requests", &prove_requests, nb::arg("requests"),
           nb::sig("def prove_requests(self, requests: collections.abc.Sequence[Request]) -> dict[str, typing.Any]"),
           "What `prove` finds of requests.");
  module.def(
      "warm_line", [](const Plan& plan) { return text_of(warm_line(plan)); }, nb::arg("plan"),
      "The line for `tma-jit warm` that builds the same kernel.");
  module.def("read_records", &read_records, nb::arg("file"),
             nb::sig("def read_records(file: str | os.PathLike[str]) -> list[dict[str, typing.Any]]"),
             "The tuning records of a file.");
}

}  // namespace tma_jit::python
