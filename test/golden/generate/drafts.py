"""Writes models/NAME/drafts.json: what the layer for multi-token prediction drafts after each greedy token.

transformers reads these weights for no model, so the layer is put together here from its definition: the trunk's final hidden of
the token before and the embedding of the token, each normed, through `fc`, one full-attention decoder layer and `norm`; the trunk's head
gives logits. Later drafts take the layer's own output in place of the trunk's hidden. Every draft is made from the whole
sequence anew, without a cache. Usage: python generate/drafts.py [NAME ...]   (after models.py, in the same environment)
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from torch import Tensor
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5DecoderLayer, Qwen3_5RMSNorm
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeDecoderLayer

from checkpoint import make_tensors, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from reference import DIGITS, build, load
from weights import of_tower

MODELS = Path(__file__).parent.parent / "models"
DRAFTS = 3
STEPS = 12  # greedy tokens after which drafts are recorded


class Mtp:
    def __init__(self, model, values: dict[str, Tensor]):
        trunk = model.model.language_model if hasattr(model.model, "language_model") else model.model
        self.trunk, self.head = trunk, model.lm_head
        config = trunk.config
        self.fc = values["mtp.fc.weight"]
        layer = Qwen3_5MoeDecoderLayer if hasattr(config, "num_experts") else Qwen3_5DecoderLayer
        self.layer = layer(config, config.layer_types.index("full_attention")).float().eval()
        prefix = "mtp.layers.0."
        self.layer.load_state_dict({n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)})
        self.norms = {}
        for name in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"):
            self.norms[name] = Qwen3_5RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
            self.norms[name].load_state_dict({"weight": values[f"mtp.{name}.weight"]})

    @torch.no_grad()
    def draft(self, ids: list[int]) -> list[tuple[int, float]]:
        """(token, margin) of each draft for the tokens after `ids`."""
        tokens = torch.tensor([ids])
        hidden = list(self.trunk(input_ids=tokens[:, :-1], use_cache=False).last_hidden_state[0])
        following, drafted = list(ids[1:]), []
        for _ in range(DRAFTS):
            out = self.run(torch.tensor(following), torch.stack(hidden))
            best = self.head(out).topk(2)
            drafted.append((best.indices[0].item(), round((best.values[0] - best.values[1]).item(), DIGITS)))
            following.append(drafted[-1][0])
            hidden.append(out)
        return drafted

    def run(self, tokens: Tensor, hidden: Tensor) -> Tensor:
        """The layer's output (H) for the last of `tokens`, which lie at positions 1, 2, ... after their `hidden`."""
        embedded = self.norms["pre_fc_norm_embedding"](self.trunk.embed_tokens(tokens))
        x = torch.cat([embedded, self.norms["pre_fc_norm_hidden"](hidden)], -1) @ self.fc.T
        positions = torch.arange(1, len(tokens) + 1).view(1, 1, -1).expand(3, 1, -1)
        mask = torch.full((len(tokens), len(tokens)), float("-inf")).triu(1)[None, None]
        out = self.layer(x[None], self.trunk.rotary_emb(x[None], positions), attention_mask=mask)
        return self.norms["norm"](out)[0, -1]


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    values = reference_values(fixture, make_tensors(fixture, shapes))
    load(model, values)
    mtp = Mtp(model, values)
    runs = []
    for run in json.loads((folder / "golden.json").read_text())["greedy"]:
        steps = [mtp.draft(run["prompt"] + run["tokens"][:n]) for n in range(1, STEPS + 1)]
        runs.append({"tokens": [[t for t, _ in step] for step in steps], "margins": [[m for _, m in step] for step in steps]})
    reference = {"transformers": transformers.__version__, "torch": torch.__version__, "dtype": "float32"}
    (folder / "drafts.json").write_text(json.dumps({"reference": reference, "runs": runs}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if fixture.mtp and (len(sys.argv) == 1 or fixture.name in sys.argv[1:]):
            generate(fixture)
