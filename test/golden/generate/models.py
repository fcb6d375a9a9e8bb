"""Writes test/golden/models/NAME for every fixture: a random-weight checkpoint and golden.json.

Usage: python generate/models.py [NAME ...]   (in the environment of make-venv.sh; same seeds, same files)
"""

import json
import sys
from pathlib import Path

import torch
import transformers

from checkpoint import make_tensors, reference_values, write_checkpoint
from fixture import Fixture
from fixtures import FIXTURES
from reference import FORCED_LENGTH, PROMPT_LENGTHS, build, greedy, load, random_ids, teacher_forced
from weights import of_tower

MODELS = Path(__file__).parent.parent / "models"


def generate(fixture: Fixture) -> None:
    model = build(fixture.config)
    text_only = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    tensors = make_tensors(fixture, text_only)
    load(model, reference_values(fixture, tensors))
    folder = MODELS / fixture.name
    write_checkpoint(fixture, tensors, folder)
    record(fixture, model, folder)


def record(fixture: Fixture, model, folder: Path) -> None:
    """golden.json of the model that `folder` holds."""
    draw = torch.Generator().manual_seed(fixture.seed + 1000)
    golden = {
        "covers": fixture.covers,
        "reference": {"transformers": transformers.__version__, "torch": torch.__version__, "dtype": "float32"},
        "greedy": [greedy(model, random_ids(length, draw)) for length in PROMPT_LENGTHS],
        "teacherForced": teacher_forced(model, random_ids(FORCED_LENGTH, draw)),
    }
    (folder / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    size = sum(p.stat().st_size for p in folder.iterdir()) / 1e3
    margins = [m for run in golden["greedy"] for m in run["margins"]]
    distinct = len({t for run in golden["greedy"] for t in run["tokens"]})
    print(f"{fixture.name}: {size:.0f} kB, smallest greedy margin {min(margins):.4f}, {distinct} distinct tokens")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
