"""The qwen3_5 text model in plain PyTorch, for training on whole short sequences (T, no cache).

Module names equal the checkpoint's tensor names below "model.language_model.". Shapes: B sequences, T tokens, H hidden.
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from gated_delta import GatedDeltaNet
from layers import MLP, Linear, RMSNorm, rotary_tables, rotate


@dataclass(frozen=True)
class Shape:
    vocab: int = 2048
    hidden: int = 256
    layers: int = 8
    interval: int = 4  # every interval-th layer is full attention, the others Gated DeltaNet
    ffn: int = 512
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    rotary_fraction: float = 0.25
    rope_theta: float = 10_000.0
    gdn_key_heads: int = 2
    gdn_value_heads: int = 4
    gdn_head_dim: int = 64
    conv_kernel: int = 4
    eps: float = 1e-6

    def is_full_attention(self, layer: int) -> bool:
        return (layer + 1) % self.interval == 0

    def rope(self, length: int, first: int = 0) -> tuple[Tensor, Tensor]:
        """Rotary tables for positions first .. first + length - 1."""
        return rotary_tables(first, length, int(self.head_dim * self.rotary_fraction), self.rope_theta)


class GatedAttention(nn.Module):
    """Causal attention; q_proj emits [q | gate] per head, and the output is multiplied by sigmoid(gate)."""

    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.q_proj = Linear(s.hidden, s.heads * s.head_dim * 2)
        self.k_proj = Linear(s.hidden, s.kv_heads * s.head_dim)
        self.v_proj = Linear(s.hidden, s.kv_heads * s.head_dim)
        self.o_proj = Linear(s.heads * s.head_dim, s.hidden)
        self.q_norm = RMSNorm(s.head_dim, s.eps)
        self.k_norm = RMSNorm(s.head_dim, s.eps)

    def project(self, x: Tensor, rope: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q (B, heads, T, D), k and v (B, kv_heads, T, D), gate (B, T, heads, D)."""
        s, (b, t, _) = self.s, x.shape
        q, gate = self.q_proj(x).view(b, t, s.heads, 2 * s.head_dim).chunk(2, dim=-1)
        k = self.k_proj(x).view(b, t, s.kv_heads, s.head_dim)
        v = self.v_proj(x).view(b, t, s.kv_heads, s.head_dim)
        q, k = rotate(self.q_norm(q), rope), rotate(self.k_norm(k), rope)
        return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), gate

    def output(self, o: Tensor, gate: Tensor) -> Tensor:
        """o (B, heads, T, D) -> (B, T, H)."""
        return self.o_proj((o.transpose(1, 2) * torch.sigmoid(gate)).flatten(2))

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor]) -> Tensor:
        q, k, v, gate = self.project(x, rope)
        return self.output(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), gate)


class Layer(nn.Module):
    def __init__(self, s: Shape, full_attention: bool):
        super().__init__()
        self.input_layernorm = RMSNorm(s.hidden, s.eps)
        self.post_attention_layernorm = RMSNorm(s.hidden, s.eps)
        self.mlp = MLP(s.hidden, s.ffn)
        if full_attention:
            self.self_attn = GatedAttention(s)
        else:
            self.linear_attn = GatedDeltaNet(s)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor]) -> Tensor:
        y = self.input_layernorm(x)
        x = x + (self.self_attn(y, rope) if hasattr(self, "self_attn") else self.linear_attn(y))
        return x + self.mlp(self.post_attention_layernorm(x))


class Trunk(nn.Module):
    """Token ids (B, T) -> hidden after the final norm (B, T, H). The head is the embedding, transposed."""

    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.embed_tokens = nn.Embedding(s.vocab, s.hidden)
        nn.init.normal_(self.embed_tokens.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(s, s.is_full_attention(i)) for i in range(s.layers))
        self.norm = RMSNorm(s.hidden, s.eps)

    def forward(self, ids: Tensor) -> Tensor:
        rope = self.s.rope(ids.shape[1])
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, rope)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embed_tokens.weight)
