// Operands of hooks: declared by a request, checked by the planner, members of the struct Hooks.
#include "planning_fixture.h"

#include "source/emit.h"
#include "source/preamble.h"

namespace tma_jit::plan {
namespace {

const std::string kHooked = R"(//! kernel k
//! arch sm_90a
//! type T = bf16 in {bf16, f16}
//! dim M, N
//! dim H = 64
//! param BM = 64 in {64, 128}
//! let TILE = BM * 2
//! tensor X : T[M, N]
//! tensor D : f32[M, N] out
//! workspace w 64
//! scalar gain : f32 = 1
//! hook f(f32 x, s32 row, s32 column) : f32 = x
//! launch grid ceil_div(M, BM) block 128
)";

Request with(std::vector<std::string> operands, std::string hook = "x") {
  return {
      .kernel = "k", .dims = {{"M", 8}, {"N", 5}}, .hooks = {{"f", std::move(hook)}}, .operands = std::move(operands)};
}

std::string refused(const std::string& operand) {
  return refusal(kHooked, with({operand}));
}

// The error of emitting, or "fine".
std::string emitted(const Request& request) {
  source::EmitOptions options;
  options.header = [](std::string_view) -> Result<std::string> { return std::string(); };
  const Result<Plan> planned = plan(kHooked, request);
  REQUIRE_MESSAGE(planned, planned.error().text());
  const auto source = source::emit(*planned, options);
  return source ? std::string("fine") : source.error().text();
}

std::string preamble_of(const Request& request) {
  const Result<Plan> planned = plan(kHooked, request);
  REQUIRE_MESSAGE(planned, planned.error().text());
  const std::string text = source::preamble(*planned);
  return text.substr(text.find("struct alignas(8) Hooks"));
}

constexpr std::int64_t kEvery = INT64_MAX;

}  // namespace

TEST_CASE("a template with a hook has an empty Hooks behind its dims, and one without has none") {
  const Plan planned = plan(kHooked, with({})).value();
  CHECK(planned.arguments.back().kind == Argument::Kind::hooks);
  CHECK(planned.arguments.back().image == packed(std::uint64_t{0}));
  CHECK(planned.arguments.back().alignment == 8);
  CHECK(planned.arguments[planned.arguments.size() - 2].kind == Argument::Kind::dims);
  CHECK(plan(kLine, {.kernel = "line", .dims = {{"N", 5}}})->arguments.back().kind == Argument::Kind::dims);
}

TEST_CASE("operands lie in Hooks as a compiler lays them out") {
  Request request = with({"alpha : f32 = 0.5", "up : bf16[M, N]", "bias : f32[N]", "seed : u64"});
  request.scalars["seed"] = std::int64_t{7};
  const Plan planned = plan(kHooked, request).value();
  struct Whole {
    std::uint64_t up, up_strides[2], up_extents[2];
    std::uint64_t bias, bias_stride, bias_extent;
    float alpha;
    std::uint64_t seed;
  };
  CHECK(argument(planned, "hooks").image.size() == sizeof(Whole));
  CHECK(argument(planned, "hooks").alignment == alignof(Whole));
  CHECK(argument(planned, "up").hooks_offset == offsetof(Whole, up));
  CHECK(argument(planned, "bias").hooks_offset == offsetof(Whole, bias));
  CHECK(argument(planned, "alpha").hooks_offset == offsetof(Whole, alpha));
  CHECK(argument(planned, "seed").hooks_offset == offsetof(Whole, seed));
  const std::int64_t none = 0, one = 1, five = 5, eight = 8;
  CHECK(argument(planned, "up").image == packed(none, five, one, eight, five));
  CHECK(argument(planned, "bias").image == packed(none, one, five));
  CHECK(argument(planned, "alpha").image == packed(0.5F));
  CHECK(argument(planned, "up").declaration == "up : bf16[M, N]");
  CHECK(argument(planned, "up").address_alignment == 2);
  CHECK_FALSE(argument(planned, "gain").hooks_offset.has_value());
}

