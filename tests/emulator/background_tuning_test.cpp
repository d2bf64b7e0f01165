// The policies at_start and background on the emulator, with a kernel of which one configuration is clearly faster.
// Captures are the test's: its driver's table answers that a stream captures. Needs NVRTC.
#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include <tma_jit/tuning.h>

#include "emulator/devices.h"
#include "support/engines.h"
#include "support/temporary_folder.h"
#include "tuning/file_lock.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kCount = 64;

// Y[i] = i + 1; the planned configuration counts to it in vain many times.
const char* const kPatient = R"(//! kernel patient
//! arch sm_90a
//! dim N
//! param REPEATS = 60 in {1, 60}
//! tensor Y : f32[N] out
//! launch grid 1 block 32
extern "C" __global__ void patient(View<f32, 1> Y, const Dims dims) {
  volatile f32* y = Y.data;
  for (int repeat = 0; repeat < REPEATS; ++repeat)
    for (int i = threadIdx.x; i < dims.N; i += 32) y[i] = i + 1;
}
)";

// What the driver of these tests is told, and what it counts.
struct Told {
  std::atomic<Stream> capturing = nullptr;
  std::atomic<std::uint64_t> capture = 0;
  std::atomic<bool> fails = false;   // events cannot be made any more
  std::atomic<bool> varies = false;  // times have nothing to do with kernels
  std::atomic<CUfunction> last = nullptr;
} told;

const std::thread::id kTestThread = std::this_thread::get_id();

driver::Provider patient_driver() {
  driver::Api api = table_of("sm_90a");
  static const auto launch = api.launch_kernel_ex;
  static const auto event_create = api.event_create;
  static const auto elapsed = api.event_elapsed_time;
  api.stream_is_capturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    const bool captures = stream != nullptr && stream == told.capturing;
    *status = captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  api.stream_capture_info = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph*, const CUgraphNode**,
                               std::size_t*) {
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *id = told.capture;
    return CUDA_SUCCESS;
  };
  api.launch_kernel_ex = [](const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
    if (std::this_thread::get_id() == kTestThread) told.last = function;
    return launch(config, function, arguments, extra);
  };
  api.event_create = [](CUevent* event, unsigned flags) {
    return told.fails ? CUDA_ERROR_UNKNOWN : event_create(event, flags);
  };
  api.event_elapsed_time = [](float* milliseconds, CUevent start, CUevent end) {
    static std::mt19937 generator(7);
    const CUresult result = elapsed(milliseconds, start, end);
    if (told.varies) *milliseconds = std::uniform_real_distribution<float>(1, 2)(generator);
    return result;
  };
  auto table = std::make_shared<const driver::Api>(api);
  return [table]() -> Result<driver::SharedApi> { return table; };
}

// An engine with a policy, its function, and the memory of a call.
struct Patient {
  TemporaryFolder folder;
  TestLog log;
  Engine engine;
  DeviceBuffer y;
  Function function;

  explicit Patient(TuningOptions tuning)
      : engine(made(std::move(tuning))),
        y(DeviceBuffer::allocate(engine, kCount * sizeof(float)).value()),
        function(engine.function({.kernel = "patient"}).value()) {
    told.last = nullptr;
    told.capturing = nullptr;
    told.fails = false;
    told.varies = false;
  }

  Engine made(TuningOptions tuning) {
    Options options;
    options.cache_dir = folder.path();
    options.compiler.place = CompilerOptions::Place::in_process;  // a worker that cannot be started would be a warning
    options.log = log.callback();
    options.tuning = std::move(tuning);
    Engine engine_made = engine_with(std::move(options), patient_driver());
    REQUIRE(engine_made.add_template("patient.cu", kPatient));
    return engine_made;
  }

  // Returns the kernel that was launched.
  CUfunction call(Stream stream = nullptr) {
    const auto done = function({Tensor::row_major(y.address(), DType::f32, {kCount})}, stream);
    REQUIRE_MESSAGE(done, done.error().text());
    return told.last;
  }
  void check_values() const {
    std::vector<float> values(kCount);
    REQUIRE(y.download(values.data(), kCount * sizeof(float)));
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == static_cast<float>(i + 1));
  }
  // Waits until the background has tuned, failed or given up.
  Stats settled() const {
    const auto until = std::chrono::steady_clock::now() + 120s;
    while (std::chrono::steady_clock::now() < until) {
      const Stats stats = engine.stats();
      if (stats.launches_swapped + stats.tuning_failures + stats.tunings_undecided > 0) return stats;
      std::this_thread::sleep_for(5ms);
    }
    FAIL("nothing was tuned in two minutes");
    return {};
  }
};

