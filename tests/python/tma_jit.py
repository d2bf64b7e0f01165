"""tma-jit for Python through its C API: ctypes prototypes read from c.h, and a thin class a handle.

    library = Library("build/lib/libtma_jit.so", "include/tma_jit/c.h")
    engine = Engine(library, device="h100")
    plan = engine.plan("gemm", dims={"M": 512, "N": 512, "K": 512})

PyTorch tensors are given as they are: `launch = engine.prepare("copy", {"S": a, "D": b}); launch.run(stream)`.
"""
import ctypes
import json
import re
from ctypes import c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

SCALARS = {"void": None, "size_t": c_size_t, "double": c_double, "int32_t": c_int32, "int64_t": c_int64, "uint8_t": c_uint8,
           "uint64_t": c_uint64, "tma_jit_status": c_int32, "tma_jit_reason": c_int32, "tma_jit_seal": c_int32, "tma_jit_dtype": c_int32,
           "tma_jit_extents": c_int32, "tma_jit_stream": c_void_p}
DTYPES = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "e4m3", "e5m2"]
TORCH_DTYPES = {"uint8": "u8", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64", "float16": "f16", "bfloat16": "bf16",
                "float32": "f32", "float64": "f64", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}


def ctype(declared):
    """Every pointer but a string is a void*, for which ctypes takes byref(), arrays, integers and None."""
    declared = " ".join(declared.replace("*", " * ").split())
    if declared == "const char *":
        return c_char_p
    return c_void_p if "*" in declared else SCALARS[declared]


def prototypes(header):
    """(name, result, arguments) of every function c.h declares."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for result, name, arguments in re.findall(r"TMA_JIT_API\s+([\w\s*]+?)\s*(tma_jit_\w+)\(([^)]*)\);", text):
        listed = [] if arguments.strip() == "void" else arguments.split(",")
        yield name, ctype(result), [ctype(re.sub(r"\w+$", "", argument.strip())) for argument in listed]


class Tensor(ctypes.Structure):
    _fields_ = [("address", c_uint64), ("dtype", c_int32), ("rank", c_int32), ("shape", c_int64 * 5), ("strides", c_int64 * 5)]

    @staticmethod
    def of(torch_tensor):
        """A view of a PyTorch tensor, which must live as long as it is used. None is an absent one."""
        if torch_tensor is None:
            return Tensor()
        if torch_tensor.dim() > 5:
            raise ValueError(f"{torch_tensor.dim()} dimensions; tensors have at most 5")
        dtype = DTYPES.index(TORCH_DTYPES[str(torch_tensor.dtype).removeprefix("torch.")])
        return Tensor(torch_tensor.data_ptr(), dtype, torch_tensor.dim(), (c_int64 * 5)(*torch_tensor.shape),
                      (c_int64 * 5)(*torch_tensor.stride()))


class Sized(ctypes.Structure):
    """A struct that may grow: `size` is set when it is made."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self), **values)


class DeviceInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char * 64), ("arch", c_char * 16), ("compute_capability", c_int32),
                ("sm_count", c_int32), ("smem_per_block", c_int64), ("smem_per_sm", c_int64), ("registers_per_sm", c_int64),
                ("threads_per_block", c_int32), ("threads_per_sm", c_int32), ("cluster_max", c_int32), ("multicast", c_int32),
                ("l2_bytes", c_int64), ("memory_bytes", c_int64), ("clock_mhz", c_double), ("memory_gb_per_s", c_double),
                ("bf16_tflops", c_double), ("f32_tflops", c_double)]


LOG = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)


class Options(Sized):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("arch", c_char_p), ("cache_dir", c_char_p), ("nvrtc", c_char_p),
                ("template_dirs", c_void_p), ("template_dir_count", c_size_t), ("limits", c_void_p), ("log", LOG),
                ("log_user", c_void_p), ("log_level", c_int32), ("no_cache", c_int32), ("disable_tma", c_int32),
                ("line_info", c_int32), ("cache_bytes", c_uint64), ("cache_entries", c_uint64), ("cache_read_only", c_void_p),
                ("cache_read_only_count", c_size_t), ("cache_pack_keys", c_void_p), ("cache_pack_key_count", c_size_t),
                ("cache_node_dir", c_char_p), ("cache_wait_s", c_double), ("compiler_place", c_int32), ("seal", c_int32),
                ("compiler_worker", c_char_p), ("compiler_workers", c_int32), ("compiles_at_once", c_int32),
                ("compile_time_limit_s", c_double), ("worker_memory_limit", c_uint64), ("record_misses", c_char_p),
                ("on_sealed_miss", c_void_p), ("on_sealed_miss_user", c_void_p), ("cache_shared", c_int32)]


class Geometry(Sized):
    _fields_ = [("size", c_size_t), ("grid", c_uint32 * 3), ("block", c_uint32 * 3), ("cluster", c_uint32 * 3),
                ("smem_bytes", c_uint32), ("programmatic", c_int32)]


class Stats(Sized):
    _fields_ = [("size", c_size_t)] + [(name, c_uint64) for name in (
        "plans", "compiles", "compile_failures", "memory_hits", "disk_hits", "disk_misses", "disk_faults", "disk_writes",
        "disk_write_failures", "loads")] + [("compile_ms", c_double)] + [(name, c_uint64) for name in (
            "unreadable", "untrusted", "other_format", "corrupt", "wrong_key", "healed",
            "node_hits", "read_only_hits", "waits", "wait_timeouts", "lockless", "evicted", "workers_started", "workers_lost",
            "crashes_avoided", "sealed_misses", "misses_recorded", "remote_hits", "remote_misses", "remote_errors", "remote_refused",
            "remote_skipped", "remote_uploads", "remote_upload_failures", "remote_off")]


