"""Writes test/golden/drafters/NAME: EAGLE-3 draft models for golden models, and what they propose.

Usage: python generate/drafters.py [NAME ...]   (after models.py, in the same environment)

transformers has no such model, so it is put together here from its definition (arXiv 2503.01840, and the speculators format) and
transformers' own modules: `fc` joins what three layers of the target read; the one decoder layer reads the normed embedding of the next
token beside the normed joined hidden; `norm` and `lm_head` give logits of a draft vocabulary, whose token i is the target's i + d2t[i].
Later drafts take the layer's output, before `norm` or behind it, in place of the joined hidden. Every draft is made from the whole sequence anew,
without a cache.

Random layers propose nothing that is right. Each is therefore trained here, for some seconds, on the target's own greedy answers to the
golden prompts, drafts continuing from drafts as in use. golden.json has, for each greedy run of the target, what is drafted after each
token, and by how much each draft is the likeliest.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import LlamaConfig, Qwen3Config
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, LlamaRotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer

from checkpoint import make_tensors, reference_values
from draft_record import DRAFTERS, DRAFTS, STEPS, base_runs, record
from fixtures import FIXTURES
from reference import DIGITS, build, load

ROUNDS = 40

# The layer's config, the form of config.json, what is stored beside the layer.
CASES = {
    "llama-eagle3": {
        "base": "llama-bf16",
        "config": LlamaConfig(num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, head_dim=32, intermediate_size=112, rms_norm_eps=1e-5),
        "layers": [0, 1, 2],
        "vocab": 208,
    },
    "qwen3-speculators": {
        "base": "qwen3-bf16",
        "config": Qwen3Config(num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4, head_dim=16, intermediate_size=128, rope_theta=1e6),
        "layers": [1, 2, 3],
        "vocab": 320,
        "norm_before_residual": True,
        "embedding": True,
        "shards": 2,
    },
    # As the releases for gpt-oss: what is read is normed before fc, and drafts continue behind the last norm.
    "gpt_oss-speculators": {
        "base": "gpt_oss-bf16",
        "config": LlamaConfig(num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=96, rms_norm_eps=1e-5),
        "layers": [0, 1, 2],
        "vocab": 240,
        "norm_before_residual": True,
        "norm_before_fc": True,
        "norm_output": True,
        "speculators": True,
        "rounds": 120,
    },
}


class Eagle3(nn.Module):
    def __init__(self, case: dict, target):
        super().__init__()
        config = case["config"]
        hidden = target.config.hidden_size
        config.update({"hidden_size": hidden, "vocab_size": target.config.vocab_size, "num_hidden_layers": 1})
        config._attn_implementation = "eager"
        self.before_residual = case.get("norm_before_residual", False)
        self.fc = nn.Linear(3 * hidden, hidden, bias=False)
        self.input_norm = LlamaRMSNorm(3 * hidden, eps=config.rms_norm_eps) if case.get("norm_before_fc") else None
        self.norms_output = case.get("norm_output", False)
        self.layer = (Qwen3DecoderLayer if isinstance(config, Qwen3Config) else LlamaDecoderLayer)(config, 0)
        attention = self.layer.self_attn
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(attention, name, nn.Linear(2 * hidden, getattr(attention, name).out_features, bias=False))
        self.hidden_norm = LlamaRMSNorm(hidden, eps=config.rms_norm_eps)
        self.norm = LlamaRMSNorm(hidden, eps=config.rms_norm_eps)
        self.lm_head = nn.Linear(hidden, case["vocab"], bias=False)
        self.rotary = LlamaRotaryEmbedding(config)
        self.embed = nn.Embedding.from_pretrained(target.model.embed_tokens.weight.clone(), freeze=True)

    def forward(self, tokens: Tensor, hidden: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """The layer's output (T, H) before its norm, of `tokens` (T) after their `hidden` (T, H)."""
        normed = self.hidden_norm(hidden)
        residual = normed if self.before_residual else hidden
        joined = torch.cat([self.layer.input_layernorm(self.embed(tokens)), normed], -1)[None]
        angles = self.rotary(joined, positions[None])
        mixed = self.layer.self_attn(joined, position_embeddings=angles, attention_mask=mask[None, None])[0][0]
        out = residual + mixed
        return out + self.layer.mlp(self.layer.post_attention_layernorm(out))

    def fuse(self, read: Tensor) -> Tensor:
        return self.fc(read if self.input_norm is None else self.input_norm(read))

    def kept(self, out: Tensor) -> Tensor:
        return self.norm(out) if self.norms_output else out

    def logits(self, out: Tensor) -> Tensor:
        return self.lm_head(self.norm(out))


