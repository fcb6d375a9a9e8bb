"""Writes test/golden/models/NAME for every GGUF fixture: model.gguf with random weights, and golden.json.

Usage: python generate/gguf_models.py [NAME ...]   (in the environment of make-venv.sh; same seeds, same files)
"""

import sys

import torch

from checkpoint import make_tensors
from experts import stacked
from gguf_files import write
from gguf_fixtures import FIXTURES
from models import MODELS, record
from reference import build, load


def generate(name: str) -> None:
    fixture, _, _ = FIXTURES[name]
    model = build(fixture.config)
    tensors = make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})
    folder = MODELS / name
    load(model, stacked(write(name, tensors, folder)))
    record(fixture, model, folder)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in FIXTURES:
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(name)