TuningOptions background() {
  return {.policy = TuningPolicy::background, .budget_s = 100, .device_share = 1};
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE(
    "A function's shape is tuned in the background, calls outside captures then use the faster kernel, and a record "
    "stays") {
  Patient patient(background());
  const CUfunction planned = patient.call();
  const auto stream = reinterpret_cast<Stream>(std::uintptr_t{0x10});
  told.capturing = stream;
  told.capture = 1;
  CHECK(patient.call(stream) == planned);
  const Stats stats = patient.settled();
  CHECK(stats.problems_tuned == 1);
  REQUIRE(stats.launches_swapped == 1);
  CHECK(patient.call(stream) == planned);  // its capture goes on
  const CUfunction faster = patient.call();
  CHECK(faster != planned);
  CHECK(patient.call(stream) == planned);
  told.capture = 2;
  CHECK(patient.call(stream) == faster);
  REQUIRE(patient.y.fill(0));
  CHECK(patient.call() == faster);
  patient.check_values();
  const auto records = read_tuning_file(tuning_file(patient.engine));
  REQUIRE(records);
  REQUIRE(records->records.size() == 1);
  CHECK(records->records.front().params.at("REPEATS") == 1);

  Patient later(TuningOptions{});  // another cache folder: no record
  CHECK(later.call() != nullptr);
  CHECK(later.engine.stats().problems_tuned == 0);
}

TEST_CASE("Threads that call a function through its swap all have right results") {
  Patient patient(background());
  std::atomic<int> wrong = 0;
  std::atomic<bool> swapped = false;
  std::vector<std::thread> callers;
  for (int number = 0; number < 3; ++number) {
    callers.emplace_back([&] {
      DeviceBuffer own = DeviceBuffer::allocate(patient.engine, kCount * sizeof(float)).value();
      for (int after = 0; after < 20; after += swapped ? 1 : 0) {
        std::this_thread::sleep_for(2ms);
        std::vector<float> values(kCount);
        const bool done = own.fill(0) && patient.function({Tensor::row_major(own.address(), DType::f32, {kCount})}) &&
                          own.download(values.data(), kCount * sizeof(float));
        for (std::size_t i = 0; i < values.size(); ++i)
          wrong += !done || values[i] != static_cast<float>(i + 1) ? 1 : 0;
      }
    });
  }
  CHECK(patient.settled().launches_swapped == 1);
  swapped = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("An engine that ends while it tunes ends soon, and its function goes on with the planned kernel") {
  std::atomic<int> asked = 0;
  TuningOptions tuning = background();
  tuning.may_measure = [&] {
    ++asked;
    return asked < 4;
  };
  std::optional<Patient> patient(std::in_place, std::move(tuning));
  const CUfunction planned = patient->call();
  while (asked < 4) std::this_thread::sleep_for(1ms);
  const auto start = std::chrono::steady_clock::now();
  { const Engine ended = std::move(patient->engine); }
  CHECK(std::chrono::steady_clock::now() - start < 30s);
  CHECK(patient->call() == planned);
  CHECK(patient->call() == planned);
  CHECK(patient->log.warnings().empty());
}

TEST_CASE("A budget of zero measures nothing") {
  for (const TuningPolicy policy : {TuningPolicy::background, TuningPolicy::at_start}) {
    TuningOptions tuning = background();
    tuning.policy = policy;
    tuning.budget_s = 0;
    Patient patient(std::move(tuning));
    const CUfunction planned = patient.call();
    REQUIRE(patient.engine.prepare(Request{.kernel = "patient", .dims = {{"N", kCount}}}));
    CHECK(patient.call() == planned);
    CHECK(patient.engine.stats().problems_tuned == 0);
    CHECK_FALSE(std::filesystem::exists(tuning_file(patient.engine)));
  }
}

TEST_CASE("What is given up is counted, and the planned kernel serves without a record") {
  Patient varying(background());
  told.varies = true;
  const CUfunction planned = varying.call();
  CHECK(varying.settled().tunings_undecided == 1);
  CHECK(varying.call() == planned);
  CHECK_FALSE(std::filesystem::exists(tuning_file(varying.engine)));

  TuningOptions tuning = background();
  tuning.budget_s = 1e-4;  // used up by the first step
  Patient short_of_time(std::move(tuning));
  const CUfunction first = short_of_time.call();
  const Stats stats = short_of_time.settled();
  CHECK(stats.tunings_undecided == 1);
  CHECK(stats.problems_tuned + stats.launches_swapped + stats.tuning_failures == 0);
  CHECK(short_of_time.call() == first);
  CHECK(short_of_time.log.warnings().empty());
}

TEST_CASE("Tuning in the background does not wait for another process longer than its own budget would last") {
  TuningOptions tuning = background();
  tuning.budget_s = 0.2;
  Patient patient(std::move(tuning));
  const auto other = tuning::FileLock::take(tuning_file(patient.engine), ".tuning", std::chrono::steady_clock::now());
  REQUIRE_MESSAGE(other, other.error().text());
  const CUfunction planned = patient.call();
  CHECK(patient.settled().tuning_failures == 1);
  CHECK(patient.call() == planned);
  REQUIRE(patient.log.warnings().size() == 1);
  CHECK(patient.log.warnings().front().find("another process holds") != std::string::npos);
}

TEST_CASE("An error of the device during tuning is counted and reported once, and the planned kernel serves") {
  Patient patient(background());
  told.fails = true;
  const CUfunction planned = patient.call();
  CHECK(patient.settled().tuning_failures == 1);
  CHECK(patient.call() == planned);
  REQUIRE(patient.function({Tensor::row_major(patient.y.address(), DType::f32, {kCount - 1})}));
  CHECK(patient.engine.stats().problems_tuned == 0);
  CHECK(patient.engine.stats().tuning_failures == 1);
  CHECK(patient.log.warnings().size() == 1);
  CHECK_FALSE(std::filesystem::exists(tuning_file(patient.engine)));
}

TEST_CASE("A device that fails while tune measures is a clear error of the request, and its records stay") {
  TuningOptions tuning;
  tuning.policy = TuningPolicy::records;
  Patient patient(std::move(tuning));
  const std::vector<Request> requests = {Request{.kernel = "patient", .dims = {{"N", kCount}}},
                                         Request{.kernel = "patient", .dims = {{"N", kCount + 1}}}};
  TuneOptions options{.budget_s = 300, .flush_l2 = false};
  options.progress = [](const TuneProgress& now) {
    if (now.request == 1) told.fails = true;
    return true;
  };
  const auto results = tune(patient.engine, requests, options);
  told.fails = false;
  REQUIRE_MESSAGE(results, results.error().text());
  REQUIRE(results->size() == 2);
  CHECK_FALSE(results->at(0).error);
  REQUIRE(results->at(1).error);
  CHECK(results->at(1).error->code == ErrorCode::driver);
  CHECK(read_tuning_file(tuning_file(patient.engine))->records.size() == 1);
}

TEST_CASE("A problem that needs more memory than the embedder allows is not tuned") {
  TuningOptions tuning = background();
  tuning.memory_bytes = kCount;
  Patient patient(std::move(tuning));
  const CUfunction planned = patient.call();
  CHECK(patient.settled().tuning_failures == 1);
  CHECK(patient.call() == planned);
}

TEST_CASE("At the start, preparing tunes a request once, and other policies leave it") {
  TuningOptions tuning;
  tuning.policy = TuningPolicy::at_start;
  const Request request{.kernel = "patient", .dims = {{"N", kCount}}};
  Patient patient(std::move(tuning));
  for (int i = 0; i < 2; ++i) {
    const auto launch = patient.engine.prepare(request);
    REQUIRE_MESSAGE(launch, launch.error().text());
    CHECK(launch->plan().config == std::vector<std::pair<std::string, std::int64_t>>{{"REPEATS", 1}});
  }
  CHECK(patient.engine.stats().problems_tuned == 1);
  TuningOptions off{.policy = TuningPolicy::off, .records = {tuning_file(patient.engine)}};
  Patient without(std::move(off));
  CHECK(without.engine.plan(request).value().record.empty());
}

TEST_SUITE_END();