TEST_CASE("a dimension declared as 1 is read for every index; strides and an address are the tensor's") {
  const std::int64_t none = 0, two = 2, forty = 40, five = 5, eight = 8;
  const Plan broadcast = plan(kHooked, with({"scale : f32[M, 1]"})).value();
  CHECK(argument(broadcast, "scale").image == packed(none, std::int64_t{1}, none, eight, kEvery));
  Request request = with({"up : f16[M, N]"});
  request.dims.clear();
  request.tensors = {{"X", Tensor::row_major(std::uint64_t{0x10000}, DType::bf16, {8, 5})},
                     {"D", Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {8, 5})},
                     {"up", Tensor::strided(std::uint64_t{0x30002}, DType::f16, {8, 5}, {40, 2})}};
  const Plan strided = plan(kHooked, request).value();
  CHECK(argument(strided, "up").image == packed(std::uint64_t{0x30002}, forty, two, eight, five));
}

TEST_CASE("a declaration's mistake is at its own column") {
  const auto fault = [](std::string_view column, std::string_view text, const std::string& operand, int at) {
    return fmt::format("parse: operand:1:{}: {}\n  {}\n  {}", column, text, operand,
                       std::string(static_cast<std::size_t>(at - 1), ' ') + "^");
  };
  CHECK(refused("bias : f32[K]") == fault("12", "unknown name K", "bias : f32[K]", 12));
  CHECK(refused("bias : f32[TILES]").starts_with("parse: operand:1:12: unknown name TILES; did you mean \"TILE\"?"));
  CHECK(refused("bias : f33[N]").starts_with("parse: operand:1:8: unknown type f33; did you mean \"f32\"?"));
  CHECK(refused("bias f32[N]").starts_with("parse: operand:1:6: expected \":\" after bias"));
  CHECK(refused("bias : f32[N").starts_with("parse: operand:1:13: expected \"]\""));
  CHECK(refused("").starts_with("parse: operand:1:1: expected the name of a scalar"));
  CHECK(refused("X : f32[N]").starts_with("parse: operand:1:1: X is a tensor already"));
  CHECK(refused("f : f32").starts_with("parse: operand:1:1: f is a hook already"));
  CHECK(refused("row : f32[M]").starts_with("parse: operand:1:1: row is an argument of hook f already"));
  CHECK(
      refused("f_with : f32[N]").starts_with("parse: operand:1:1: f_with is a member that is made of hook f already"));
  CHECK(refused("hooks : f32[M]").starts_with("parse: operand:1:1: hooks already has a meaning"));
  CHECK(refused("f32 : f32[M]").starts_with("parse: operand:1:1: f32 is an element type"));
  CHECK(refused("bias : f32[N] box [4]").starts_with("parse: operand:1:1: bias has an attribute"));
  CHECK(refused("alpha : bf16").starts_with("parse: operand:1:9: a scalar operand is an integer, f32 or f64"));
  CHECK(refused("alpha : T").starts_with("parse: operand:1:9: a scalar operand is an integer, f32 or f64"));
  CHECK(refused("n : s32 = 0.5").starts_with("parse: operand:1:11: the default of n must be an integer"));
  CHECK(refusal(kHooked, with({"b : f32[N]", "b : f32"})).starts_with("parse: operand:1:1: b is an operand already"));
  CHECK(refusal(kHooked, with({"b : f32[N]", "c : f32[b]"})).starts_with("parse: operand:1:9: b is "));
}

