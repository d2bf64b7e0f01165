// Records of tuning: their lines, their files, and which one speaks for a problem.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include <tma_jit/tuning.h>

#include "support/temporary_folder.h"
#include "tuning/record_book.h"
#include "tuning/record_file.h"
#include "tuning/written_record.h"

namespace tma_jit {
namespace {

TuningRecord record_of(std::int64_t m, double us = 10, const std::string& digest = "0123456789abcdef") {
  TuningRecord record;
  record.kernel = "gemm";
  record.types = {{"T", DType::bf16}, {"O", DType::f32}};
  record.dims = {{"M", m}, {"N", 512}, {"K", 1024}};
  record.device = "NVIDIA H200";
  record.sm_count = 132;
  record.file = "gemm_wgmma";
  record.digest = digest;
  record.params = {{"BM", 128}, {"BN", 256}};
  record.us = us;
  record.preset_us = 12.5;
  record.driver = "13.0";
  record.compiler = "13.0.88";
  return record;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string refusal(const std::string& line) {
  const auto record = parse_tuning_line(line);
  return record ? std::string() : record.error().message;
}

}  // namespace

TEST_CASE("A record survives the way to a line and back") {
  const TuningRecord record = record_of(4096);
  const auto read = parse_tuning_line(tuning_line(record));
  REQUIRE(read);
  CHECK(*read == record);
  CHECK(tuning_line(record).find('\n') == std::string::npos);
}

TEST_CASE("A line is read in place as the JSON parser reads it, and only in the form in which it was written") {
  TuningRecord record = record_of(4096);
  record.dims["K"] = -7;
  record.types.clear();
  const std::string line = tuning_line(record);
  const auto written = tuning::read_written(line);
  REQUIRE(written);
  CHECK(tuning::record_of(*written) == record);
  CHECK(written->problem == tuning::problem_text(record));
  CHECK(line.starts_with(tuning::types_text(record)));
  CHECK(*parse_tuning_line(" " + line) == record);  // which the JSON parser reads
  for (std::size_t size = 0; size < line.size(); ++size) CHECK_FALSE(tuning::read_written(line.substr(0, size)));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = line;
    REQUIRE(other.find(from) != std::string::npos);
    return other.replace(other.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> others[] = {{"\"kernel\":\"gemm\"", "\"kernel\":\"\""},
                                                        {"\"kernel\":\"gemm\"", "\"kernel\":\"ge\\u006dm\""},
                                                        {"\"kernel\":\"gemm\"", "\"kernel\":\"g\x01m\""},
                                                        {"\"types\":{}", "\"types\":{\"T\":\"f5\"}"},
                                                        {"\"K\":-7", "\"K\":-07"},
                                                        {"\"K\":-7", "\"K\":7.0"},
                                                        {"\"K\":-7", "\"K\":9223372036854775808"},
                                                        {"\"M\":4096", "\"K\":4096"},
                                                        {"\"sm_count\":132", "\"sm_count\":4294967296"},
                                                        {"\"us\":10.0", "\"us\":0.0"},
                                                        {"\"us\":10.0", "\"us\":010.0"},
                                                        {"\"us\":10.0", "\"us\":1e1"},
                                                        {"\"preset_us\":12.5", "\"preset_us\":12.5,\"later\":1"}};
  for (const auto& [from, to] : others) CHECK_MESSAGE(!tuning::read_written(changed(from, to)), to);
}

TEST_CASE("What is no record is refused with the field's name") {
  CHECK(refusal("nonsense").starts_with("not a JSON object: "));
  CHECK(refusal("[1]") == "a record of tuning is a JSON object");
  CHECK(refusal("{}") == "the record has no kernel");
  CHECK(refusal(R"({"kernel": 1})") == "kernel is not a text");
  CHECK(refusal(R"({"colour": 1})") == "no field is named \"colour\"");
  CHECK(refusal(R"({"types": {"T": "f5"}})") == "types.T is not an element type");
  CHECK(refusal(R"({"dims": [1]})") == "dims is not an object");
  CHECK(refusal(R"({"us": -1})") == "us is no time in microseconds");
  CHECK(refusal(R"({"kernel": "k", "device": "d", "file": "f", "digest": "00"})") == "the record has no us");
  const std::string open(100'000, '['), close(100'000, ']');
  CHECK(refusal(open) == "not a JSON object: JSON of more than 16 levels");
  CHECK(refusal(R"({"dims": {"M": )" + open + close + "}}") == "not a JSON object: JSON of more than 16 levels");
}

TEST_CASE("A file of records loses only the lines that are none, and names them") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  CHECK(read_tuning_file(file)->records.empty());
  std::ofstream(file) << "# by hand\n" << tuning_line(record_of(64)) << "\nrotten\n\n" << tuning_line(record_of(128));
  const auto read = read_tuning_file(file);
  REQUIRE(read);
  CHECK(read->records.size() == 2);
  REQUIRE(read->faults.size() == 1);
  CHECK(read->faults[0].starts_with(file.string() + ":3: not a JSON object: "));
  CHECK_FALSE(read_tuning_file(folder.path()));
}

TEST_CASE("A file read for planning has the same records and the same faults") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  std::string spaced = tuning_line(record_of(256));
  spaced.insert(1, " ");
  const std::string line = tuning_line(record_of(128)), cut = line.substr(0, line.size() / 2);
  std::ofstream(file) << "# by hand\n"
                      << spaced << "\r\n"
                      << tuning_line(record_of(64)) << "\nrotten\n"
                      << line << "\n"
                      << cut << "\n"
                      << "{\"of\": \"a later version\"}\n"
                      << tuning_line(record_of(64, 8));
  const auto all = read_tuning_file(file);
  const auto read = tuning::read_layer(file);
  REQUIRE(read);
  CHECK(read->faults == all->faults);
  CHECK(read->faults.size() == 3);
  CHECK(all->records.size() == 4);
  for (const TuningRecord& record : all->records) {
    const auto found = read->layer->of(record);
    REQUIRE(found);
    CHECK(found->record.us == (record.dims.at("M") == 64 ? 8 : 10));
  }
  REQUIRE(read->layer->choices().size() == 1);
  CHECK(read->layer->choices().front().kernel == "gemm");
  CHECK(read->layer->choices().front().file == "gemm_wgmma");
  CHECK(read->layer->choices().front().records == 4);
  CHECK(tuning::read_layer(folder.path() / "none.jsonl")->layer->empty());
  CHECK_FALSE(tuning::read_layer(folder.path()));
}

TEST_CASE("Merging replaces the record of the same problem and keeps the rest, foreign lines too") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  std::ofstream(file) << "# by hand\n" << tuning_line(record_of(64)) << "\n{\"of\": \"a later version\"}\n";
  REQUIRE(merge_tuning_file(file, std::vector{record_of(128), record_of(64, 8)}));
  const auto read = read_tuning_file(file);
  REQUIRE(read);
  REQUIRE(read->records.size() == 2);
  CHECK(text_of(file).find("# by hand\n{\"of\": \"a later version\"}\n") == 0);
  double fastest = 0;
  for (const TuningRecord& record : read->records) {
    if (record.dims.at("M") == 64) fastest = record.us;
  }
  CHECK(fastest == 8);
  const std::string once = text_of(file);
  REQUIRE(merge_tuning_file(file, std::vector{record_of(64, 8)}));
  CHECK(text_of(file) == once);
}

TEST_CASE("Processes that merge into one file at the same time lose nothing") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  constexpr int kProcesses = 8, kEach = 5;
  for (int process = 0; process < kProcesses; ++process) {
    if (::fork() != 0) continue;
    bool merged = true;
    for (int i = 0; i < kEach; ++i) {
      merged = merged && merge_tuning_file(file, std::vector{record_of(1 + process * kEach + i)});
    }
    ::_exit(merged ? 0 : 1);
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    ::wait(&status);
    CHECK(status == 0);
  }
  CHECK(read_tuning_file(file)->records.size() == std::size_t{kProcesses * kEach});
}

