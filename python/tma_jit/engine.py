"""The engine, with what is not on the way of a launch."""
from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable, Iterable
from typing import Any

from . import _native


class Engine(_native.Engine):
    """Turns requests into launches on one device. Thread-safe; see docs/python.md for its keywords."""

    def warm(self, lines: Iterable[str | _native.Request], *, threads: int = 0,
             progress: Callable[[int, int], object] | None = None) -> int:
        """Builds kernels into the cache: requests, or lines of a list for `tma-jit warm`. Needs no GPU for a device by name.

        Returns how many kernels were compiled; those that the cache had are not. The first error is raised when all others
        are built. What `progress` raises, and Control-C, are raised when those that have begun are built.
        """
        requests = self._requests_of(lines)
        compiled, failure = 0, None
        with concurrent.futures.ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            try:
                building = [pool.submit(self.build, request) for request in requests]
                for done, future in enumerate(concurrent.futures.as_completed(building), 1):
                    error = future.exception()
                    if error is None:
                        compiled += future.result().compiled
                    failure = failure or error
                    if progress is not None:
                        progress(done, len(building))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if failure is not None:
            raise failure
        return compiled

    def prove(self, lines: Iterable[str | _native.Request]) -> dict[str, Any]:
        """Looks up the kernels of requests, or of the lines of a list for `tma-jit warm`, in the cache, and verifies each.

        Compiles, loads and launches nothing. Returns {"there", "missing": [{"request", "error"}], "ms"}; "request" is the
        index among all requests.
        """
        return self.prove_requests(self._requests_of(lines))

    def _requests_of(self, lines: Iterable[str | _native.Request]) -> list[_native.Request]:
        requests: list[_native.Request] = []
        for line in lines:
            if isinstance(line, _native.Request):
                requests.append(line)
            elif line.strip() and not line.lstrip().startswith("#"):
                requests += self.warm_requests(line)
        return requests
