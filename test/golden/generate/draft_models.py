"""Writes test/golden/drafters/NAME: small models with the vocabulary of a golden model, which draft for it, and what they propose.

Usage: python generate/draft_models.py [NAME ...]   (after models.py, in the same environment)

They are models of transformers as they are. Random ones propose nothing that is right, so each is trained here, for some seconds, on the
golden model's own greedy answers. golden.json has, for each greedy run of the golden model, the three greedy tokens of the draft model
after each of its tokens, by transformers and without a cache, and by how much each is the likeliest.
"""

import json
import shutil
import sys

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from draft_record import DRAFTERS, DRAFTS, ROOT, STEPS, base_runs, record
from reference import DIGITS

ROUNDS = 90

# Their own type, heads and widths; one window, so that what is cached is read by position.
CASES = {
    "llama-for-qwen3": {
        "base": "qwen3-bf16",
        "model": LlamaForCausalLM,
        "config": LlamaConfig(hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4, head_dim=16, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}),
    },
    "qwen3-for-qwen3_5": {
        "base": "qwen3_5-bf16",
        "model": Qwen3ForCausalLM,
        "config": Qwen3Config(hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16, tie_word_embeddings=True, use_sliding_window=True, sliding_window=32, max_window_layers=1, layer_types=["full_attention", "sliding_attention"]),
    },
}


STORED = {
    *("model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"),
    *("head_dim", "hidden_act", "max_position_embeddings", "rms_norm_eps", "rope_parameters", "tie_word_embeddings", "attention_bias"),
    *("use_sliding_window", "sliding_window", "max_window_layers", "layer_types"),
}


def train(model, runs: list[dict]) -> None:
    """On answers alone: prompts are random."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, ROUNDS)
    for step in range(ROUNDS):
        run = runs[step % len(runs)]
        ids = torch.tensor(run["prompt"] + run["tokens"])
        wanted = ids[1:].clone()
        wanted[: len(run["prompt"]) - 1] = -100
        rows = model(input_ids=ids[None, :-1], use_cache=False).logits[0]
        loss = nn.functional.cross_entropy(rows, wanted, ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def draft(model, ids: list[int]) -> list[tuple[int, float]]:
    """(token, margin) of each greedy token after `ids`."""
    drafted = []
    for _ in range(DRAFTS):
        following = ids + [token for token, _ in drafted]
        best = model(input_ids=torch.tensor([following]), use_cache=False).logits[0, -1].topk(2)
        drafted.append((best.indices[0].item(), round((best.values[0] - best.values[1]).item(), DIGITS)))
    return drafted


def config_of(case: dict) -> dict:
    config = {name: value for name, value in case["config"].to_dict().items() if name in STORED and value is not None}
    return {"architectures": [case["model"].__name__], **config, "torch_dtype": "bfloat16"}


def write(case: dict, model, name: str) -> None:
    folder = DRAFTERS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_of(case), indent=2) + "\n")
    tied = case["config"].tie_word_embeddings
    tensors = {n: t.to(torch.bfloat16).contiguous() for n, t in model.state_dict().items() if not (tied and n == "lm_head.weight")}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def generate(seed: int, name: str, case: dict) -> None:
    torch.manual_seed(seed)
    runs = base_runs(case["base"])
    base = json.loads((ROOT / "models" / case["base"] / "config.json").read_text())
    case["config"].vocab_size = base.get("text_config", base)["vocab_size"]
    case["config"]._attn_implementation = "eager"
    model = case["model"](case["config"]).float()
    train(model, runs)
    # What is stored, and nothing more exact, is the reference.
    value: Tensor
    for value in model.state_dict().values():
        value.copy_(value.to(torch.bfloat16).float())
    model.eval()
    drafted = [
        [draft(model, run["prompt"] + run["tokens"][:n]) for n in range(1, STEPS + 1)] for run in runs
    ]
    write(case, model, name)
    record(name, case["base"], runs, drafted, method="draft_model")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed, (name, case) in enumerate(CASES.items()):
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(seed, name, case)
