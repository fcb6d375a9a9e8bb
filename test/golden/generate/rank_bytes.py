"""Writes test/golden/rank-bytes.json: what each tensor-parallel rank of the CPU engine holds of checkpoints of real shapes.

Usage: python generate/rank_bytes.py   (needs nothing beside Python; reads nothing, writes headers' contents and numbers)

Two descriptions of each checkpoint that share only its config.json: `stored` (release_tensors.py) lists the tensors as the
release has them, and `Rank` (rank.py) walks the layers as the engine reads them. The planner knows the first alone.
"""

import hashlib
import json
import re
from math import prod
from pathlib import Path

from rank import Rank, Refused
from release import Release
from release_tensors import stored
from releases import RELEASES

OUT = Path(__file__).parent.parent / "rank-bytes.json"
MOST_RANKS = 64


def ranges(numbers) -> str:
    """ "0-2,4-6" """
    runs = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(f"{a}-{b}" for a, b in runs)


def folded(tensors) -> list:
    """[name with {layer} and {expert}, dtype, shape, layers, experts] for all tensors that differ by these two alone."""
    groups = {}
    for name, dtype, shape in tensors:
        layer = re.search(r"layers\.(\d+)\.", name) if not name.startswith("mtp.") else None
        expert = re.search(r"experts\.(\d+)\.", name)
        pattern = name
        if layer:
            pattern = pattern.replace(layer[0], "layers.{layer}.", 1)
        if expert:
            pattern = pattern.replace(expert[0], "experts.{expert}.", 1)
        _, _, _, layers, experts = groups.setdefault(
            (pattern, dtype, tuple(shape)), (pattern, dtype, shape, set(), set())
        )
        layers.update([int(layer[1])] if layer else [])
        experts.update([int(expert[1])] if expert else [])
    return [[p, dtype, shape, ranges(ls), ranges(es)] for p, dtype, shape, ls, es in groups.values()]


def digest(tensors) -> str:
    lines = sorted(f"{name} {dtype} {','.join(map(str, shape))}" for name, dtype, shape in tensors)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def parameters(tensors) -> int:
    scale = re.compile(r"scale(_inv|_2)?$")
    return sum(prod(shape) for name, _, shape in tensors if not scale.search(name) and ".visual." not in name)


def by_ranks(release: Release) -> dict:
    found = {}
    for size in range(1, MOST_RANKS + 1):
        try:
            found[size] = [Rank(release, rank, size).bytes for rank in range(size)]
        except Refused:
            continue
    # Most ranks hold the same; where not, every rank is listed.
    return {size: rows if len(set(rows)) > 1 else rows[0] for size, rows in found.items()}


def entry(release: Release) -> dict:
    tensors = list(stored(release))
    if release.parameters is not None and parameters(tensors) != release.parameters:
        raise SystemExit(f"{release.name}: {parameters(tensors)} parameters, published {release.parameters}")
    return {
        "name": release.name,
        "weights": release.weights,
        "options": {"dtype": release.dtype, "quantization": release.at_load, "drafts": release.drafts},
        "config": release.config,
        "tensors": folded(tensors),
        "digest": digest(tensors),
        "bytesByRanks": by_ranks(release),
    }


if __name__ == "__main__":
    lines = [json.dumps(entry(release), separators=(",", ":")) for release in RELEASES]
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} checkpoints, {OUT.stat().st_size} bytes")
