"""Writes encoders/NAME: tiny encoders, and embeddings.json, the hidden states after the final norm that transformers' class of
the checkpoint gives to prompts in fp32: of the first token (cls), of the last, and their mean.

Usage: python generate/encoders.py [NAME ...]   (in the environment of models.py)
"""

import json
import sys
from pathlib import Path

import torch
from torch import Tensor

from checkpoint import make_tensors, reference_values, write_checkpoint
from fixture import Fixture
from fixture_configs import gemma3_text, llama, xlm_roberta
from reference import build, load, random_ids

ENCODERS = Path(__file__).parent.parent / "encoders"
LENGTHS = (1, 5, 64, 129, 300)  # the last has two splits of attention
DIGITS = 5


def eurobert(**changes) -> dict:
    own = {"architectures": ["EuroBertForMaskedLM"], "model_type": "eurobert", "pad_token_id": 1, "mask_token_id": 2, "rope_theta": 250000.0}
    return {**llama(num_hidden_layers=2), **own, **changes}


def modernbert(**changes) -> dict:
    """Windows of 17 positions to each side in two layers of three."""
    sizes = {"vocab_size": 320, "hidden_size": 96, "intermediate_size": 80, "num_hidden_layers": 4, "num_attention_heads": 6}
    windows = {"local_attention": 34, "global_attn_every_n_layers": 3}
    ropes = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 1, "cls_token_id": 0, "sep_token_id": 1}
    own = {"architectures": ["ModernBertForMaskedLM"], "model_type": "modernbert", "max_position_embeddings": 1024, "norm_eps": 1e-5}
    return {**own, **sizes, **windows, **ropes, **ids, "tie_word_embeddings": True, **changes}


FIXTURES = (
    Fixture(
        "eurobert-bf16",
        "GQA 3:1, with the head for masked language modeling, two shards",
        eurobert(num_hidden_layers=3),
        shards=2,
        seed=101,
    ),
    Fixture(
        "eurobert-biases",
        "as sentence-transformers saves it: without a head, names without model.; biases, as many KV heads as heads, old rope scaling",
        eurobert(
            architectures=["EuroBertModel"],
            num_attention_heads=4,
            num_key_value_heads=4,
            head_dim=24,
            attention_bias=True,
            mlp_bias=True,
            rope_scaling={"rope_type": "linear", "factor": 2.0},
        ),
        seed=102,
    ),
    Fixture(
        "modernbert-bf16",
        "with the head for masked language modeling; a local layer on either side of the global one",
        modernbert(),
        seed=103,
    ),
    Fixture(
        "modernbert-bare",
        "as sentence-transformers saves it: without a head, names without model.; biases, names of newer configs, two shards",
        modernbert(
            architectures=["ModernBertModel"],
            num_hidden_layers=2,
            num_attention_heads=4,
            attention_bias=True,
            mlp_bias=True,
            layer_types=["sliding_attention", "full_attention"],
        ),
        shards=2,
        seed=104,
    ),
    Fixture(
        "gemma3_text-bidirectional",
        "as EmbeddingGemma: names without model., use_bidirectional_attention, windows of 16 positions to each side by half of "
        "sliding_window, which rotate by a base of their own",
        gemma3_text(
            architectures=["Gemma3TextModel"],
            use_bidirectional_attention=True,
            sliding_window=32,
            query_pre_attn_scalar=32,
            rope_scaling=None,
        ),
        seed=105,
    ),
    Fixture(
        "xlm-roberta-bf16",
        "as bge-m3: learned positions behind that of padding, norms with biases behind each sum, no gates; names without roberta., a "
        "pooler that nobody reads, two shards",
        xlm_roberta(),
        shards=2,
        seed=106,
    ),
)


@torch.no_grad()
def hidden_states(model, ids: list[int]) -> Tensor:
    """(T, hidden)"""
    return getattr(model, "model", model)(input_ids=torch.tensor([ids])).last_hidden_state[0].float()


def rounded(values: Tensor) -> list[float]:
    return [round(v, DIGITS) for v in values.tolist()]


def embedded(model, prompt: list[int]) -> dict:
    states = hidden_states(model, prompt)
    pooled = {"cls": states[0], "last": states[-1], "mean": states.mean(0)}
    return {"prompt": prompt, **{name: rounded(values) for name, values in pooled.items()}}


def generate(fixture: Fixture) -> None:
    folder = ENCODERS / fixture.name
    model = build(fixture.config)
    tensors = make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})
    load(model, reference_values(fixture, tensors))
    write_checkpoint(fixture, tensors, folder)
    draw = torch.Generator().manual_seed(fixture.seed)
    measured = []
    for length in LENGTHS:
        prompt = random_ids(length, draw)
        if length > 1 and torch.equal(hidden_states(model, prompt)[0], hidden_states(model, prompt[:-1])[0]):
            raise ValueError("the reference does not look ahead")
        measured.append(embedded(model, prompt))
    (folder / "embeddings.json").write_text(json.dumps(measured, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
