"""Networks in the formats of other tools: BIF and XMLBIF in and out, ONNX out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..network import Network

_ENDINGS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif", ".onnx": "onnx"}


def network_format(name: str) -> str | None:
    """Return the format of a network that the ending of a file name tells, or None."""
    return _ENDINGS.get(Path(name).suffix.lower())


def convert_network(options: argparse.Namespace) -> None:
    """Convert a network: from a model file or a format of other tools to either."""
    from .._model_file import to_model
    from .errors import InputError
    from .tables.formats import ending_format
    from .tables.writers import whole_file

    form = network_format(options.output)
    if form is None and ending_format(options.output) != "model":
        raise InputError(
            f"{options.data} holds a network, which cannot be converted to {options.output}; it can be to .tng, .bif, .xml "
            "and .onnx"
        )
    network = _read(options.data, options.class_name)
    if form is None:
        data = to_model(network.to_classifier(), with_counts=False).to_bytes()
    elif form == "onnx":
        data = _onnx(network)
    else:
        data = ((network.to_bif() if form == "bif" else network.to_xmlbif()) or "").encode()
    with whole_file(options.output) as file:
        file.write(data)


def _read(name: str, class_name: str | None) -> Network:
    from .._model_file import from_model
    from ..interop import read_bif, read_xmlbif
    from ..network import Network
    from .errors import InputError
    from .models import read_model

    form = network_format(name)
    if form == "onnx":
        raise InputError(f"{name} is an ONNX model, which can be written only")
    if form is not None:
        try:
            return (read_bif if form == "bif" else read_xmlbif)(Path(name), class_name)
        except ValueError as error:
            raise InputError(str(error).replace("class_name must say", "--class must say")) from None
    network = getattr(from_model(read_model(name)), "network_", None)
    if not isinstance(network, Network):
        raise InputError(f"{name} holds an average of many networks, which only a model file can hold")
    if class_name not in (None, network.class_name):
        raise InputError(f"the class of {name} is {network.class_name!r}, but --class is {class_name!r}")
    return network


def _onnx(network: Network) -> bytes:
    from ..interop import to_onnx
    from .errors import InputError

    try:
        made = to_onnx(network)
    except ImportError:
        raise InputError("onnx is needed to write .onnx files: pip install 'tanager[onnx]'") from None
    data: bytes = made.SerializeToString()
    return data
