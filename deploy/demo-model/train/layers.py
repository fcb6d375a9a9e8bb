"""Parts that both kinds of layer use: linear map with optional FP8 rounding, (1+w) RMSNorm, rotary positions, MLP."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from quantize import fake_quantize


class Linear(nn.Module):
    """y = x W^T, no bias. With fp8 set, W is rounded to FP8 blocks in the forward pass (quantization-aware training)."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * inputs**-0.5 * 0.5)
        self.fp8 = False

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, fake_quantize(self.weight) if self.fp8 else self.weight)


def set_fp8(module: nn.Module, on: bool) -> None:
    for part in module.modules():
        if isinstance(part, Linear):
            part.fp8 = on


class RMSNorm(nn.Module):
    """x / rms(x) * (1 + w), over the last dimension."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], 1 + self.weight, self.eps)


def rotary_tables(first: int, length: int, width: int, theta: float) -> tuple[Tensor, Tensor]:
    """cos and sin (T, 1, width): frequencies theta^(-2i/width), the first half repeated (NeoX halves)."""
    frequency = theta ** (-torch.arange(0, width, 2) / width)
    angle = torch.outer(torch.arange(first, first + length).float(), frequency).repeat(1, 2)[:, None]
    return angle.cos(), angle.sin()


def rotate(x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
    """x (B, T, heads, head_dim): the first `width` of head_dim turn, the rest pass."""
    cos, sin = tables
    turned, passed = x[..., : cos.shape[-1]], x[..., cos.shape[-1] :]
    low, high = turned.chunk(2, dim=-1)
    return torch.cat([turned * cos + torch.cat([-high, low], dim=-1) * sin, passed], dim=-1)


class MLP(nn.Module):
    def __init__(self, hidden: int, ffn: int):
        super().__init__()
        self.gate_proj = Linear(hidden, ffn)
        self.up_proj = Linear(hidden, ffn)
        self.down_proj = Linear(ffn, hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
