"""What benchmarks share: clocks, memory, the machine, tables, child processes and the report."""

from __future__ import annotations
