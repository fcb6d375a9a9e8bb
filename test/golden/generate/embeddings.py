"""Writes models/NAME/embeddings.json: the reference's hidden states after the final norm, of the last token and their mean.

Usage: python generate/embeddings.py [NAME ...]   (after models.py, in the same environment)
"""

import json
import sys
from pathlib import Path

import torch
from torch import Tensor

from checkpoint import make_tensors, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from reference import build, load
from weights import of_tower

MODELS = Path(__file__).parent.parent / "models"
LENGTHS = (5, 129)
DIGITS = 5


@torch.no_grad()
def hidden_states(model, ids: list[int]) -> Tensor:
    """(T, hidden): what the head is given."""
    given = []
    hook = model.get_output_embeddings().register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    model(input_ids=torch.tensor([ids]), use_cache=False)
    hook.remove()
    return given[0][0].float()


def rounded(values: Tensor) -> list[float]:
    return [round(v, DIGITS) for v in values.tolist()]


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    prompts = [run["prompt"] for run in json.loads((folder / "golden.json").read_text())["greedy"]]
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    load(model, reference_values(fixture, make_tensors(fixture, shapes)))
    measured = []
    for prompt in prompts:
        if len(prompt) in LENGTHS:
            states = hidden_states(model, prompt)
            measured.append({"prompt": prompt, "last": rounded(states[-1]), "mean": rounded(states.mean(0))})
    (folder / "embeddings.json").write_text(json.dumps(measured, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
