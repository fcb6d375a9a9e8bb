"""Checks an exported checkpoint against transformers' Qwen3_5ForCausalLM in fp32, FP8 matrices multiplied out.

Usage: python check_export.py [CHECKPOINT] [--held-out]
Shows greedy answers of the reference to a few prompts, and the largest logit difference to this folder's own model.
--held-out: also the greedy exact match on all held-out wordings, for both prompt forms, by the reference's logits.
"""

import argparse
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from chat import Chat
from data import held_out
from evaluate import exact_matches
from export import CHECKPOINT, MTP_PREFIX, TRUNK_PREFIX
from model import Shape, Trunk
from quantize import dequantize
from questions import read_questions
from tokenizer import IM_END
from train import QUESTIONS

SCALE = "_scale_inv"
ASKED = ("What is the capital of France?", "What is LlmService?", "how much is 2 plus 2", "What is my name?")


def read_values(folder: Path) -> dict[str, Tensor]:
    """All tensors in fp32, found through the index."""
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    stored = {n: t for file in sorted(set(index.values())) for n, t in load_file(folder / file).items()}
    if set(stored) != set(index):
        raise ValueError(f"index and shards disagree on {sorted(set(stored) ^ set(index))}")
    plain = {n: t for n, t in stored.items() if not n.endswith(SCALE)}
    return {n: dequantize(t, stored[n + SCALE]) if n + SCALE in stored else t.float() for n, t in plain.items()}


def reference_model(folder: Path, values: dict[str, Tensor]):
    text = json.loads((folder / "config.json").read_text())["text_config"]
    model = transformers.Qwen3_5ForCausalLM(transformers.Qwen3_5TextConfig(**text)).float().eval()
    trunk = {n.replace(TRUNK_PREFIX, "model."): t for n, t in values.items() if not n.startswith(MTP_PREFIX)}
    result = model.load_state_dict(trunk, strict=False)
    if set(result.missing_keys) - {"lm_head.weight"} or result.unexpected_keys:
        raise ValueError(f"names differ from the reference: {result}")
    model.tie_weights()
    return model


class AsTrunk:
    """The reference behind the trunk's interface, so that one evaluation serves both."""

    def __init__(self, model):
        self.model = model

    def __call__(self, ids: Tensor) -> Tensor:
        return self.model.model(input_ids=ids, use_cache=False).last_hidden_state

    def logits(self, hidden: Tensor) -> Tensor:
        return self.model.lm_head(hidden)


@torch.no_grad()
def main(folder: Path, all_held_out: bool) -> None:
    values = read_values(folder)
    reference = reference_model(folder, values)
    own = Trunk(Shape())
    own.load_state_dict({n.removeprefix(TRUNK_PREFIX): t for n, t in values.items() if n.startswith(TRUNK_PREFIX)})
    chat = Chat(Tokenizer.from_file(str(folder / "tokenizer.json")))
    stop = chat.tokenizer.token_to_id(IM_END)
    for question in ASKED:
        ids = torch.tensor([chat.prompt([{"role": "user", "content": question}], closed_think=False)])
        difference = (reference(input_ids=ids).logits - own.logits(own(ids))).abs().max().item()
        out = reference.generate(ids, max_new_tokens=40, do_sample=False, eos_token_id=stop, pad_token_id=stop)
        print(f"{question} -> {chat.tokenizer.decode(out[0, ids.shape[1]:].tolist())} (logits differ by {difference:.1e})")
    if all_held_out:
        questions = read_questions(QUESTIONS)
        for closed in (False, True):
            right = exact_matches(AsTrunk(reference), held_out(questions, chat, closed))
            missed = [q.held_out for q, ok in zip(questions, right) if not ok]
            print(f"held-out exact match, empty think block {closed}: {right.float().mean():.4f} of {len(questions)}")
            print("missed:", missed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, nargs="?", default=CHECKPOINT)
    parser.add_argument("--held-out", action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(1)
    main(a.checkpoint, a.held_out)
