"""Runs the reference implementation (transformers, fp32, CPU) and records what an engine must reproduce."""

import torch
import transformers
from torch import Tensor

from weights import TIED, is_unread

PROMPT_LENGTHS = (1, 5, 63, 64, 65, 129)  # around the 64-token chunk borders
CONTINUATION = 32
FORCED_LENGTH = 257  # positions 0..255 predict tokens 1..256
FIRST_ORDINARY = 2  # ids below are BOS and EOS, from LAST_ORDINARY on image markers
LAST_ORDINARY = 316
DIGITS = 6


def build(config: dict):
    """The reference model with its own (to be replaced) weights."""
    made = transformers.AutoConfig.for_model(**config)
    made._attn_implementation = "eager"
    model = getattr(transformers, config["architectures"][0])(made).float().eval()
    for module in model.modules():
        if hasattr(module, "scalar_embed_scale"):
            # As models in bfloat16, which the fixtures are, have it: all else runs in fp32.
            module.embed_scale = module.embed_scale.bfloat16().float()
    return model


def load(model, values: dict[str, Tensor]) -> None:
    """Every parameter must come from the checkpoint; only what the reference lacks, such as an MTP layer, may be left over."""
    result = model.load_state_dict(values, strict=False)
    missing = [n for n in result.missing_keys if n not in TIED]
    unexpected = [n for n in result.unexpected_keys if not is_unread(n, model.config.to_dict())]
    if missing or unexpected:
        raise ValueError(f"checkpoint and reference disagree: missing {missing}, unexpected {unexpected}")
    model.tie_weights()


@torch.no_grad()
def logits(model, ids: list[int]) -> Tensor:
    """(T, vocab) in fp32, one pass without a cache."""
    return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()


def measure(row: Tensor, token: int) -> tuple[int, float, float]:
    """(argmax, margin of the best over the second logit, log-probability of token)."""
    best = row.topk(2)
    return best.indices[0].item(), (best.values[0] - best.values[1]).item(), row.log_softmax(-1)[token].item()


def greedy(model, prompt: list[int]) -> dict:
    """EOS is not a stop here: all CONTINUATION tokens are recorded."""
    ids, margins, logprobs = list(prompt), [], []
    for _ in range(CONTINUATION):
        row = logits(model, ids)[-1]
        token, margin, logprob = measure(row, int(row.argmax()))
        ids.append(token)
        margins.append(round(margin, DIGITS))
        logprobs.append(round(logprob, DIGITS))
    return {"prompt": prompt, "tokens": ids[len(prompt) :], "margins": margins, "logprobs": logprobs}


def followed(model, prompt: list[int], tokens: list[int]) -> dict:
    """greedy(), as far as it begins with `tokens`, and the token after: one pass."""
    rows = logits(model, prompt + tokens)[len(prompt) - 1 : -1]
    chosen = rows.argmax(-1).tolist()
    same = next((i for i, pair in enumerate(zip(chosen, tokens)) if pair[0] != pair[1]), len(tokens) - 1)
    measured = [measure(row, token) for row, token in zip(rows[: same + 1], chosen)]
    return {
        "prompt": prompt,
        "tokens": [m[0] for m in measured],
        "margins": [round(m[1], DIGITS) for m in measured],
        "logprobs": [round(m[2], DIGITS) for m in measured],
    }


def teacher_forced(model, ids: list[int]) -> dict:
    rows = logits(model, ids)
    measured = [measure(rows[i], ids[i + 1]) for i in range(len(ids) - 1)]
    return {
        "ids": ids,
        "argmax": [m[0] for m in measured],
        "margins": [round(m[1], DIGITS) for m in measured],
        "logprobs": [round(m[2], DIGITS) for m in measured],
    }


def random_ids(length: int, draw: torch.Generator) -> list[int]:
    return torch.randint(FIRST_ORDINARY, LAST_ORDINARY, (length,), generator=draw).tolist()
