"""pyarrow datasets read batch by batch, in memory that does not grow with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

#: How many rows of a file come at a time.
BATCH_ROWS = 1 << 17
#: How many row groups of Parquet files are decoded while one is at work, and how many batches of other files.
_GROUPS_AHEAD = 2
_BATCHES_AHEAD = 4


def read_dataset(dataset: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Read a dataset in the order of its rows.

    Left to itself, pyarrow reads ahead of whoever is slower by up to a gigabyte, and keeps all that it has read of a Parquet
    file until its end. Here row groups are scanned one by one, each started while those before are at work.

    Parameters
    ----------
    dataset : pyarrow Dataset
    columns : sequence of str or None
        Which columns to read; None means all.
    """
    columns = _present(columns, dataset.schema)
    fragments = _parquet_fragments(dataset)
    if fragments is None:
        return dataset.to_batches(  # type: ignore[no-any-return]
            columns=columns, batch_size=BATCH_ROWS, batch_readahead=_BATCHES_AHEAD, fragment_readahead=1
        )
    return _read_groups(dataset, fragments, columns)


def read_file(file: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Read a ParquetFile, or some of its columns."""
    return file.iter_batches(batch_size=BATCH_ROWS, columns=_present(columns, file.schema_arrow))  # type: ignore[no-any-return]


def _present(columns: Sequence[str] | None, schema: Any) -> Sequence[str] | None:
    """Return the columns that are there: whoever needs the others sees that they are not, and can say so better."""
    return None if columns is None else [name for name in columns if name in schema.names] or None


def _parquet_fragments(dataset: Any) -> Iterable[Any] | None:
    """Return the files of a dataset; None if they are not Parquet, or if only some of their rows belong to it."""
    from pyarrow.dataset import ParquetFileFormat

    if not isinstance(getattr(dataset, "format", None), ParquetFileFormat):
        return None
    try:
        return dataset.get_fragments()  # type: ignore[no-any-return]
    except ValueError:  # of a dataset that filters
        return None


def _read_groups(dataset: Any, fragments: Iterable[Any], columns: Sequence[str] | None) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    for fragment in fragments:
        for group in fragment.split_by_row_group():
            waiting.append(_scan(dataset, group, columns))
            if len(waiting) > _GROUPS_AHEAD:
                yield from waiting.popleft()
    while waiting:
        yield from waiting.popleft()


def _scan(dataset: Any, group: Any, columns: Sequence[str] | None) -> Any:
    """Begin to read a row group in the threads of pyarrow."""
    from pyarrow.dataset import Scanner

    options = _without_cache(dataset.format.default_fragment_scan_options)
    scanner = Scanner.from_fragment(
        group, schema=dataset.schema, columns=columns, batch_size=BATCH_ROWS, fragment_scan_options=options
    )
    return scanner.to_reader()


def _without_cache(options: Any) -> Any:
    """Return the options for reading Parquet without a cache of the file; None, for the user's own, where it has a key."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    if any(getattr(options, name, None) is not None for name in ("parquet_decryption_config", "decryption_properties")):
        return None
    kept = ("use_buffered_stream", "buffer_size", "thrift_string_size_limit", "thrift_container_size_limit")
    return ParquetFragmentScanOptions(pre_buffer=False, **{name: getattr(options, name) for name in kept})