TEST_CASE("what a request gives for an operand is checked against its declaration") {
  CHECK(refused("alpha : f32") == "invalid_argument: k: scalar alpha has no default; give it a value");
  CHECK(refusal(kLine, {.kernel = "line", .dims = {{"N", 5}}, .operands = {"bias : f32[N]"}}) ==
        "invalid_argument: line: operand bias : f32[N]: it has no hook that could read it");
  const auto given = [](const std::string& operand, const Tensor& tensor) {
    Request request = with({operand});
    request.tensors = {{"X", Tensor::row_major(std::uint64_t{0x10000}, DType::bf16, {8, 5})},
                       {"D", Tensor::row_major(std::uint64_t{0x20000}, DType::f32, {8, 5})},
                       {"bias", tensor}};
    return refusal(kHooked, request);
  };
  const auto vector = [](std::int64_t count, DType type = DType::f32, std::uint64_t address = 0x30000) {
    return Tensor::row_major(address, type, {count});
  };
  CHECK(given("bias : f32[N]", vector(5)) == "planned");
  CHECK(given("bias : f32[H]", vector(64)) == "planned");
  CHECK(given("bias : T[N]", vector(5, DType::bf16)) == "planned");
  CHECK(given("bias : f32[N]", vector(6)) == "invalid_argument: k: N is 5 by the request and 6 by tensor bias [6]");
  CHECK(given("bias : f32[7]", vector(5)) == "invalid_argument: k: operand bias is [5], declared as bias : f32[7]");
  CHECK(given("bias : f16[N]", vector(5)) == "invalid_argument: k: tensor bias is f32, the template declares f16");
  CHECK(given("bias : f32[M, N]", vector(5)).find("bias has 1 dimensions") != std::string::npos);
  CHECK(given("bias : f32[N]", vector(5, DType::f32, 0x30002)).find("is not a multiple of 4 bytes") !=
        std::string::npos);
  CHECK(given("bias : f32[N]", {}).find("tensor bias is missing") != std::string::npos);
  CHECK(given("bia : f32[N]", vector(5)).find("there is no tensor \"bias\"; it has X, D, bia; did you mean \"bia\"?") !=
        std::string::npos);
}

TEST_CASE("a generic hook says whether its text names an operand that is a tensor") {
  std::string text = kHooked;
  text.replace(text.find("s32 column) : f32 = x"), 21, "s32 column) : f32 generic = x");
  const auto reads = [&](std::string hook) {
    const Result<Plan> planned = plan(text, with({"bias : f32[N]", "alpha : f32 = 2"}, std::move(hook)));
    REQUIRE_MESSAGE(planned, planned.error().text());
    return source::preamble(*planned).find("f_given = true, f_reads = true;") != std::string::npos;
  };
  CHECK(reads("x + bias[column]"));
  CHECK_FALSE(reads("x * alpha /* bias[column] */"));
  CHECK_FALSE(reads("x + row"));
}

TEST_CASE("operands are members of Hooks, and hooks name them by the user's own columns") {
  CHECK(preamble_of(with({"bias : f32[N]", "up : bf16[M, N]", "alpha : f32 = 2"},
                         "alpha * (x + bias[column]) *\n  up [ row, min(column, 3) ]")) ==
        "struct alignas(8) Hooks {\n"
        "Operand<f32, 1, f32, true> bias;\n"
        "Operand<bf16, 2, f32, true> up;\n"
        "f32 alpha;\n"
        "__device__ f32 f(f32 x, s32 row, s32 column) const {\n"
        "return (\n"
        "#line 1 \"hook f\"\n"
        "alpha * (x + bias(column)) *\n"
        "  up ( row, min(column, 3) )\n"
        ");}\n"
        "#line 22 \"preamble\"\n"
        "template <class F> __device__ auto f_own(F f) const { return f(::own<false, true>(this->bias)); }\n"
        "__device__ f32 f_with(f32 x, s32 row, s32 column, f32 bias) const {\n"
        "return (\n"
        "#line 1 \"hook f\"\n"
        "alpha * (x + bias        ) *\n"
        "  up ( row, min(column, 3) )\n"
        ");}\n"
        "#line 30 \"preamble\"\n"
        "};\n"
        "#line 1 \"k.cu\"\n");
}

