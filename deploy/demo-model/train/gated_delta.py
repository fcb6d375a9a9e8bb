"""Gated DeltaNet over whole sequences: one chunk that spans the sequence, starting from an empty state.

Step form: S <- e^g S; d = beta (v - S^T k); S <- S + k d^T; o = S^T q. With S0 = 0 and G = cumsum(g) this is
(I + tril((beta K) K^T * e^(Gi-Gj), -1)) U = beta V;  O = tril(Q K^T * e^(Gi-Gj)) U: one triangular solve.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from layers import Linear


def delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
    """q, k, v (B, heads, T, D), g and beta (B, heads, T) -> o (B, heads, T, D)."""
    total = g.cumsum(-1)
    t = g.shape[-1]
    above = torch.ones(t, t, dtype=torch.bool).triu(1)
    decay = (total[..., :, None] - total[..., None, :]).masked_fill(above, float("-inf")).exp()
    system = (k * beta[..., None]) @ k.transpose(-1, -2) * decay  # its diagonal is taken as 1 by the solve
    u = torch.linalg.solve_triangular(system, v * beta[..., None], upper=False, unitriangular=True)
    return (q @ k.transpose(-1, -2) * decay) @ u


class Conv(nn.Module):
    """Causal depthwise convolution over (B, C, T); weight (C, 1, K) as in the checkpoint."""

    def __init__(self, channels: int, kernel: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, kernel) * 0.1)
        with torch.no_grad():
            self.weight[..., -1] += 1.0  # begin near "pass the current token"

    def forward(self, x: Tensor) -> Tensor:
        kernel = self.weight.shape[-1]
        padded = F.pad(x, (kernel - 1, 0))
        t = x.shape[-1]
        # Shifted adds: on CPU several times as fast as a grouped convolution and its gradient.
        return sum(padded[..., i : i + t] * self.weight[:, :, i] for i in range(kernel))


class HeadNorm(nn.Module):
    """x / rms(x) * w * silu(z) per head."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], self.weight, self.eps) * F.silu(z)


class GatedDeltaNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.keys, self.values = s.gdn_key_heads * s.gdn_head_dim, s.gdn_value_heads * s.gdn_head_dim
        self.in_proj_qkv = Linear(s.hidden, 2 * self.keys + self.values)
        self.in_proj_z = Linear(s.hidden, self.values)
        self.in_proj_b = nn.Linear(s.hidden, s.gdn_value_heads, bias=False)
        self.in_proj_a = nn.Linear(s.hidden, s.gdn_value_heads, bias=False)
        self.conv1d = Conv(2 * self.keys + self.values, s.conv_kernel)
        # Per-step decay e^g between about 0.9 and 0.999 at the start, so that early words are still heard.
        step = torch.exp(torch.linspace(math.log(1e-3), math.log(1e-1), s.gdn_value_heads))
        self.A_log = nn.Parameter(torch.zeros(s.gdn_value_heads))
        self.dt_bias = nn.Parameter(torch.log(torch.expm1(step)))
        self.norm = HeadNorm(s.gdn_head_dim, s.eps)
        self.out_proj = Linear(self.values, s.hidden)

    def forward(self, x: Tensor) -> Tensor:
        s, (b, t, _) = self.s, x.shape
        mixed = F.silu(self.conv1d(self.in_proj_qkv(x).transpose(1, 2)))  # (B, 2 keys + values, T)
        q, k, v = (
            part.view(b, -1, s.gdn_head_dim, t).transpose(2, 3)
            for part in mixed.split([self.keys, self.keys, self.values], dim=1)
        )  # each (B, heads, T, D)
        repeat = s.gdn_value_heads // s.gdn_key_heads
        q = unit(q).repeat_interleave(repeat, 1) * s.gdn_head_dim**-0.5
        k = unit(k).repeat_interleave(repeat, 1)
        beta = torch.sigmoid(self.in_proj_b(x)).transpose(1, 2)
        g = -(self.A_log.exp() * F.softplus(self.in_proj_a(x) + self.dt_bias)).transpose(1, 2)
        o = delta_rule(q, k, v, g, beta).transpose(1, 2)  # (B, T, heads, D)
        z = self.in_proj_z(x).view(b, t, -1, s.gdn_head_dim)
        return self.out_proj(self.norm(o, z).reshape(b, t, -1))


def unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)
