"""Writes drafters/NAME/on-gpu.json: what a draft model proposes behind its base's answers when what meets a matrix of either is rounded
as GPUs round it (on_gpu.py). Both hold their matrices in bfloat16, so that all of theirs meet bfloat16.

Usage: python generate/on_gpu_drafts.py [NAME ...]   (after on_gpu.py, drafters.py and draft_models.py, in the same environment)
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import draft_models
import drafters
from draft_record import DRAFTERS, ROOT, STEPS
from fixtures import FIXTURES
from held import Held, halved
from on_gpu import attend


def stored_tensors(name: str) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for file in sorted((DRAFTERS / name).glob("*.safetensors")):
        tensors |= load_file(file)
    return {n: t.float() if t.dtype == torch.bfloat16 else t for n, t in tensors.items()}


def load_eagle3(name: str, case: dict, target) -> tuple[drafters.Eagle3, Tensor]:
    """The model of drafters.py with what is stored, and each draft token's of the target."""
    tensors = stored_tensors(name)
    tensors.pop("t2d", None)
    targets = torch.arange(case["vocab"]) + tensors.pop("d2t", torch.zeros(case["vocab"], dtype=torch.int64))
    model = drafters.Eagle3(case, target)
    at = "layers.0." if drafters.is_speculators(case) else "midlayer."
    named = {n.replace("embed_tokens.", "embed.").replace(at + "hidden_norm.", "hidden_norm.").replace(at, "layer."): t for n, t in tensors.items()}
    missing, unexpected = model.load_state_dict(named, strict=False)
    if unexpected or any(not n.startswith("embed.") for n in missing):
        raise ValueError(f"{name}: missing {missing}, unexpected {unexpected}")
    model.layer.self_attn.config._attn_implementation = "halved"
    return model.eval(), targets


def load_model(name: str, case: dict, vocab: int):
    case["config"].vocab_size = vocab
    model = case["model"](case["config"]).float()
    missing, unexpected = model.load_state_dict(stored_tensors(name), strict=False)
    if unexpected or missing not in ([], ["lm_head.weight"]):
        raise ValueError(f"{name}: missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    model.set_attn_implementation("halved")
    return model.eval()


def drafts_of(name: str, case: dict, runs: list[dict]) -> list[list[list[tuple[int, float]]]]:
    target = Held.of(next(each for each in FIXTURES if each.name == case["base"])).model
    target.set_attn_implementation("halved")
    if "layers" not in case:
        model = load_model(name, case, target.get_input_embeddings().num_embeddings)
        return [[draft_models.draft(model, run["prompt"] + run["tokens"][:n]) for n in steps_of(run)] for run in runs]
    model, targets = load_eagle3(name, case, target)
    drafted = []
    for run in runs:
        ids, prompt = run["prompt"] + run["tokens"], len(run["prompt"])
        read = drafters.read_by(target, ids, case["layers"])
        drafted.append([drafters.draft(model, read[: prompt + n - 1], ids[: prompt + n], targets) for n in steps_of(run)])
    return drafted


def steps_of(run: dict) -> range:
    return range(1, min(STEPS, len(run["tokens"])) + 1)


def generate(name: str, case: dict) -> None:
    runs = json.loads((ROOT / "models" / case["base"] / "on-gpu.json").read_text())["greedy"]
    exact = functional.linear
    functional.linear = lambda x, weight, bias=None: exact(halved(x), weight, bias)
    try:
        drafted = drafts_of(name, case, runs)
    finally:
        functional.linear = exact
    said = [{"tokens": [[t for t, _ in s] for s in steps], "margins": [[m for _, m in s] for s in steps]} for steps in drafted]
    Path(DRAFTERS / name / "on-gpu.json").write_text(json.dumps({"runs": said}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    AttentionInterface.register("halved", attend)
    AttentionMaskInterface.register("halved", sdpa_mask)
    # Of what attend() takes: which rows see which.
    drafters.causal = lambda count: torch.ones(count, count).tril().bool()
    for name, case in {**drafters.CASES, **draft_models.CASES}.items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(name, case)
