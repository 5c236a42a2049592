"""What the tests of encoding share: learning with a simple discretizer, and codes in a readable form."""

from __future__ import annotations

import numpy as np

from tanager._encoding.encoder import EncodingSettings, learn_encoding, read_table


class Halves:
    """A discretizer that cuts at the median."""

    def _find_cuts(self, x, y_codes, n_classes, weights):
        assert x.dtype == np.float64
        assert x.flags.c_contiguous
        return np.array([np.nanmedian(x)])


def learn(X, *, numeric_features="float", discretizer=Halves(), categories=None, threads=1):  # noqa: B008
    settings = EncodingSettings(numeric_features, discretizer, categories)
    return learn_encoding(read_table(X), settings, y_codes=None, n_classes=1, weights=None, threads=threads)


def learned(X, **options):
    """Learn, check that encoding again gives the same codes, and return the columns' labels and codes."""
    encoder, codes = learn(X, **options)
    again = encoder.encode(read_table(X))
    for first, second, column in zip(codes, again, encoder.columns, strict=True):
        assert first.dtype == second.dtype == (np.uint8 if column.cardinality <= 254 else np.uint16)
        assert first.flags.c_contiguous
        assert first.ndim == 1
        np.testing.assert_array_equal(first, second)
    return [column.labels() for column in encoder.columns], [as_list(c) for c in codes]


def as_list(codes):
    missing = np.iinfo(codes.dtype).max
    return [None if code == missing else int(code) for code in codes]
