# The Python of docs/embedding.md, without PyTorch.
import ctypes
import sys

path = sys.argv[1] if len(sys.argv) > 1 else "libtma_jit.so"
# begin
tma_jit = ctypes.CDLL(path)
error, engine, request, plan, text = (ctypes.c_void_p() for _ in range(5))


def call(function, *arguments):
    if getattr(tma_jit, function)(*arguments, ctypes.byref(error)) != 0:
        tma_jit.tma_jit_error_text.restype = ctypes.c_char_p
        raise RuntimeError(tma_jit.tma_jit_error_text(error).decode())


class Options(ctypes.Structure):  # the fields up to the last that is set are enough
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_char_p)]


options = Options(ctypes.sizeof(Options), b"h100")
call("tma_jit_engine_create", ctypes.byref(options), ctypes.byref(engine))
call("tma_jit_request_create", b"gemm", ctypes.byref(request))
for dim in (b"M", b"N", b"K"):
    call("tma_jit_request_dim", request, dim, ctypes.c_int64(4096))
call("tma_jit_plan_create", engine, request, ctypes.byref(plan))
call("tma_jit_plan_json", plan, ctypes.byref(text))
print(ctypes.string_at(text).decode())
# end
