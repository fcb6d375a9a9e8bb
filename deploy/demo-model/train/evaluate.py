"""Greedy exact match on held-out wordings, by one forward pass.

A greedy decode yields exactly the right answer iff, fed with the right answer, every position's argmax is the next
token. The end marker is part of the answer.
"""

import torch

from data import IGNORED, Batch
from model import Trunk


@torch.no_grad()
def exact_matches(model: Trunk, batch: Batch, rows: int = 96) -> torch.Tensor:
    """(B,) bool: whether the greedy answer to each prompt is the right one."""
    found = []
    for start in range(0, len(batch.ids), rows):
        ids, targets = batch.ids[start : start + rows], batch.targets[start : start + rows]
        asked = targets != IGNORED
        length = int(asked.any(0).nonzero().max()) + 1
        ids, targets, asked = ids[:, :length], targets[:, :length], asked[:, :length]
        hidden = model(ids)
        wrong = torch.zeros_like(asked)
        wrong[asked] = model.logits(hidden[asked]).argmax(-1) != targets[asked]
        found.append(~wrong.any(1))
    return torch.cat(found)
