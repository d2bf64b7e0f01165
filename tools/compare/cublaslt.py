"""cuBLASLt's own choices for a product, called through its C interface, because PyTorch offers only the first of them.

Names and numbers are those of cublasLt.h of CUDA 13.0. A product is D[M, N] = A[M, K] * B[N, K]^T of bf16 or e4m3 with D of bf16; the
library sees it by columns, as D^T = B * A^T.
"""
import ctypes

TYPES = {"torch.bfloat16": 14, "torch.float8_e4m3fn": 28}  # cudaDataType_t
F32, COMPUTE_F32 = 0, 68                                     # CUDA_R_32F, CUBLAS_COMPUTE_32F
TRANS_A, A_SCALE, B_SCALE, FAST_ACCUM = 3, 17, 18, 25        # cublasLtMatmulDescAttributes_t
MAX_WORKSPACE = 1                                            # cublasLtMatmulPreferenceAttributes_t
WORKSPACE = 32 << 20


class Result(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""
    _fields_ = [("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float),
                ("reserved", ctypes.c_int * 4)]


def loaded_library():
    """The library that PyTorch has loaded into this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(path for line in maps if "libcublasLt.so" in (path := line.split()[-1]))


class CublasLt:
    """One product on given tensors. Calls run on PyTorch's current stream; the tensors must live as long as this object."""

    def __init__(self, torch, a, b, d, fast):
        self.torch, self.a, self.b, self.d = torch, a, b, d
        self.library = ctypes.CDLL(loaded_library())
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
        self.handle = self.made("cublasLtCreate")
        self.product = self.made("cublasLtMatmulDescCreate", COMPUTE_F32, F32)
        self.set("cublasLtMatmulDescSetAttribute", self.product, TRANS_A, ctypes.c_int(1))
        if a.dtype == torch.float8_e4m3fn:
            self.one = torch.ones((), device="cuda")
            for scale in (A_SCALE, B_SCALE):
                self.set("cublasLtMatmulDescSetAttribute", self.product, scale, ctypes.c_void_p(self.one.data_ptr()))
            self.set("cublasLtMatmulDescSetAttribute", self.product, FAST_ACCUM, ctypes.c_int8(fast))
        m, n, k = a.shape[0], b.shape[0], a.shape[1]
        self.layouts = [self.layout(a, k, m), self.layout(b, k, n), self.layout(d, n, m)]

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned the status {status}")

    def made(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def set(self, name, object_, attribute, value):
        self.call(name, object_, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))

    def layout(self, tensor, rows, columns):
        return self.made("cublasLtMatrixLayoutCreate", TYPES[str(tensor.dtype)], ctypes.c_uint64(rows), ctypes.c_uint64(columns),
                         ctypes.c_int64(rows))

    def heuristics(self, count):
        """Calls of the library's first `count` choices, or of as many as it has, the one it prefers first."""
        preference = self.made("cublasLtMatmulPreferenceCreate")
        self.set("cublasLtMatmulPreferenceSetAttribute", preference, MAX_WORKSPACE, ctypes.c_uint64(WORKSPACE))
        results, found = (Result * count)(), ctypes.c_int()
        a, b, d = self.layouts
        self.call("cublasLtMatmulAlgoGetHeuristic", self.handle, self.product, b, a, d, d, preference, count, results, ctypes.byref(found))
        return [lambda result=result: self.multiply(result) for result in results[:found.value] if result.state == 0]

    def multiply(self, result):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        a, b, d = self.layouts

        def address(tensor):
            return ctypes.c_void_p(tensor.data_ptr())
        self.call("cublasLtMatmul", self.handle, self.product, ctypes.byref(one), address(self.b), b, address(self.a), a,
                  ctypes.byref(zero), address(self.d), d, address(self.d), d, ctypes.byref(result.algo), address(self.workspace),
                  ctypes.c_size_t(WORKSPACE), ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream))