TEST_CASE("The first layer that has a problem speaks for it; of two records there, the faster") {
  tuning::RecordBook book;
  CHECK(book.empty());
  book.add_layer("application", {record_of(64, 9), record_of(64, 7)});
  book.add_layer("user", {record_of(64, 5), record_of(4096, 5)});
  const auto first = book.find(record_of(64));
  REQUIRE(first);
  CHECK(first->record.us == 7);
  CHECK(first->origin == "application");
  CHECK(book.find(record_of(4096))->origin == "user");
}

TEST_CASE("A record that may not decide hides none of a later layer, near or the same") {
  tuning::RecordBook book;
  book.add_layer("stale", {record_of(64, 1), record_of(4096, 1)});
  book.add_layer("user", {record_of(64, 5), record_of(4100, 5)});
  const auto current = [](const TuningRecord& record) { return record.us > 1; };
  CHECK(book.find(record_of(64), current)->origin == "user");
  const auto near = book.find(record_of(4097), current);
  REQUIRE(near);
  CHECK(near->record.dims.at("M") == 4100);
  CHECK_FALSE(book.find(record_of(64), [](const TuningRecord&) { return false; }));
}

TEST_CASE("A faster record that may not decide hides none of the same file, near or the same") {
  tuning::RecordBook book;
  book.add_layer("joined",
                 {record_of(64, 1), record_of(64, 5), record_of(64, 6), record_of(4097, 1), record_of(4100, 5)});
  const auto current = [](const TuningRecord& record) { return record.us > 1; };
  const auto same = book.find(record_of(64), current), near = book.find(record_of(4096), current);
  REQUIRE(same);
  CHECK(same->record.us == 5);
  REQUIRE(near);
  CHECK(near->record.dims.at("M") == 4100);
}

