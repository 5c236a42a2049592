"""Record what the wrapper searches do on random problems: ``python tests/data/make_search_traces.py``.

The recording was made before the search was restructured; a search that finds anything else has changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "helpers"))

from search_problems import N_PROBLEMS, record

if __name__ == "__main__":
    lines = [json.dumps(record(number)) for number in range(N_PROBLEMS)]
    place = Path(__file__).with_name("search_traces.json")
    place.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
