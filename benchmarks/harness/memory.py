"""Peak memory of this process."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PeakMemory:
    """Increase of the resident memory of this process during a block (Linux only)."""

    def __init__(self) -> None:
        self.extra: int | None = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch a block; `extra` then holds the increase in bytes, or None where the kernel does not report it."""
        gc.collect()
        # Freed memory that the allocator keeps would hide what the block needs.
        _trim_heap()
        try:
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the current level
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
