// The options of an engine as keywords.
#include <array>
#include <utility>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <tma_jit/device_info.h>

#include "engine.h"

namespace tma_jit::python {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> kLevels = {"trace", "debug", "info", "warning", "error", "off"};
constexpr std::array<const char*, 3> kRoles = {"read-write", "read-only", "write-only"};
constexpr std::array<const char*, 3> kSeals = {"off", "warn", "refuse"};
constexpr std::array<const char*, 4> kTuningPolicies = {"off", "records", "at_start", "background"};
constexpr std::array<const char*, 3> kPlaces = {"automatic", "worker", "in_process"};

// Returns the value of an enum whose names are listed in its order.
template <class Enum, std::size_t count> Enum named(const std::array<const char*, count>& names, nb::handle name) {
  const auto given = nb::cast<std::string>(name);
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    if (given == names[i]) return static_cast<Enum>(i);
    list += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  raise_invalid(given + " is none of " + list);
}

std::chrono::milliseconds milliseconds(nb::handle seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * nb::cast<double>(seconds)));
}

LogCallback log_to(nb::handle function) {
  return [callback = Callback(function)](LogLevel level, std::string_view message) {
    callback("the log function of a tma_jit.Engine",
             [&] { return nb::make_tuple(kLevels[static_cast<std::size_t>(level)], text_of(message)); });
  };
}

MissCallback miss_to(nb::handle function) {
  return [callback = Callback(function)](const Miss& miss) {
    callback("on_sealed_miss of a tma_jit.Engine", [&] {
      return nb::make_tuple(text_of(miss.kernel), text_of(miss.arch), text_of(miss.key.hex()),
                            text_of(miss.explanation));
    });
  };
}

template <class Member> void assign(Member& member, nb::handle value) {
  member = nb::cast<std::remove_reference_t<Member>>(value);
}

using Setter = void (*)(Options& options, nb::handle value);
#define TMA_JIT_OPTION(name, member)                                                \
  {                                                                                 \
    name, [](Options& options, nb::handle value) { assign(options.member, value); } \
  }

constexpr std::pair<std::string_view, Setter> kOptions[] = {
    TMA_JIT_OPTION("arch", arch),
    {"limits",
     [](Options& options, nb::handle value) { options.limits = take(device_named(nb::cast<std::string>(value))); }},
    TMA_JIT_OPTION("cache_dir", cache_dir),
    TMA_JIT_OPTION("use_cache", use_cache),
    TMA_JIT_OPTION("cache_bytes", cache.bytes),
    TMA_JIT_OPTION("cache_entries", cache.entries),
    TMA_JIT_OPTION("cache_read_only", cache.read_only),
    TMA_JIT_OPTION("cache_pack_keys", cache.pack_keys),
    TMA_JIT_OPTION("cache_node_dir", cache.node_dir),
    TMA_JIT_OPTION("cache_wait_s", cache.wait_s),
    TMA_JIT_OPTION("cache_shared", cache.shared),
    TMA_JIT_OPTION("template_dirs", template_dirs),
    TMA_JIT_OPTION("nvrtc", nvrtc),
    TMA_JIT_OPTION("nvrtc_dirs", nvrtc_dirs),
    TMA_JIT_OPTION("disable_tma", disable_tma),
    {"compiler", [](Options& options,
                    nb::handle value) { options.compiler.place = named<CompilerOptions::Place>(kPlaces, value); }},
    TMA_JIT_OPTION("worker", compiler.worker),
    TMA_JIT_OPTION("workers", compiler.workers),
    TMA_JIT_OPTION("compiles_at_once", compiler.compiles_at_once),
    {"compile_time_limit_s",
     [](Options& options, nb::handle value) { options.compiler.time_limit = milliseconds(value); }},
    TMA_JIT_OPTION("worker_memory_limit", compiler.memory_limit),
    TMA_JIT_OPTION("remote", cache.remote.url),
    {"remote_role",
     [](Options& options, nb::handle value) { options.cache.remote.role = named<RemoteRole>(kRoles, value); }},
    TMA_JIT_OPTION("remote_wait_s", cache.remote.wait_s),
    TMA_JIT_OPTION("remote_flush_s", cache.remote.flush_s),
    TMA_JIT_OPTION("remote_user", cache.remote.user),
    TMA_JIT_OPTION("remote_password", cache.remote.password),
    TMA_JIT_OPTION("remote_token", cache.remote.token),
    TMA_JIT_OPTION("remote_ca", cache.remote.ca),
    TMA_JIT_OPTION("remote_certificate", cache.remote.certificate),
    TMA_JIT_OPTION("remote_certificate_key", cache.remote.certificate_key),
    TMA_JIT_OPTION("remote_sign_key", cache.remote.sign_key),
    TMA_JIT_OPTION("remote_library", cache.remote.library),
    TMA_JIT_OPTION("record_misses", record_misses),
    TMA_JIT_OPTION("record_requests", record_requests),
    {"tuning",
     [](Options& options, nb::handle value) { options.tuning.policy = named<TuningPolicy>(kTuningPolicies, value); }},
    TMA_JIT_OPTION("records", tuning.records),
    TMA_JIT_OPTION("tuning_budget_s", tuning.budget_s),
    TMA_JIT_OPTION("tuning_device_share", tuning.device_share),
    TMA_JIT_OPTION("tuning_memory_bytes", tuning.memory_bytes),
    {"seal", [](Options& options, nb::handle value) { options.seal = named<Seal>(kSeals, value); }},
    {"on_sealed_miss", [](Options& options, nb::handle value) { options.on_sealed_miss = miss_to(value); }},
    TMA_JIT_OPTION("line_info", line_info),
    {"log_level", [](Options& options, nb::handle value) { options.log_level = named<LogLevel>(kLevels, value); }},
    {"log", [](Options& options, nb::handle value) { options.log = log_to(value); }},
};
#undef TMA_JIT_OPTION

