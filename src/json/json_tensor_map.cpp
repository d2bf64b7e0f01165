#include "json/json_tensor_map.h"

#include <algorithm>

#include "base/json_integer.h"
#include "core/failure.h"
#include "core/fields.h"

namespace tma_jit::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRankMax = 5;

template <class Enum> constexpr Enum kLast;
template <> constexpr MapType kLast<MapType> = MapType::b6x16_p32;
template <> constexpr MapMode kLast<MapMode> = MapMode::im2col_w128;
template <> constexpr Swizzle kLast<Swizzle> = Swizzle::b128_atom_b64;
template <> constexpr Interleave kLast<Interleave> = Interleave::b32;
template <> constexpr L2Promotion kLast<L2Promotion> = L2Promotion::b256;
template <> constexpr Fill kLast<Fill> = Fill::nan;

Json value_of(MapType type) {
  return name_of(type);
}
Json value_of(MapMode mode) {
  return name_of(mode);
}
Json value_of(Interleave interleave) {
  return interleave == Interleave::none ? 0 : 8 << static_cast<int>(interleave);
}
Json value_of(L2Promotion promotion) {
  return promotion == L2Promotion::none ? 0 : 32 << static_cast<int>(promotion);
}
Json value_of(Fill fill) {
  return fill == Fill::nan ? "nan" : "zero";
}

// Returns what an object has for the field `name` with a value of an enum.
template <class Enum> Json members_of(const char* name, Enum value) {
  return Json::object({{name, value_of(value)}});
}
Json members_of(const char* name, Swizzle swizzle) {
  return Json::object({{name, span_of(swizzle)},
                       {"swizzle_atom", atom_of(swizzle)},
                       {"swizzle_flip", swizzle == Swizzle::b128_atom_b32_flip_b8}});
}

// The driver's order is reversed to outermost first, as templates write shapes.
struct Writer {
  Json& object;

  template <class Enum> void operator()(const char* name, Enum value) { object.update(members_of(name, value)); }
  void operator()(const char* name, std::optional<MapType> type) { object.update(members_of(name, *type)); }
  template <class Integer> void operator()(const char* name, std::span<Integer> list) {
    object[name] = std::vector(list.rbegin(), list.rend());
  }
};

// Keeps the first error, after which it reads nothing.
struct Reader {
  const Json& object;
  Result<void> done{};

  const Json& member(const std::string& name) const {
    static const Json none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
  }

  bool has(const Json& members) const {
    return std::ranges::all_of(members.items(), [&](const auto& each) { return member(each.key()) == each.value(); });
  }

  template <class Enum> void operator()(const char* name, Enum& value) {
    if (!done) return;
    for (int i = 0; i <= static_cast<int>(kLast<Enum>); ++i) {
      value = static_cast<Enum>(i);
      if (has(members_of(name, value))) return;
    }
    done = failure(ErrorCode::parse, "{} has a value that no tensor map has", name);
  }
  void operator()(const char* name, std::optional<MapType>& type) { (*this)(name, type.emplace()); }

  template <class Integer> void operator()(const char* name, std::span<Integer> list) {
    if (!done) return;
    const auto read = integers_in<Integer>(member(name), name);
    if (!read) {
      done = tl::make_unexpected(read.error());
    } else if (read->size() != list.size()) {
      done = failure(ErrorCode::parse, "{} has {} elements, not {}", name, read->size(), list.size());
    } else {
      std::ranges::reverse_copy(*read, list.begin());
    }
  }
};

}  // namespace

Json object_of(TensorMapSpec map) {
  map.as = map.type();
  Json object = Json::object();
  each_map_field(Writer{object}, map);
  return object;
}

Result<TensorMapSpec> map_in(const Json& object, DType dtype) {
  if (!object.is_object()) return failure(ErrorCode::parse, "map is not an object");
  TensorMapSpec map;
  map.dtype = dtype;
  Reader reader{object};
  const std::size_t rank = reader.member("dims").size();
  if (rank < 1 || rank > kRankMax) return failure(ErrorCode::parse, "a tensor map has 1 to 5 dims, not {}", rank);
  map.rank = static_cast<int>(rank);
  each_map_field(reader, map);
  TMA_JIT_CHECK(reader.done);
  if (map.mode == MapMode::tile || rank >= 3) return map;
  return failure(ErrorCode::parse, "an im2col map has 3 to 5 dims, not {}", rank);
}

}  // namespace tma_jit::json
