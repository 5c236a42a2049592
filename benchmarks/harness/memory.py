"""Peak memory of this process."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PeakMemory:
    """How far the resident memory of this process rises above its level at the start of a block (Linux only)."""

    def __init__(self) -> None:
        self.extra: int | None = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch a block; `extra` then holds the rise in bytes, or None where the kernel does not report it."""
        gc.collect()
        # Memory that was freed but kept by the allocator would hide what the block really needs.
        _trim_heap()
        try:
            Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back to the present level
            before = status_kib("VmHWM")
        except OSError:
            yield
            return
        yield
        self.extra = (status_kib("VmHWM") - before) * 1024


def _trim_heap() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def status_kib(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise OSError(f"expected {field} in /proc/self/status, found none")