void set_option(Options& options, std::string_view name, nb::handle value) {
  std::vector<std::string> names;
  for (const auto& [option, setter] : kOptions) {
    names.emplace_back(option);
    if (option != name) continue;
    try {
      if (!value.is_none()) setter(options, value);
    } catch (const nb::cast_error&) {
      raise_invalid(std::string(name) + " cannot be " + nb::repr(value).c_str());
    }
    return;
  }
  raise({.code = ErrorCode::invalid_argument,
         .message = "an engine has no option " + std::string(name),
         .reason = ErrorReason::unknown_name,
         .suggestion = nearest_name(name, names)});
}

// Reads an ordinal, a text as the command takes it, or a device of PyTorch's such as "cuda:1".
Device read_device(nb::handle device) {
  std::string text = nb::str(device).c_str();
  if (text == "cuda") text = "0";
  if (text.starts_with("cuda:")) text.erase(0, 5);
  return take(Device::parse(text));
}

// The folders of libnvrtc in NVIDIA's packages for Python, wherever this interpreter imports packages from.
std::vector<fs::path> packaged_nvrtc() {
  std::vector<fs::path> folders;
  for (const nb::handle entry : nb::cast<nb::list>(nb::module_::import_("sys").attr("path"))) {
    if (!nb::isinstance<nb::str>(entry)) continue;
    const fs::path packages = fs::path(nb::cast<std::string>(entry)) / "nvidia";
    std::error_code ignored;
    if (!fs::is_directory(packages, ignored)) continue;
    for (const char* folder : {"cu13/lib", "cuda_nvrtc/lib"}) folders.push_back(packages / folder);
  }
  return folders;
}

}  // namespace

const char* const kEngineSignature =
    "def __init__(self, device: typing.Any = None, *, arch: str = ..., limits: str | None = None, cache_dir: "
    "str | os.PathLike[str] | None = None, use_cache: bool = True, cache_bytes: int = ..., cache_entries: int = ..., "
    "cache_read_only: list[str | os.PathLike[str]] = ..., cache_pack_keys: list[str | os.PathLike[str]] = ..., "
    "cache_node_dir: str | os.PathLike[str] | None = None, cache_wait_s: float = ..., cache_shared: bool = False, "
    "template_dirs: list[str | os.PathLike[str]] = ..., nvrtc: str | os.PathLike[str] | None = None, nvrtc_dirs: "
    "list[str | os.PathLike[str]] = ..., disable_tma: bool | None = None, compiler: str = 'automatic', worker: "
    "str | os.PathLike[str] | None = None, workers: int = 0, compiles_at_once: int = 0, compile_time_limit_s: float = "
    "300, worker_memory_limit: int = ..., remote: str | None = None, remote_role: str | None = None, remote_wait_s: "
    "float = 1, remote_flush_s: float = 5, remote_user: str | None = None, remote_password: str | None = None, "
    "remote_token: str | None = None, remote_ca: str | os.PathLike[str] | None = None, remote_certificate: "
    "str | os.PathLike[str] | None = None, remote_certificate_key: str | os.PathLike[str] | None = None, "
    "remote_sign_key: str | os.PathLike[str] | None = None, remote_library: str | os.PathLike[str] | None = None, "
    "record_misses: str | os.PathLike[str] | None = None, record_requests: str | os.PathLike[str] | None = None, "
    "tuning: str | None = None, records: list[str | os.PathLike[str]] = ..., tuning_budget_s: float = 60, "
    "tuning_device_share: float = "
    "0.1, tuning_memory_bytes: int = ..., seal: str = 'off', on_sealed_miss: "
    "collections.abc.Callable[[str, str, str, str], object] | None = None, line_info: bool = False, log_level: str = "
    "'warning', log: collections.abc.Callable[[str, str], object] | None = None) -> None";

Options read_options(nb::handle device, const nb::kwargs& keywords) {
  Options options;
  if (!device.is_none()) options.device = read_device(device);
  options.nvrtc_dirs = packaged_nvrtc();
  for (const auto [name, value] : keywords) set_option(options, nb::cast<std::string_view>(name), value);
  return options;
}

}  // namespace tma_jit::python