TEST_CASE("the key has an operand's name and type, and neither its value nor its extents") {
  const auto text = [](std::vector<std::string> operands, std::int64_t n) {
    Request request = with(std::move(operands));
    request.dims["N"] = n;
    return preamble_of(request);
  };
  CHECK(text({"a : f32 = 1"}, 5) == text({"a : f32 = 2"}, 5));
  CHECK(text({"a : f32[N]"}, 5) == text({"a : f32[N]"}, 4096));
  CHECK(text({"a : f32[N]"}, 5) != text({"a : bf16[N]"}, 5));
  CHECK(text({"a : f32[N]"}, 5) != text({"b : f32[N]"}, 5));
  CHECK(text({"a : f32[N]"}, 5) != text({"a : f32[1, N]"}, 5));
}

TEST_CASE("a matrix that a hook reads only at its element is read by 16 bytes or in pairs where they lie whole") {
  const auto declared = [](std::int64_t n, std::uint64_t address, std::int64_t pitch) {
    Request request = with({"up : bf16[M, N]"}, "x * up[row, column]");
    request.dims["N"] = n;
    if (address != 0) {
      request.tensors = {{"X", Tensor::row_major(256, DType::bf16, {8, n})},
                         {"D", Tensor::row_major(512, DType::f32, {8, n})},
                         {"up", Tensor::strided(address, DType::bf16, {8, n}, {pitch, 1})}};
    }
    const std::string text = preamble_of(request);
    return text.substr(text.find("Operand"), text.find(';') - text.find("Operand"));
  };
  CHECK(declared(16, 0, 0) == "Operand<bf16, 2, f32, true, 8> up");
  CHECK(declared(16, 272, 24) == "Operand<bf16, 2, f32, true, 8> up");
  CHECK(declared(16, 264, 24) == "Operand<bf16, 2, f32, true, 2> up");
  CHECK(declared(16, 272, 20) == "Operand<bf16, 2, f32, true, 2> up");
  CHECK(declared(6, 0, 0) == "Operand<bf16, 2, f32, true, 2> up");
  CHECK(declared(5, 0, 0) == "Operand<bf16, 2, f32, true> up");
  CHECK(declared(6, 260, 8) == "Operand<bf16, 2, f32, true, 2> up");
  CHECK(declared(6, 258, 8) == "Operand<bf16, 2, f32, true> up");
  CHECK(declared(6, 260, 7) == "Operand<bf16, 2, f32, true> up");
  Request elsewhere = with({"up : bf16[M, N]"}, "x * up[row, 0]");
  elsewhere.dims["N"] = 6;
  CHECK(preamble_of(elsewhere).find("Operand<bf16, 2, f32, true> up;") != std::string::npos);
  const std::string vector = preamble_of(with({"bias : f32[N]"}, "x * bias[column]"));
  CHECK(vector.find("Operand<f32, 1, f32, true> bias;") != std::string::npos);
}

TEST_CASE("the operands of generic hooks, which are called for many elements with the same indices, are read so") {
  std::string generic = kHooked;
  generic.insert(generic.find(" = x\n"), " generic");
  const auto member = [&](bool reference) {
    Request request = with({"bias : f32[N]"}, "x + bias[column]");
    request.reference = reference;
    const Result<Plan> planned = plan(generic + "//! reference r grid 1 block 32\n", request);
    REQUIRE_MESSAGE(planned, planned.error().text());
    const std::string text = source::preamble(*planned);
    const std::size_t at = text.find("Operand<");
    return text.substr(at, text.find(';', at) - at);
  };
  CHECK(member(false) == "Operand<f32, 1, f32, true, 1, true> bias");
  CHECK(member(true) == "Operand<f32, 1, f64, true> bias");
}

