"""Reading pyarrow datasets batch by batch, in constant memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

#: Rows per batch.
BATCH_ROWS = 1 << 17
#: How many row groups of Parquet files, and batches of other files, are decoded ahead.
_GROUPS_AHEAD = 2
_BATCHES_AHEAD = 4


def read_dataset(dataset: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Read a dataset in the order of its rows.

    By default pyarrow reads ahead by up to a gigabyte, and keeps a Parquet file in memory until its end. Here row groups are
    scanned one by one, each started while earlier ones are processed.

    Parameters
    ----------
    dataset : pyarrow Dataset
    columns : sequence of str or None
        The columns to read; None means all.
    """
    columns = _present(columns, dataset.schema)
    fragments = _parquet_fragments(dataset)
    if fragments is None:
        return dataset.to_batches(  # type: ignore[no-any-return]
            columns=columns, batch_size=BATCH_ROWS, batch_readahead=_BATCHES_AHEAD, fragment_readahead=1
        )
    return _read_groups(dataset, fragments, columns)


def read_file(file: Any, columns: Sequence[str] | None) -> Iterable[Any]:
    """Read a ParquetFile, or some of its columns, in batches."""
    return file.iter_batches(batch_size=BATCH_ROWS, columns=_present(columns, file.schema_arrow))  # type: ignore[no-any-return]


def _present(columns: Sequence[str] | None, schema: Any) -> Sequence[str] | None:
    """Return the columns that exist; the caller reports those that do not."""
    return None if columns is None else [name for name in columns if name in schema.names] or None


def _parquet_fragments(dataset: Any) -> Iterable[Any] | None:
    """Return the files of a dataset; None if they are not Parquet, or if the dataset filters rows."""
    from pyarrow.dataset import ParquetFileFormat

    if not isinstance(getattr(dataset, "format", None), ParquetFileFormat):
        return None
    try:
        return dataset.get_fragments()  # type: ignore[no-any-return]
    except ValueError:  # the dataset filters rows
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
    """Start reading a row group in the threads of pyarrow."""
    from pyarrow.dataset import Scanner

    options = _without_cache(dataset.format.default_fragment_scan_options)
    scanner = Scanner.from_fragment(
        group, schema=dataset.schema, columns=columns, batch_size=BATCH_ROWS, fragment_scan_options=options
    )
    return scanner.to_reader()


def _without_cache(options: Any) -> Any:
    """Return options that read Parquet without caching the file; None, the default options, for encrypted files."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    if any(getattr(options, name, None) is not None for name in ("parquet_decryption_config", "decryption_properties")):
        return None
    kept = ("use_buffered_stream", "buffer_size", "thrift_string_size_limit", "thrift_container_size_limit")
    return ParquetFragmentScanOptions(pre_buffer=False, **{name: getattr(options, name) for name in kept})
