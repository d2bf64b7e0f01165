#include <tma_jit/engine.h>
#include <tma_jit/warm_list.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "base/file.h"
#include "base/text.h"
#include "template/catalogue.h"

namespace tma_jit {

TEST_CASE("operands are recorded as they were declared, and read back") {
  Plan plan;
  plan.kernel = "gemm";
  Argument bias, alpha, beta;
  bias.kind = Argument::Kind::view;
  bias.hooks_offset = 0;
  bias.declaration = "bias : f32[1, N]";
  bias.shape = {1, 8};
  bias.strides = {0, 1};
  alpha.hooks_offset = 24;
  alpha.declaration = "alpha : f32";
  beta.hooks_offset = 28;
  beta.declaration = "beta : f32 = 0.5";
  plan.arguments = {bias, alpha, beta};
  const std::string line = warm_line(plan);
  CHECK(line.find(R"("operands":["bias : f32[1, N]","alpha : f32 = 0","beta : f32 = 0.5"])") != std::string::npos);
  const auto read = parse_warm_line(line);
  REQUIRE(read);
  CHECK(read->request.operands == std::vector<std::string>{"bias : f32[1, N]", "alpha : f32 = 0", "beta : f32 = 0.5"});
  CHECK_FALSE(parse_warm_line(R"({"kernel": "gemm", "operands": "bias"})"));
}

TEST_CASE("the alignment of an operand is recorded with all tensors, and that of a kernel's own tensors is not") {
  Plan plan;
  plan.kernel = "map";
  Argument own, bias;
  own.kind = bias.kind = Argument::Kind::view;
  own.name = "Y";
  bias.name = "bias";
  own.shape = bias.shape = {8};
  own.strides = bias.strides = {1};
  own.address = 0x1004;
  bias.address = 0x2200;
  bias.hooks_offset = 0;
  bias.declaration = "bias : f32[N]";
  plan.arguments = {own, bias};
  CHECK(warm_line(plan).find("tensors") == std::string::npos);
  plan.arguments[1].address = 0x2208;
  const auto read = parse_warm_line(warm_line(plan));
  REQUIRE(read);
  REQUIRE(read->request.tensors.size() == 2);
  CHECK(read->request.tensors[0].tensor.address + read->request.tensors[1].tensor.address == 8);
}

TEST_CASE("the line of a plan plans the same text, for every kernel") {
  for (const char* device : {"h100", "b200"}) {
    Engine engine({.device = Device::known(device), .use_cache = false});
    std::set<std::string> kernels;
    for (const auto& info : engine.kernels()) kernels.insert(info.value().kernel);
    for (const std::string& kernel : kernels) {
      CAPTURE(kernel);
      const auto request = engine.example({.kernel = kernel});
      if (!request) continue;  // none of its files serves the device
      const Plan plan = engine.plan(*request).value();
      const auto line = parse_warm_line(warm_line(plan));
      REQUIRE(line);
      const auto again = engine.plan(line->request);
      REQUIRE_MESSAGE(again, again.error().text());
      CHECK(engine.emit(*again)->text == engine.emit(plan)->text);
    }
  }
}

TEST_CASE("a line says that its kernel computes inputs") {
  Engine engine({.device = Device::known("h100"), .use_cache = false});
  Request request = engine.example({.kernel = "attention_backward"}).value();
  request.inputs = true;
  const auto text_of = [&](const Request& asked) { return engine.emit(engine.plan(asked).value()).value().text; };
  const std::string wanted = text_of(request);
  for (const std::string& line : {request_line(request), warm_line(engine.plan(request).value())}) {
    CAPTURE(line);
    const auto read = parse_warm_line(line);
    REQUIRE(read);
    CHECK(read->request.inputs);
    CHECK_FALSE(read->request.reference);
    CHECK(text_of(read->request) == wanted);
  }
  CHECK_FALSE(parse_warm_line(R"({"kernel": "copy", "inputs": 1})"));
}

TEST_CASE("the shipped list names every kernel of the tree, and no other") {
  std::set<std::string> listed, known;
  const std::string text = read_file(TMA_JIT_SOURCE_DIR "/cache/warm.jsonl").value();
  for (const std::string_view words : split(text, '\n')) {
    if (words.empty() || words.front() == '#') continue;
    const auto line = parse_warm_line(words);
    REQUIRE_MESSAGE(line, line.error().text());
    CHECK(line->presets);
    CHECK(line->arch.empty());
    listed.insert(line->request.kernel);
  }
  templates::TemplateSet templates(std::vector<std::filesystem::path>{});
  for (const auto& found : templates.all()) {
    REQUIRE(found);
    if (!templates::kernel_info(**found).probe) known.insert((*found)->kernel);
  }
  CHECK(listed == known);
}

TEST_CASE("a number of a warm list that is no integer of 64 bits is refused, and named") {
  const auto refused = [](const std::string& field, const char* number) {
    std::string text = R"({"kernel": "copy", )" + field + "}";
    text.replace(text.find('#'), 1, number);
    const auto line = parse_warm_line(text);
    return line ? std::string() : line.error().message;
  };
  const std::pair<const char*, const char*> fields[] = {
      {R"("dims": {"M": #})", "dims.M"},
      {R"("params": {"M": #})", "params.M"},
      {R"("tensors": {"A": {"type": "f32", "shape": [8, #], "strides": [8, 1]}})", "tensors.A.shape"},
      {R"("tensors": {"A": {"type": "f32", "shape": [8, 8], "strides": [#, 1]}})", "tensors.A.strides"}};
  for (const auto& [field, name] : fields) {
    CHECK(refused(field, "8").empty());
    CHECK(refused(field, "-1").empty());  // the planner says what a dimension may be
    CHECK(refused(field, "9223372036854775807").empty());
    for (const char* number : {"1e45", "1.5", "8.0", "9223372036854775808", "18446744073709551616", "null", "true"}) {
      CAPTURE(number);
      CHECK(refused(field, number).starts_with(std::string(name) + " is "));
    }
  }
  CHECK(refused(R"("fixed": [#])", "8") == "fixed: type must be string, but is number");
  CHECK(refused(R"("fixed": #)", "[").starts_with("not a JSON object: parse error at line 1"));
  CHECK(refused(R"("dims": {"M": #})", R"("8")") ==
        "dims.M is \"8\"; a whole number from -9223372036854775808 to 9223372036854775807 is wanted");
  CHECK(refused(R"("tensors": {"A": {"type": "f32", "shape": #, "strides": [8, 1]}})", "8") ==
        "tensors.A.shape is not an array");
}

}  // namespace tma_jit
