"""Writes classifiers/NAME: tiny checkpoints with a head that classifies (score.weight), and labels.json, the logits that
transformers' class of the checkpoint gives to prompts in fp32.

Usage: python generate/classifiers.py [NAME ...]   (in the environment of models.py)
"""

import json
import sys
from pathlib import Path

import torch

from checkpoint import make_tensors, reference_values, write_checkpoint
from fixture import Fixture
from fixture_configs import gemma2, qwen3, xlm_roberta
from reference import DIGITS, FIRST_ORDINARY, LAST_ORDINARY, build, load

CLASSIFIERS = Path(__file__).parent.parent / "classifiers"
LENGTHS = (1, 5, 64, 129)
SMALL = {"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 80}


def named(*names: str) -> dict:
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


FIXTURES = (
    Fixture(
        "qwen3-reranker",
        "one label, as Qwen3-Reranker is converted; no head of its own although the embedding is not tied",
        {
            **qwen3(**SMALL, tie_word_embeddings=False),
            "architectures": ["Qwen3ForSequenceClassification"],
            **named("LABEL_0"),
        },
        seed=71,
    ),
    Fixture(
        "gemma2-classes",
        "three labels by name, two shards",
        {**gemma2(**SMALL), "architectures": ["Gemma2ForSequenceClassification"], **named("safe", "unsafe", "unclear")},
        shards=2,
        seed=72,
    ),
    Fixture(
        "xlm-roberta-reranker",
        "one label of the first token by two matrices with biases, as bge-reranker-v2-m3",
        {**xlm_roberta(num_hidden_layers=2), "architectures": ["XLMRobertaForSequenceClassification"], **named("LABEL_0")},
        seed=73,
    ),
)


@torch.no_grad()
def generate(fixture: Fixture) -> None:
    folder = CLASSIFIERS / fixture.name
    model = build(fixture.config)
    tensors = make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})
    load(model, reference_values(fixture, tensors))
    write_checkpoint(fixture, tensors, folder)
    draw = torch.Generator().manual_seed(fixture.seed)
    judged = []
    for length in LENGTHS:
        prompt = torch.randint(FIRST_ORDINARY, LAST_ORDINARY, (length,), generator=draw).tolist()
        logits = model(input_ids=torch.tensor([prompt])).logits[0]
        judged.append({"prompt": prompt, "logits": [round(v, DIGITS) for v in logits.tolist()]})
    (folder / "labels.json").write_text(json.dumps(judged, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