TEST_CASE("Records of other conditions are of other problems") {
  TuningRecord unusual = record_of(64, 1);
  unusual.conditions = "A at 2, B rows 4";
  const std::string line = tuning_line(unusual);
  CHECK(tuning::record_of(tuning::read_written(line).value()) == unusual);
  CHECK(parse_tuning_line(line + " ").value() == unusual);  // which the JSON parser reads
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  REQUIRE(merge_tuning_file(file, std::vector{unusual}));
  REQUIRE(merge_tuning_file(file, std::vector{record_of(64, 5)}));
  tuning::RecordBook book;
  book.add_layer(tuning::read_layer(file).value().layer);
  CHECK(book.find(record_of(64))->record.us == 5);
  CHECK(book.find(record_of(65))->record.us == 5);
  CHECK(book.find(unusual)->record == unusual);
  unusual.conditions = "A at 2";
  CHECK_FALSE(book.find(unusual));
}

TEST_CASE("The files that records name are known by kernel, those of more records first") {
  TuningRecord few = record_of(1), other = record_of(2);
  few.file = "gemm_few_rows";
  other.kernel = "copy";
  tuning::RecordBook book;
  book.add_layer("application", {few, record_of(64), record_of(65)});
  book.add_layer("user", {few, few, other});
  const auto files = book.files("gemm");
  CHECK(std::vector(files.begin(), files.end()) == std::vector<std::string_view>{"gemm_few_rows", "gemm_wgmma"});
  CHECK(book.files("copy").size() == 1);
  CHECK(book.files("gem").empty());
}

TEST_CASE("The nearest problem speaks where none is the same, within a fifth of an octave") {
  tuning::RecordBook book;
  book.add_layer("user", {record_of(4096), record_of(4608)});
  const auto near = book.find(record_of(4200));
  REQUIRE(near);
  CHECK(near->nearest);
  CHECK(near->record.dims.at("M") == 4096);
  CHECK(book.find(record_of(4500))->record.dims.at("M") == 4608);
  CHECK_FALSE(book.find(record_of(2048)));
  CHECK_FALSE(book.find(record_of(0)));
  TuningRecord other = record_of(4096);
  other.device = "NVIDIA H100 80GB HBM3";
  CHECK_FALSE(book.find(other));
  other = record_of(4096);
  other.hooks = "fedcba9876543210";
  CHECK_FALSE(book.find(other));
  other = record_of(4096);
  other.types["O"] = DType::bf16;
  CHECK_FALSE(book.find(other));
}

}  // namespace tma_jit
