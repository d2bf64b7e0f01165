#!/usr/bin/env python3
"""JAX's arrays on an emulated device: inputs by DLPack, results as JAX's arrays, a kernel within jax.jit, and what is refused. Needs
JAX and NVRTC."""
import os

import tma_jit
from checks import check, failure_of, needs_nvrtc, run_all, skip

os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import numpy as np
except ImportError:
    skip("no JAX")

jnp = jax.numpy
ENGINE = tma_jit.Engine("emulator:sm_90a")
DOUBLE = {"apply": "a * 2"}


def test_inputs():
    a = jnp.arange(1000, dtype=jnp.float32)
    y = np.zeros(1000, np.float32)
    ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE).launch()
    check((y == 2 * np.asarray(a)).all(), "an array of JAX")
    check((jax.dlpack.from_dlpack(y) == a * 2).all(), "the result as an array of JAX")


def test_types():
    a, b = (jax.random.randint(jax.random.key(i), (72, 64), -4, 5).astype(jnp.bfloat16) for i in (1, 2))
    d = np.zeros((72, 72), np.float32)
    ENGINE.prepare("gemm", A=a, B=b, D=d).launch()
    check((d == np.asarray(a, np.float32) @ np.asarray(b, np.float32).T).all(), "bf16 of JAX")


def test_function():
    double, a, y = ENGINE.function("map", hooks=DOUBLE), jnp.ones(100), np.zeros(100, np.float32)
    double(a, y)
    check((y == 2).all(), "a function by shape")


def test_within_jit():
    """JAX hands arrays to a callback, and takes NumPy's back."""
    def softmax(x):
        y = np.empty_like(x)
        ENGINE.prepare("softmax", S=np.asarray(x), D=y).launch()
        return y

    @jax.jit
    def model(x):
        return jax.pure_callback(softmax, jax.ShapeDtypeStruct(x.shape, x.dtype), x * 3) + 1

    x = jax.random.normal(jax.random.key(0), (16, 100))
    check(np.allclose(model(x), jax.nn.softmax(x * 3) + 1, atol=1e-6), "a callback within jit")


def test_outputs_are_refused():
    a, y = jnp.arange(10.0), jnp.zeros(10)
    error = failure_of(lambda: ENGINE.prepare("map", A=a, Y=y, hooks=DOUBLE))
    check("read-only" in str(error), str(error))


if __name__ == "__main__":
    with needs_nvrtc():
        run_all(globals())
