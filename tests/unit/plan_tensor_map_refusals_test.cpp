// Every refusal of a tensor map that the source can speak is spoken here, in each mode that it applies to: the texts
// are read from the rules' source, so that a rule without a case fails this test.
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "base/file.h"
#include "plan/tensor_map_rules.h"
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

constexpr std::array kModes = {MapMode::tile, MapMode::im2col, MapMode::im2col_w, MapMode::im2col_w128};

struct Refusal {
  std::string text;       // the format string
  std::regex spoken;      // what it makes
  std::size_t fixed = 0;  // characters that are not placeholders: of two texts that match, the more specific has more
  std::set<MapMode> heard;
};

// A format string as a pattern: placeholders are any words.
Refusal refusal_of(const std::string& text) {
  Refusal refusal;
  refusal.text = text;
  std::string pattern;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') {
      i = text.find('}', i);
      pattern += ".*";
      continue;
    }
    if (std::string_view(R"(.[]()*+?^$|\)").find(text[i]) != std::string_view::npos) pattern += '\\';
    pattern += text[i];
    ++refusal.fixed;
  }
  refusal.spoken = std::regex(pattern);
  return refusal;
}

// The format strings of every `fault(...)` in files of src/plan.
std::vector<Refusal> refusals_in(std::initializer_list<const char*> files) {
  static const std::regex call(R"re(fault\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re"), seam(R"re("\s*")re");
  std::vector<Refusal> refusals;
  for (const char* file : files) {
    const std::string source = read_file(fmt::format("{}/src/plan/{}", TMA_JIT_SOURCE_DIR, file)).value();
    for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at) {
      std::string text = std::regex_replace(at->str(1), seam, "");
      text = text.substr(1, text.rfind('"') - 1);
      refusals.push_back(refusal_of(text));
    }
  }
  return refusals;
}

// The most specific refusal that makes this message; a failure when none does.
Refusal* heard_in(std::vector<Refusal>& refusals, const std::string& message) {
  Refusal* best = nullptr;
  for (Refusal& refusal : refusals) {
    if (!std::regex_search(message, refusal.spoken)) continue;
    if (best == nullptr || refusal.fixed > best->fixed) best = &refusal;
  }
  CHECK_MESSAGE(best != nullptr, "no rule says: " << message);
  return best;
}

struct Subject {
  TensorMapSpec spec;
  MapTarget target{4096, 100};
};

// A map of each mode that breaks no rule, of s32[8, 16, 20, 64] on a device that has every mode.
Subject sound(MapMode mode) {
  Subject subject;
  TensorMapSpec& spec = subject.spec;
  spec.dtype = DType::s32;
  spec.mode = mode;
  spec.rank = 4;
  spec.dims = {64, 20, 16, 8};
  spec.strides = {256, 5120, 81920};
  spec.box = {8, 128};
  if (mode == MapMode::tile) spec.box = {8, 4, 4, 2};
  if (mode == MapMode::im2col_w || mode == MapMode::im2col_w128) spec.swizzle = Swizzle::b64;
  return subject;
}

using Change = std::function<void(TensorMapSpec&, MapTarget&)>;

