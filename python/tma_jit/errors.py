"""The library's errors as exceptions: a class for each code, and one for each reason, under which one may catch them."""
from __future__ import annotations

import functools
from typing import Any


class Error(Exception):
    """What the library reports. `str()` is its whole text; a program reads `code` and `reason`."""

    code = ""
    reason = "unspecified"
    message = ""
    detail = ""
    suggestion = ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """An error that the library reported is made again by its fields, because its class may be one of class_of's."""
        if not self.code:
            return super().__reduce__()
        return exception_of, (self.code, self.reason, self.message, self.detail, self.suggestion, str(self)), self.__dict__


class InvalidArgument(Error, ValueError):
    """A request, tensor, option or file that the caller gave is wrong."""


class NotFound(Error, LookupError):
    """There is no such kernel, file, parameter or device."""


class ParseError(Error):
    """A manifest or an expression does not parse."""


class NoConfig(Error):
    """No configuration of the kernel satisfies the request."""


class Unsupported(Error):
    """The device, the driver or the compiler lacks a feature."""


class CompileError(Error):
    """NVRTC rejected the source."""


class NvrtcError(Error):
    """NVRTC is missing or failed."""


class DriverError(Error):
    """The driver is missing or returned an error."""


class FileError(Error):
    """A file could not be read or written."""


class CompilerCrash(Error):
    """The compiler crashed, hung or was killed, twice; only its process is lost."""


class SealedError(Error):
    """A compile is needed, and the engine is sealed."""


class Cancelled(Error):
    """Cancelled before it had begun."""


class UnknownName(Error):
    """Nothing has this name; `suggestion` is what was probably meant."""


class LibraryMissing(Error):
    """No shared library of the driver or of NVRTC could be opened; `detail` lists the attempts."""


class EmulatorMissing(Error):
    """The emulator's library could not be opened."""


class NoDevice(Error):
    """This process sees no GPU, or none with this ordinal."""


class OutOfMemory(Error, MemoryError):
    """The device has no memory left."""


class Forked(Error):
    """This process was forked from one that had opened its device."""


CODES: dict[str, type[Error]] = {
    "invalid_argument": InvalidArgument, "not_found": NotFound, "parse": ParseError, "no_config": NoConfig,
    "unsupported": Unsupported, "compile": CompileError, "nvrtc": NvrtcError, "driver": DriverError, "io": FileError,
    "crash": CompilerCrash, "sealed": SealedError, "cancelled": Cancelled}
REASONS: dict[str, type[Error]] = {
    "unknown_name": UnknownName, "library_missing": LibraryMissing, "emulator_missing": EmulatorMissing,
    "no_device": NoDevice, "out_of_memory": OutOfMemory, "forked": Forked}


@functools.cache
def class_of(code: str, reason: str) -> type[Error]:
    """The class of a code; with a reason that has a class, a subclass of both."""
    by_code = CODES.get(code, Error)
    by_reason = REASONS.get(reason)
    if by_reason is None:
        return by_code
    return type(by_reason.__name__, (by_reason, by_code), {"__doc__": by_reason.__doc__, "__module__": __name__})


def exception_of(code: str, reason: str, message: str, detail: str, suggestion: str, text: str) -> Error:
    error = class_of(code, reason)(text)
    error.code, error.reason, error.message, error.detail, error.suggestion = code, reason, message, detail, suggestion
    return error
