"""Optimizers: Muon (momentum, then the nearest orthogonal matrix) for inner matrices, AdamW for all other tensors.

Muon: Jordan et al., 2024. The orthogonal factor comes from five Newton-Schulz steps with the published coefficients.
"""

import torch
from torch import Tensor

from parallel import Group

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonal(batch: Tensor, steps: int = 5) -> Tensor:
    """(N, R, C) -> matrices with about the same singular vectors and singular values near 1."""
    a, b, c = COEFFICIENTS
    tall = batch.shape[1] > batch.shape[2]
    x = batch.transpose(1, 2) if tall else batch
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(steps):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """Each process orthogonalizes its share of the matrices (one shape stacked at a time); the updates are then summed."""

    def __init__(self, parameters, group: Group, lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.group = group

    @torch.no_grad()
    def step(self) -> None:
        for options in self.param_groups:
            parameters = options["params"]
            updates = [self._nesterov(p, options["momentum"]) for p in parameters]
            self._orthogonalize_(updates)
            for p, update in zip(parameters, updates):
                scale = max(1.0, p.shape[0] / p.shape[1]) ** 0.5
                p.mul_(1 - options["lr"] * options["weight_decay"]).add_(update, alpha=-options["lr"] * scale)

    def _nesterov(self, p: Tensor, momentum: float) -> Tensor:
        velocity = self.state[p].setdefault("velocity", torch.zeros_like(p))
        velocity.lerp_(p.grad, 1 - momentum)
        return p.grad.lerp(velocity, momentum)

    def _orthogonalize_(self, updates: list[Tensor]) -> None:
        rank, size = self.group.rank, self.group.size
        shapes: dict[torch.Size, list[Tensor]] = {}
        for i, update in enumerate(updates):
            if i % size == rank:
                shapes.setdefault(update.shape, []).append(update)
            else:
                update.zero_()
        for same in shapes.values():
            for update, result in zip(same, orthogonal(torch.stack(same))):
                update.copy_(result)
        self.group.sum_(updates)


def optimizers(model: torch.nn.Module, group: Group) -> list[torch.optim.Optimizer]:
    """Each group carries "base": the rate before the schedule's factor."""
    matrices, others = [], []
    for name, p in model.named_parameters():
        inner = p.ndim == 2 and "embed" not in name and min(p.shape) >= 64
        (matrices if inner else others).append(p)
    made = [
        Muon(matrices, group, lr=0.02, weight_decay=0.02),
        torch.optim.AdamW(others, lr=3e-3, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    for optimizer in made:
        for options in optimizer.param_groups:
            options["base"] = options["lr"]
    return made
