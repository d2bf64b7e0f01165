// Every kernel and probe of this device on the device and in the emulator, on the same data: bit for bit where all sums
// are exact, within 4 units in the last place of the output's type otherwise. The table is printed last.
#include <atomic>
#include <cstdio>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <tma_jit/tma_jit.h>

#include "gpu/agreement.h"

namespace tma_jit {
namespace {

constexpr double kMostUlp = 4;

struct Row {
  int configurations = 0;
  std::int64_t elements = 0, differing = 0;
  double exact_ulp = 0, rounded_ulp = 0;
  std::vector<std::string> faults;
};

std::string said(const Request& request) {
  std::string text = request.file;
  for (const auto& [type, choice] : request.types) text += fmt::format(" {}={}", type, name_of(choice));
  for (const auto& [param, value] : request.params) text += fmt::format(" {}={}", param, value);
  return text;
}

void add(Row& row, const Request& request, const testing::Agreement& agreement, bool exact) {
  double& most = exact ? row.exact_ulp : row.rounded_ulp;
  most = std::max(most, agreement.most_ulp);
  row.elements += agreement.elements;
  row.differing += agreement.differing;
  if (!agreement.fault.empty()) row.faults.push_back(said(request) + ": " + agreement.fault);
  if (agreement.most_ulp > (exact ? 0 : kMostUlp)) {
    row.faults.push_back(fmt::format("{} ({} data): {:.3g} ulp apart, {} of {} elements differ", said(request),
                                     exact ? "exact" : "normal", agreement.most_ulp, agreement.differing,
                                     agreement.elements));
  }
}

// On all processors, so that the launches find them built.
void build_all(Engine& engine, Engine& emulated, const std::vector<Request>& requests) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      for (Engine* each : {&engine, &emulated}) {
        if (const auto plan = each->plan(requests[i])) static_cast<void>(each->build(*plan));
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
}

void print_table(const std::string& arch, const std::map<std::string, Row>& rows) {
  std::string table = fmt::format(
      "\n| {} kernel | configurations | elements | differing | exact data, ulp | normal data, ulp |\n"
      "|---|---:|---:|---:|---:|---:|\n",
      arch);
  for (const auto& [name, row] : rows) {
    table += fmt::format("| {} | {} | {} | {} | {:.3g} | {:.3g} |\n", name, row.configurations, row.elements,
                         row.differing, row.exact_ulp, row.rounded_ulp);
  }
  std::fputs(table.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("the emulator agrees with this device" * doctest::test_suite("agreement")) {
  Engine engine;
  const std::string arch = engine.device().value().arch;
  Options options;
  options.device = Device::emulated({.arch = arch});
  Engine emulated(options);
  const auto device = emulated.device();
  if (!device && device.error().code == ErrorCode::not_found) {
    MESSAGE(device.error().message);
    return;
  }
  REQUIRE_MESSAGE(device, device.error().text());
  const std::vector<Request> requests = testing::small_presets(engine, arch);
  CHECK(requests.size() > 100);
  build_all(engine, emulated, requests);
  std::map<std::string, Row> rows;
  for (const Request& request : requests) {
    Row& row = rows[request.file];
    ++row.configurations;
    add(row, request, testing::compare_engines(engine, emulated, request, cli::DataKind::integers), true);
    add(row, request, testing::compare_engines(engine, emulated, request, cli::DataKind::normal), false);
  }
  for (const auto& [name, row] : rows) {
    for (const std::string& fault : row.faults) FAIL_CHECK(fault);
  }
  print_table(arch, rows);
}

}  // namespace tma_jit
