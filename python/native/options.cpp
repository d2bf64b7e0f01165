// The options of an engine as keywords.
#include <array>
#include <chrono>
#include <concepts>
#include <functional>
#include <utility>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/device_info.h>

#include "core/option_fields.h"
#include "duration.h"
#include "engine.h"

namespace tma_jit::python {
namespace {

namespace fs = std::filesystem;

// The names of an enumeration's values, in their order.
template <class Enum> constexpr std::array<const char*, 0> kNames{};
template <>
constexpr std::array<const char*, 6> kNames<LogLevel> = {"trace", "debug", "info", "warning", "error", "off"};
template <> constexpr std::array<const char*, 3> kNames<RemoteRole> = {"read-write", "read-only", "write-only"};
template <> constexpr std::array<const char*, 3> kNames<Seal> = {"off", "warn", "refuse"};
template <> constexpr std::array<const char*, 4> kNames<TuningPolicy> = {"off", "records", "at_start", "background"};
template <> constexpr std::array<const char*, 3> kNames<CompilerOptions::Place> = {"automatic", "worker", "in_process"};

template <class Enum> const char* name_of(Enum value) {
  return kNames<Enum>[static_cast<std::size_t>(value)];
}

// What a field is called here, if not as elsewhere.
std::string_view keyword_of(std::string_view field) {
  if (field == "compiler_place") return "compiler";
  if (field == "compiler_worker") return "worker";
  if (field == "compiler_workers") return "workers";
  if (field == "tuning_policy") return "tuning";
  if (field == "tuning_records") return "records";
  return field;
}

// Why an option cannot have a value.
struct Unfit {
  std::string why;
};

// Each function assigns a value of Python to a field, or throws nb::cast_error or Unfit.
template <class Member> void assign(Member& member, nb::handle value) {
  member = nb::cast<Member>(value);
}
template <class Enum> void assign(Enum& member, nb::handle name) requires std::is_enum_v<Enum> {
  const auto given = nb::cast<std::string>(name);
  std::string list;
  for (std::size_t i = 0; i < kNames<Enum>.size(); ++i) {
    if (given == kNames<Enum>[i]) {
      member = static_cast<Enum>(i);
      return;
    }
    list += (i == 0 ? "" : ", ") + std::string(kNames<Enum>[i]);
  }
  throw Unfit{"it is one of " + list};
}
template <class Enum> void assign(std::optional<Enum>& member, nb::handle name) requires std::is_enum_v<Enum> {
  assign(member.emplace(), name);
}
void assign(std::optional<DeviceInfo>& member, nb::handle device) {
  member = take(device_named(nb::cast<std::string>(device)));
}
void assign(std::chrono::milliseconds& member, nb::handle seconds) {
  const auto limit = nb::cast<double>(seconds);
  if (!(limit > 0)) throw Unfit{"it is a number of seconds above 0"};
  member = milliseconds_of(limit);
}

// Each function has a field call a function of Python.
void connect(LogCallback& member, const Callback& callback) {
  member = [callback](LogLevel level, std::string_view message) {
    callback("the log function of a tma_jit.Engine", [&] { return nb::make_tuple(name_of(level), text_of(message)); });
  };
}
void connect(MissCallback& member, const Callback& callback) {
  member = [callback](const Miss& miss) {
    callback("on_sealed_miss of a tma_jit.Engine", [&] {
      return nb::make_tuple(text_of(miss.kernel), text_of(miss.arch), text_of(miss.key.hex()),
                            text_of(miss.explanation));
    });
  };
}
void connect(std::function<bool()>& member, const Callback& callback) {
  member = [callback] { return callback.is_true("may_measure of a tma_jit.Engine"); };
}

void set_option(EngineOptions& given, std::string_view name, nb::handle value) {
  std::vector<std::string> names;
  bool found = false;
  each_option(
      [&](const char* field, auto& member) {
        names.emplace_back(keyword_of(field));
        if (names.back() != name) return;
        found = true;
        if (value.is_none()) return;
        try {
          if constexpr (requires(const Callback& callback) { connect(member, callback); }) {
            connect(member, given.callbacks.emplace_back(value, name));
          } else {
            assign(member, value);
          }
        } catch (const nb::cast_error&) {
          raise_invalid(std::string(name) + " cannot be " + shown(value));
        } catch (const Unfit& unfit) {
          raise_invalid(std::string(name) + " cannot be " + shown(value) + "; " + unfit.why);
        }
      },
      given.options);
  if (found) return;
  raise({.code = ErrorCode::invalid_argument,
         .message = "an engine has no option " + std::string(name),
         .reason = ErrorReason::unknown_name,
         .suggestion = nearest_name(name, names)});
}

// Each function returns a field's type and default for the stubs.
std::string typed(const std::string&) {
  return "str | None = None";
}
std::string typed(const fs::path&) {
  return "str | os.PathLike[str] | None = None";
}
std::string typed(const std::vector<fs::path>&) {
  return "list[str | os.PathLike[str]] | None = None";
}
std::string typed(bool value) {
  return value ? "bool = True" : "bool = False";
}
std::string typed(const std::optional<bool>&) {
  return "bool | None = None";
}
std::string typed(std::integral auto value) {
  return "int = " + std::to_string(value);
}
std::string typed(double value) {
  return std::string("float = ") + nb::repr(nb::float_(value)).c_str();
}
std::string typed(std::chrono::milliseconds limit) {
  return typed(std::chrono::duration<double>(limit).count());
}
template <class Enum> std::string typed(Enum value) requires std::is_enum_v<Enum> {
  return "str = '" + std::string(name_of(value)) + "'";
}
template <class Enum> std::string typed(const std::optional<Enum>&) requires std::is_enum_v<Enum> {
  return "str | None = None";
}
std::string typed(const std::optional<DeviceInfo>&) {
  return "str | None = None";
}
std::string typed(const LogCallback&) {
  return "collections.abc.Callable[[str, str], object] | None = None";
}
std::string typed(const MissCallback&) {
  return "collections.abc.Callable[[str, str, str, str], object] | None = None";
}
std::string typed(const std::function<bool()>&) {
  return "collections.abc.Callable[[], object] | None = None";
}

// Reads an ordinal, a text as the command takes it, or a device of PyTorch's such as "cuda:1".
Device read_device(nb::handle device) {
  auto text = read_as<std::string>(nb::str(device), "an engine's device");
  if (text == "cuda") text = "0";
  if (text.starts_with("cuda:")) text.erase(0, 5);
  return take(Device::parse(text));
}

// The folders of libnvrtc in NVIDIA's packages for Python, wherever this interpreter imports packages from.
std::vector<fs::path> packaged_nvrtc() {
  std::vector<fs::path> folders;
  for (const nb::handle entry : nb::cast<nb::list>(nb::module_::import_("sys").attr("path"))) {
    fs::path packages;
    if (!nb::isinstance<nb::str>(entry) || !nb::try_cast(entry, packages)) continue;  // no folder has such a name
    packages /= "nvidia";
    std::error_code ignored;
    if (!fs::is_directory(packages, ignored)) continue;
    for (const char* folder : {"cu13/lib", "cuda_nvrtc/lib"}) folders.push_back(packages / folder);
  }
  return folders;
}

}  // namespace

const char* engine_signature() {
  static const std::string signature = [] {
    std::string text = "def __init__(self, device: typing.Any = None, *";
    Options defaults;
    each_option([&](const char* field,
                    const auto& member) { text += ", " + std::string(keyword_of(field)) + ": " + typed(member); },
                defaults);
    return text + ") -> None";
  }();
  return signature.c_str();
}

EngineOptions read_options(nb::handle device, const nb::kwargs& keywords) {
  EngineOptions given;
  if (!device.is_none()) given.options.device = read_device(device);
  given.options.nvrtc_dirs = packaged_nvrtc();
  for (const auto [name, value] : keywords)
    set_option(given, read_as<std::string_view>(name, "an option's name"), value);
  return given;
}

}  // namespace tma_jit::python