// What to do to a sound map so that it breaks a rule; rules of some modes leave maps of the others sound, or are
// spoken of by another rule before.
const std::vector<Change>& changes_of_tensors() {
  using S = TensorMapSpec;
  using P = MapTarget;
  static const std::vector<Change> all = {
      [](S&, P& p) { p.compute_capability = 89; },
      [](S&, P& p) { p.compute_capability = 90; },
      [](S&, P& p) { p.compute_capability = 120; },
      [](S& s, P& p) { s.dtype = DType::u8, s.as = MapType::b4x16, p.compute_capability = 90; },
      [](S& s, P& p) { s.swizzle = Swizzle::b128_atom_b32, p.compute_capability = 90; },
      [](S& s, P& p) { s.swizzle = Swizzle::b128_atom_b64, p.compute_capability = 90; },
      [](S& s, P&) { s.as = MapType::bf16; },
      [](S& s, P&) { s.as = MapType::b4x16; },
      [](S& s, P&) { s.rank = 0; },
      [](S& s, P&) { s.rank = 6; },
      [](S& s, P&) { s.rank = 2; },
      [](S& s, P&) { s.rank = 2, s.interleave = Interleave::b16; },
      [](S&, P& p) { p.address = std::uint64_t{1} << 57; },
      [](S&, P& p) { p.address = 4104; },
      [](S& s, P& p) { s.interleave = Interleave::b32, p.address = 4112; },
      [](S& s, P&) { s.dims[3] = 0; },
      [](S& s, P&) { s.dims[0] = (std::uint64_t{1} << 32) + 1; },
      [](S& s, P&) { s.dtype = DType::u8, s.as = MapType::b4x16, s.dims[0] = 63; },
      [](S& s, P&) { s.dtype = DType::u8, s.as = MapType::b6x16_p32, s.dims[0] = 64; },
      [](S& s, P&) { s.strides[1] = 5124; },
      [](S& s, P&) { s.strides[1] = 5122; },
      [](S& s, P&) { s.strides[2] = std::uint64_t{1} << 40; },
      [](S& s, P&) { s.element_strides[1] = 0; },
      [](S& s, P&) { s.element_strides[2] = 9; },
      [](S& s, P&) { s.element_strides[0] = 2; },
      [](S& s, P&) { s.fill = Fill::nan; },
      [](S& s, P&) { s.dtype = DType::e4m3, s.box[0] = 16, s.fill = Fill::nan; },
      [](S& s, P&) { s.as = MapType::u32, s.fill = Fill::nan; },
  };
  return all;
}
const std::vector<Change>& changes_of_boxes() {
  using S = TensorMapSpec;
  using P = MapTarget;
  static const std::vector<Change> all = {
      [](S& s, P&) { s.box[0] = 0; },
      [](S& s, P&) { s.box[0] = 257; },
      [](S& s, P&) { s.box[1] = 0; },
      [](S& s, P&) { s.box[1] = 1025; },
      [](S& s, P&) { s.box[1] = 64; },
      [](S& s, P&) { s.dtype = DType::u8, s.as = MapType::b4x16_p64, s.dims[0] = 128, s.box[0] = 64; },
      [](S& s, P&) { s.box[0] = 6; },
      [](S& s, P&) {
        s.dtype = DType::f64, s.strides = {512, 10240, 163840}, s.box = {256, 128, 4, 4};
      },
      [](S& s, P&) { s.lower[0] = -129; },
      [](S& s, P&) { s.upper[0] = 128; },
      [](S& s, P&) { s.lower[0] = 20; },
      [](S& s, P&) { s.upper[0] = -20; },
      [](S& s, P&) { s.dims[1] = std::uint64_t{1} << 31; },
      [](S& s, P&) { s.box[0] = 16, s.swizzle = Swizzle::b32; },
      [](S& s, P&) { s.box[0] = 64, s.swizzle = Swizzle::b128; },
      [](S& s, P&) { s.interleave = Interleave::b16; },
      [](S& s, P&) {
        s.dtype = DType::u8, s.as = MapType::b6x16_p32, s.dims[0] = s.box[0] = 128, s.swizzle = Swizzle::b64;
      },
      [](S& s, P&) {
        s.dtype = DType::u8, s.as = MapType::b4x16_p64, s.dims[0] = s.box[0] = 128, s.swizzle = Swizzle::b64;
      },
      [](S& s, P&) {
        s.dtype = DType::u8, s.as = MapType::b6x16_p32, s.dims[0] = s.box[0] = 128, s.interleave = Interleave::b16;
      },
      [](S& s, P&) { s.swizzle = Swizzle::none; },
      [](S& s, P&) { s.swizzle = Swizzle::b128_atom_b64; },
  };
  return all;
}
std::vector<Change> changes() {
  std::vector<Change> all = changes_of_tensors();
  all.insert(all.end(), changes_of_boxes().begin(), changes_of_boxes().end());
  return all;
}

// Rules that are of some modes only, by words of their texts. All others are of every mode.
const std::map<std::string, std::set<MapMode>>& particular() {
  static const std::set<MapMode> tile = {MapMode::tile},
                                 pixels = {MapMode::im2col, MapMode::im2col_w, MapMode::im2col_w128};
  static const std::map<std::string, std::set<MapMode>> rules = {
      {"im2col_w needs {}", {MapMode::im2col_w}},
      {"im2col_w128 needs {}", {MapMode::im2col_w128}},
      {"im2col_w128 moves {}", {MapMode::im2col_w128}},
      // On a device that lacks these, the wide modes are lacking too, and refused before.
      {"{} needs {}; this device is sm_{}", {MapMode::tile, MapMode::im2col}},
      {"swizzle 128 with atom {} needs {}", {MapMode::tile, MapMode::im2col}},
      {"an {} map has 3 to {} dimensions", pixels},
      {"an interleaved tensor map", tile},
      {"elements in dimension {}; each takes", tile},
      {"{} has {} {}; an {} map takes 1 to {}", pixels},
      {"the {} corner {} has {}", pixels},
      {"the driver takes less than 2^31", pixels},
      {"the corners leave no pixel", pixels},
      {"{} takes swizzle 64, 128 or 128 with atom 32", {MapMode::im2col_w, MapMode::im2col_w128}},
  };
  return rules;
}

