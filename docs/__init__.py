"""The guides, and the program that writes their reference."""

from __future__ import annotations