def read_by(target, ids: list[int], layers: list[int]) -> Tensor:
    """What the named layers read (T, 3H), the last of all as the final norm reads it."""
    seen: dict[int, Tensor] = {}
    modules = [*target.model.layers, target.model.norm]
    hooks = [modules[i].register_forward_pre_hook(lambda _, args, kwargs, i=i: seen.update({i: (args or tuple(kwargs.values()))[0]}), with_kwargs=True) for i in layers]
    with torch.no_grad():
        target(input_ids=torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return torch.cat([seen[i][0] for i in layers], -1)


def causal(count: int) -> Tensor:
    return torch.full((count, count), float("-inf")).triu(1)


@torch.no_grad()
def draft(model: Eagle3, read: Tensor, ids: list[int], targets: Tensor) -> list[tuple[int, float]]:
    """(token, margin) of each draft for the tokens after `ids`, of which `read` has all but the last."""
    hidden = list(model.fuse(read))
    following, drafted = list(ids[1:]), []
    for _ in range(DRAFTS):
        count = len(following)
        out = model(torch.tensor(following), torch.stack(hidden), causal(count), torch.arange(1, count + 1))[-1]
        best = model.logits(out).topk(2)
        drafted.append((targets[best.indices[0]].item(), round((best.values[0] - best.values[1]).item(), DIGITS)))
        following.append(drafted[-1][0])
        hidden.append(model.kept(out))
    return drafted


def train(model: Eagle3, runs: list[tuple[list[int], int, Tensor]], targets: Tensor, rounds: int) -> None:
    """On (ids, length of the prompt, what layers read). Row t of round k continues from row t - 1 of round k - 1, attending to the rows of
    round 0 up to t - k and, of each round after, to the one that led here."""
    of_target = {int(token): i for i, token in enumerate(targets)}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, rounds)
    for step in range(rounds):
        ids, prompt, read = runs[step % len(runs)]
        count = len(ids) - 2  # rows that have a token to guess
        tokens = torch.tensor(ids)
        wanted = torch.tensor([of_target.get(token, -100) for token in ids[2:]])
        wanted[: max(0, prompt - 2)] = -100
        hidden, loss, lines = model.fuse(read[:count]), 0.0, []
        for k in range(DRAFTS):
            lines.append((tokens[1 : count + 1], hidden))
            out = rows_of_round(model, lines, k, count)
            loss = loss + nn.functional.cross_entropy(model.logits(out)[k:], wanted[k:], ignore_index=-100)
            # Row t of the next round continues from row t - 1 of this one.
            hidden = model.kept(torch.cat([out[:1], out[:-1]]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def rows_of_round(model: Eagle3, lines: list[tuple[Tensor, Tensor]], k: int, count: int) -> Tensor:
    tokens = torch.cat([line[0] for line in lines])
    hidden = torch.cat([line[1] for line in lines])
    row = torch.arange(count)
    mask = torch.full((len(lines) * count, len(lines) * count), float("-inf"))
    for a in range(len(lines)):
        for b in range(a + 1):
            # Of round b, row t sees the one at t - (a - b); of round 0 all before that too.
            gap = row[:, None] - row[None, :]
            seen = gap >= a if b == 0 else gap == a - b
            block = mask[a * count : (a + 1) * count, b * count : (b + 1) * count]
            block[seen] = 0.0
        # Rows before the first that has a history see themselves.
        own = torch.arange(a * count, a * count + count)
        mask[own, own] = 0.0
    out = model(tokens, hidden, mask, (row + 1).repeat(len(lines)))
    return out[k * count :]


def choose_targets(case: dict, runs: list[list[int]], draw: torch.Generator) -> Tensor:
    """The target's tokens that the draft vocabulary has, ascending: those of the answers, and others by chance."""
    size = case["config"].vocab_size
    if case["vocab"] == size:
        return torch.arange(size)
    said = sorted({token for run in runs for token in run})
    others = [t for t in torch.randperm(size, generator=draw).tolist() if t not in set(said)]
    return torch.tensor(sorted((said + others)[: case["vocab"]]))


def is_speculators(case: dict) -> bool:
    return case.get("speculators", "shards" in case)


def stored(case: dict, model: Eagle3, targets: Tensor) -> dict[str, Tensor]:
    older = not is_speculators(case)
    at = "midlayer." if older else "layers.0."
    named = {"fc.weight": model.fc.weight, "norm.weight": model.norm.weight, "lm_head.weight": model.lm_head.weight}
    named |= {at + name: value for name, value in model.layer.state_dict().items()}
    named[at + "hidden_norm.weight"] = model.hidden_norm.weight
    if model.input_norm is not None:
        named["input_norm.weight"] = model.input_norm.weight
    if case.get("embedding"):
        named["embed_tokens.weight"] = model.embed.weight
    tensors = {name: value.detach().to(torch.bfloat16).contiguous() for name, value in named.items()}
    if case["vocab"] < case["config"].vocab_size:
        tensors["d2t"] = targets - torch.arange(len(targets))
        tensors["t2d"] = torch.zeros(case["config"].vocab_size, dtype=torch.bool).index_fill(0, targets, True)
    return tensors


def config_of(case: dict) -> dict:
    layer = case["config"].to_diff_dict()
    for name in ("transformers_version", "_attn_implementation", "_attn_implementation_autoset", "dtype"):
        layer.pop(name, None)
    if not is_speculators(case):
        rope = layer.pop("rope_parameters", None) or {}
        own = {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": case["vocab"], "tie_word_embeddings": False}
        # As trainers of this form count layers: by what they give.
        ids = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [i - 1 for i in case["layers"]]}} if min(case["layers"]) > 0 else {}
        return {**layer, **({"rope_theta": rope["rope_theta"]} if "rope_theta" in rope else {}), **own, **ids}
    return {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.2.0",
        "draft_vocab_size": case["vocab"],
        "norm_before_residual": case["norm_before_residual"],
        **{name: True for name in ("norm_before_fc", "norm_output") if case.get(name)},
        "target_hidden_size": case["config"].hidden_size,
        "eagle_aux_hidden_state_layer_ids": case["layers"],
        "transformer_layer_config": layer,
    }


def write(case: dict, tensors: dict[str, Tensor], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_of(case), indent=2) + "\n")
    shards = case.get("shards", 1)
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    place = {name: f"model-{i % shards + 1:05}-of-{shards:05}.safetensors" for i, name in enumerate(sorted(tensors))}
    for file in sorted(set(place.values())):
        save_file({n: t for n, t in tensors.items() if place[n] == file}, folder / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": place}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def generate(seed: int, name: str, case: dict) -> None:
    torch.manual_seed(seed)
    draw = torch.Generator().manual_seed(seed)
    fixture = next(each for each in FIXTURES if each.name == case["base"])
    target = build(fixture.config)
    shapes = {n: t.shape for n, t in target.state_dict().items()}
    load(target, reference_values(fixture, make_tensors(fixture, shapes)))
    golden = base_runs(case["base"])
    model = Eagle3(case, target)
    targets = choose_targets(case, [run["tokens"] for run in golden], draw)
    runs = []
    for run in golden:
        ids = run["prompt"] + run["tokens"]
        runs.append((ids, len(run["prompt"]), read_by(target, ids, case["layers"])))
    train(model, runs, targets, case.get("rounds", ROUNDS))
    # What is stored, and nothing more exact, is the reference.
    tensors = stored(case, model, targets)
    for value in model.state_dict().values():
        if value.dtype == torch.float32 and value.ndim > 0:
            value.copy_(value.to(torch.bfloat16).float())
    model.eval()
    drafted = []
    for ids, prompt, read in runs:
        steps = range(1, STEPS + 1)
        drafted.append([draft(model, read[: prompt + n - 1], ids[: prompt + n], targets) for n in steps])
    write(case, tensors, DRAFTERS / name)
    record(name, case["base"], golden, drafted)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed, (name, case) in enumerate(CASES.items()):
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(seed, name, case)