std::set<MapMode> modes_of(const Refusal& refusal) {
  std::size_t longest = 0;
  std::set<MapMode> modes(kModes.begin(), kModes.end());
  for (const auto& [words, own] : particular()) {
    if (refusal.text.find(words) == std::string::npos || words.size() < longest) continue;
    longest = words.size();
    modes = own;
  }
  return modes;
}

std::string names_of(const std::set<MapMode>& modes) {
  std::string text;
  for (const MapMode mode : modes) text += fmt::format("{} ", name_of(mode));
  return text;
}

}  // namespace

TEST_CASE("every rule of tensor maps refuses something in every mode it is of, and in no other") {
  std::vector<Refusal> refusals = refusals_in({"tensor_map_rules.cpp", "tensor_map_box_rules.cpp"});
  CHECK(refusals.size() >= 28);
  for (const MapMode mode : kModes) {
    const Subject fine = sound(mode);
    REQUIRE(check_tensor_map(fine.spec, fine.target, "A").has_value());
    for (const Change& change : changes()) {
      Subject subject = sound(mode);
      change(subject.spec, subject.target);
      const Result<void> checked = check_tensor_map(subject.spec, subject.target, "A");
      if (checked.has_value()) continue;
      CHECK(checked.error().code == ErrorCode::invalid_argument);
      CHECK(checked.error().message.starts_with("A: "));
      if (Refusal* refusal = heard_in(refusals, checked.error().message)) refusal->heard.insert(mode);
    }
  }
  for (const Refusal& refusal : refusals) {
    CHECK_MESSAGE(refusal.heard == modes_of(refusal), "\"" << refusal.text << "\" is of " << names_of(modes_of(refusal))
                                                           << "and was heard in " << names_of(refusal.heard));
  }
  for (const auto& rule : particular()) {
    const bool known =
        std::ranges::any_of(refusals, [&](const Refusal& r) { return r.text.find(rule.first) != std::string::npos; });
    CHECK_MESSAGE(known, "no rule says \"" << rule.first << "\"");
  }
}

TEST_CASE("every way in which a declaration can miss a tensor map is refused") {
  const std::string head =
      "//! kernel k\n//! arch sm_90a, sm_100a\n//! dim N\n//! param P = 1 in {-1, 1, 3, 32, 64}\n//! launch grid 1 "
      "block 32\n";
  struct Case {
    std::string tensor;
    Tensor given;
  };
  const auto packed = [](DType type, std::initializer_list<std::int64_t> shape) {
    return Tensor::row_major(std::uint64_t{4096}, type, shape);
  };
  const auto strided = [](DType type, std::int64_t outer, std::int64_t inner) {
    return Tensor::strided(std::uint64_t{4096}, type, {2, 16}, {outer, inner});
  };
  const std::vector<Case> cases = {
      {"X : u8[16, 64] box [8, 64] swizzle P", packed(DType::u8, {16, 64})},
      {"X : u8[16, 128] box [8, 128] swizzle 128 atom 2 * P flip", packed(DType::u8, {16, 128})},
      {"X : u8[16, 64] box [8, 64] swizzle 64 atom P", packed(DType::u8, {16, 64})},
      {"X : u8[16, 64] box [-P, 64]", packed(DType::u8, {16, 64})},
      {"X : u8[16, 64] box [8, 64] steps [-P, 1]", packed(DType::u8, {16, 64})},
      {"X : u16[16, 64] box [8, 64] as b4x16", packed(DType::u16, {16, 64})},
      {"X : u8[16, 64] box [8, 128] as b4x16_p64 out", packed(DType::u8, {16, 64})},
      {"X : u8[16, 100] box [8, 128] as b6x16_p32", packed(DType::u8, {16, 100})},
      {"X : f64[2, 16] box [1, 8]", strided(DType::f64, 64, 2)},
      {"X : f64[2, 16] box [1, 8]", strided(DType::f64, -64, 1)},
      {"X : f64[N, N, N] box [1, 1, 8]", Tensor{}},  // of dims alone
  };
  std::vector<Refusal> refusals = refusals_in({"tensor_maps.cpp"});
  CHECK(refusals.size() >= 9);
  for (const Case& c : cases) {
    for (const std::int64_t p : {1, 32, 64}) {
      const Request request{.kernel = "k",
                            .tensors = {{"X", c.given}},
                            .dims = {{"N", (std::int64_t{1} << 31) - 1}},
                            .params = {{"P", p}}};
      const std::string said = refusal(head + "//! tensor " + c.tensor + "\n", request, "b200");
      if (said == "planned") continue;
      if (said.find("X: ") == std::string::npos) FAIL_CHECK(c.tensor << ": " << said);
      if (Refusal* heard = heard_in(refusals, said)) heard->heard.insert(MapMode::tile);
    }
  }
  for (const Refusal& refusal : refusals) CHECK_MESSAGE(!refusal.heard.empty(), "never heard: " << refusal.text);
}

}  // namespace tma_jit::plan
