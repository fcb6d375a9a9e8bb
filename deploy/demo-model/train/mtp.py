"""The multi-token-prediction layer and its unrolled drafting over whole sequences.

Draft j (1-based) of row t reads (h, x[t+j]): h is the trunk's final hidden at t for j = 1, the previous draft's
mtp.norm output afterwards. It sits at position t+j and predicts x[t+j+1]. It sees the first drafts of rows <= t, as
the KV cache holds them after verification, and the later drafts of its own row.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from layers import RMSNorm
from model import Layer, Shape, Trunk

DRAFTS = 3


class Mtp(nn.Module):
    """Names equal the checkpoint's below "mtp."; embedding and head are the trunk's."""

    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.fc = nn.Linear(2 * s.hidden, s.hidden, bias=False)
        self.pre_fc_norm_embedding = RMSNorm(s.hidden, s.eps)
        self.pre_fc_norm_hidden = RMSNorm(s.hidden, s.eps)
        self.layers = nn.ModuleList([Layer(s, full_attention=True)])
        self.norm = RMSNorm(s.hidden, s.eps)

    def forward(self, trunk: Trunk, ids: Tensor, hidden: Tensor, token_dropout: float = 0.0) -> list[Tensor]:
        """ids (B, T), hidden (B, T, H) -> per draft j the mtp.norm outputs (B, T - DRAFTS, H) for rows 0 .. T-DRAFTS-1.

        token_dropout: share of entries that lose their token in training. Otherwise this layer learns to read the
        question by its own attention, and drafts by itself instead of from the trunk's hidden.
        """
        rows = ids.shape[1] - DRAFTS
        h, outputs, keys, values = hidden[:, :rows], [], [], []
        for j in range(1, DRAFTS + 1):
            token = self.pre_fc_norm_embedding(trunk.embed_tokens(ids[:, j : j + rows]))
            token = token * (torch.rand(*token.shape[:2], 1) >= token_dropout)
            x = self.fc(torch.cat([token, self.pre_fc_norm_hidden(h)], dim=-1))
            h = self.norm(self._layer(x, j, keys, values))
            outputs.append(h)
        return outputs

    def _layer(self, x: Tensor, j: int, keys: list[Tensor], values: list[Tensor]) -> Tensor:
        layer = self.layers[0]
        q, k, v, gate = layer.self_attn.project(layer.input_layernorm(x), self.s.rope(x.shape[1], first=j))
        repeat = self.s.heads // self.s.kv_heads
        keys.append(k.repeat_interleave(repeat, 1))
        values.append(v.repeat_interleave(repeat, 1))
        x = x + layer.self_attn.output(attend(q, keys, values), gate)
        return x + layer.mlp(layer.post_attention_layernorm(x))


def attend(q: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """Causal over keys[0]; of the later drafts' keys, each row sees its own. All (B, heads, T, D)."""
    t = q.shape[2]
    above = torch.ones(t, t, dtype=torch.bool).triu(1)
    scores = [(q @ keys[0].transpose(-1, -2)).masked_fill(above, float("-inf"))]
    scores += [(q * k).sum(-1, keepdim=True) for k in keys[1:]]
    weights = F.softmax(torch.cat(scores, dim=-1) * q.shape[-1] ** -0.5, dim=-1)
    own = weights[..., t:].split(1, dim=-1)
    return weights[..., :t] @ values[0] + sum((w * v for w, v in zip(own, values[1:])), torch.zeros_like(q))