class Error(Exception):
    def __init__(self, code, message, detail, text):
        super().__init__(text)
        self.code, self.message, self.detail = code, message, detail


class Library:
    """The shared library, with a prototype for every function of the header."""

    def __init__(self, path, header):
        self.loaded = ctypes.CDLL(path)
        with open(header, encoding="utf-8") as file:
            self.functions = {}
            for name, result, arguments in prototypes(file.read()):
                function = getattr(self.loaded, name)
                function.restype, function.argtypes = result, arguments
                self.functions[name] = function

    def ask(self, name, *arguments):
        """A function that cannot fail."""
        return self.functions["tma_jit_" + name](*arguments)

    def call(self, name, *arguments):
        """A function whose last parameter is the error, which becomes an exception."""
        error = c_void_p()
        given = [argument.encode() if isinstance(argument, str) else argument for argument in arguments]
        code = self.functions["tma_jit_" + name](*given, ctypes.byref(error))
        if code == 0:
            return
        message, detail, text = (self.ask("error_" + part, error).decode() for part in ("message", "detail", "text"))
        self.ask("error_free", error)
        raise Error(self.ask("status_name", code).decode(), message, detail, text)

    def make(self, name, *arguments):
        """The handle that a function makes."""
        out = c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    def string(self, name, *arguments):
        out = self.make(name, *arguments)
        try:
            return ctypes.string_at(out).decode()
        finally:
            self.ask("string_free", out)


class Handle:
    """Freed with the object; `kind` names the C type."""
    kind = ""

    def __init__(self, library, pointer):
        self.library, self.pointer = library, pointer

    def __del__(self):
        self.library.ask(self.kind + "_free", self.pointer)


class Request(Handle):
    kind = "request"

    def __init__(self, library, kernel, tensors=None, **parts):
        super().__init__(library, library.make("request_create", kernel))
        for name, tensor in (tensors or {}).items():
            self.set("tensor", name, ctypes.byref(tensor if isinstance(tensor, Tensor) else Tensor.of(tensor)))
        for name, dtype in parts.pop("types", {}).items():
            self.set("type", name, DTYPES.index(dtype))
        for name, value in parts.pop("scalars", {}).items():
            self.set("scalar_real" if isinstance(value, float) else "scalar_integer", name, value)
        for declaration in parts.pop("operands", ()):
            self.set("operand", declaration)
        for part, one in (("dims", "dim"), ("params", "param"), ("hooks", "hook"), ("workspaces", "workspace")):
            for name, value in parts.pop(part, {}).items():
                self.set(one, name, value)
        for part, value in parts.items():  # file, reference
            self.set(part, value)

    def set(self, part, *values):
        self.library.call("request_" + part, self.pointer, *values)


class Plan(Handle):
    kind = "plan"

    def json(self):
        return json.loads(self.library.string("plan_json", self.pointer))

    def geometry(self):
        geometry = Geometry()
        self.library.call("plan_geometry", self.pointer, ctypes.byref(geometry))
        return geometry


class Artifact(Handle):
    kind = "artifact"

    def bytes(self):
        size = c_size_t()
        data = self.library.ask("artifact_data", self.pointer, ctypes.byref(size))
        return ctypes.string_at(data, size.value)


class Launch(Handle):
    kind = "launch"

    def run(self, stream=None):
        self.library.call("launch_run", self.pointer, stream)

    def rebind(self, name, torch_tensor):
        self.library.call("launch_rebind", self.pointer, name, torch_tensor.data_ptr())


class Function(Handle):
    kind = "function"

    def __call__(self, *tensors, stream=None):
        views = (Tensor * len(tensors))(*map(Tensor.of, tensors))
        self.library.call("function_call", self.pointer, views, len(tensors), stream)


class Engine(Handle):
    kind = "engine"

    def __init__(self, library, **options):
        encoded = {name: value.encode() if isinstance(value, str) else value for name, value in options.items()}
        self.options = Options(**encoded)  # keeps a log callback alive
        super().__init__(library, library.make("engine_create", ctypes.byref(self.options)))

    def add_template(self, name, text):
        self.library.call("engine_add_template", self.pointer, name, text)

    def device(self):
        info = DeviceInfo()
        self.library.call("engine_device", self.pointer, ctypes.byref(info))
        return info

    def stats(self):
        stats = Stats()
        self.library.call("engine_stats", self.pointer, ctypes.byref(stats))
        return stats

    def environment(self):
        return json.loads(self.library.string("engine_environment_json", self.pointer))

    def plan(self, kernel, tensors=None, **parts):
        request = Request(self.library, kernel, tensors, **parts)
        return Plan(self.library, self.library.make("plan_create", self.pointer, request.pointer))

    def build(self, plan):
        return Artifact(self.library, self.library.make("build", self.pointer, plan.pointer))

    def prepare(self, kernel, tensors, **parts):
        request = Request(self.library, kernel, tensors, **parts)
        return Launch(self.library, self.library.make("prepare", self.pointer, request.pointer))

    def function(self, kernel, **parts):
        request = Request(self.library, kernel, **parts)
        return Function(self.library, self.library.make("function_create", self.pointer, request.pointer))
