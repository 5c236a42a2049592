"""Encoding: tables of any type become small integer codes."""

from __future__ import annotations