TEST_CASE("the header of a function is included if a hook names it") {
  const auto included = [](const std::string& text, const char* header = "activation") {
    const Result<Plan> planned = plan(kHooked, with({}, text));
    REQUIRE_MESSAGE(planned, planned.error().text());
    const std::string line = std::string("#include \"device/tile/") + header + ".cuh\"";
    return source::preamble(*planned).find(line) != std::string::npos;
  };
  CHECK(included("silu(x)"));
  CHECK(included("x * sigmoid(2 * x)"));
  CHECK(included("softcap(x, 2)"));
  CHECK(included("softcap_approx(x, 2)"));
  CHECK_FALSE(included("x /* silu */ * 2"));
  CHECK_FALSE(included("my_gelu(x)"));
  CHECK(included("x * packed(1, 2, column)", "packed_mask"));
  CHECK_FALSE(included("x * packed(1, 2, column)"));
  CHECK_FALSE(included("silu(x)", "packed_mask"));
}

TEST_CASE("a reference's operands come as f64, integers as they are") {
  Request request = with({"bias : f16[N]", "id : s32[N]"}, "x + bias[id[column]]");
  request.reference = true;
  const Result<Plan> planned = plan(kHooked + "//! reference r grid 1 block 32\n", request);
  REQUIRE_MESSAGE(planned, planned.error().text());
  const std::string text = source::preamble(*planned);
  CHECK(text.find("Operand<f16, 1, f64, true> bias;\n") != std::string::npos);
  CHECK(text.find("Operand<s32, 1, s32, true> id;\n") != std::string::npos);
  CHECK(text.find("\nx + bias(id(column))\n") != std::string::npos);
}

TEST_CASE("an operand read with too few indices, or none, is at the user's own column") {
  const std::vector<std::string> operands = {"bias : f32[N]", "up : bf16[M, N]", "alpha : f32 = 2"};
  const auto fault = [&](std::string text) { return emitted(with(operands, std::move(text))); };
  CHECK(fault("x + bias[column]") == "fine");
  CHECK(fault("f32 y = up[row, (s32)bias[column]]; return y * alpha;") == "fine");
  CHECK(fault("x + up[row]") ==
        "parse: hook f:1:5: error: up has 2 dimensions and is read with 1 index; an element is up[i, j]\n"
        "  x + up[row]\n      ^");
  CHECK(fault("x +\n bias[row, column]")
            .starts_with("parse: hook f:2:2: error: bias has 1 dimension and is read with 2"));
  CHECK(fault("x + bias").starts_with("parse: hook f:1:5: error: bias has 1 dimension and is read with 0 indices"));
  CHECK(fault("x + bias[]").starts_with("parse: hook f:1:5: error: bias has 1 dimension and is read with 0 indices"));
  CHECK(
      fault("x + bias(row)").starts_with("parse: hook f:1:5: error: bias has 1 dimension and is read with 0 indices"));
  CHECK(fault("x + alpha[0]").starts_with("parse: hook f:1:10: error: alpha is a scalar"));
  CHECK(fault("x > bias[0] ? x : bias[1]") == "fine");
  CHECK(fault("x + p.bias(1) + p->up(2) + q::bias(3)") == "fine");
}

TEST_CASE("an untrusted hook may read operands, and nothing around them") {
  const auto checked = [](std::string text) {
    Request request = with({"bias : f32[N]", "up : bf16[M, N]", "alpha : f32 = 2"}, std::move(text));
    request.untrusted_hooks = true;
    return emitted(request);
  };
  CHECK(checked("alpha * (x + bias[column]) * up[row, column + 1]") == "fine");
  CHECK(checked("up[row, bias[column] > 0 ? 1 : column]") == "fine");
  CHECK(checked("silu(x) * gelu_tanh(x) + softcap(x, alpha) - softcap_approx(x, alpha)") == "fine");
  for (const char* text : {"bias.data", "*bias.data", "(&bias)[0]", "bias[column].x", "up[row, column", "bias[x = 1]",
                           "alpha = 1", "&alpha", "bias[column] = 1", "x[0]", "alpha(1)"}) {
    INFO(text);
    CHECK(checked(text).starts_with("parse: hook f:1:"));
  }
}

}  // namespace tma_jit::plan
