"""Writes test/golden/adapters/NAME: LoRA adapters of random weights for golden models, and what PEFT makes of them.

Usage: python generate/adapters.py [NAME ...]   (after models.py, in the same environment)

golden.json is as that of a model, of the base with the adapter beside it; its field merged has the log-probabilities of the
teacher-forced positions once the adapter is added to the base's weights.
"""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model

import gguf_fixtures
from checkpoint import make_tensors, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from gguf_files import write
from reference import DIGITS, FORCED_LENGTH, build, greedy, load, random_ids, teacher_forced

ADAPTERS = Path(__file__).parent.parent / "adapters"
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# The scale of what is added, beside the base's own products: large enough to change most answers.
SPREAD = 0.2

# Name, base, dtype of its tensors, LoraConfig.
CASES = [
    ("llama-rank-8", "llama-bf16", torch.float32, {"r": 8, "lora_alpha": 16, "target_modules": ALL}),
    (
        "llama-patterns",
        "llama-bf16",
        torch.bfloat16,
        {
            "r": 16,
            "lora_alpha": 8,
            "target_modules": ["q_proj", "v_proj", "down_proj"],
            "rank_pattern": {"layers.1.mlp.down_proj": 5},
            "alpha_pattern": {"q_proj": 24},
            "use_rslora": True,
        },
    ),
    ("qwen3-rank-20", "qwen3-bf16", torch.bfloat16, {"r": 20, "lora_alpha": 20, "target_modules": ALL}),
    ("qwen3-fp8-rank-4", "qwen3-fp8", torch.float16, {"r": 4, "lora_alpha": 4, "target_modules": ALL}),
    # Columns in another order, in which the adapter's are not.
    ("qwen3-gptq-rank-8", "qwen3-gptq-v2", torch.bfloat16, {"r": 8, "lora_alpha": 2, "target_modules": ALL}),
    # Rows of q and k in another order, in which the adapter's are not.
    ("llama-gguf-rank-6", "llama-gguf-q8_0", torch.float32, {"r": 6, "lora_alpha": 3, "target_modules": ALL}),
]
LENGTHS = (5, 65)


def fixture_of(name: str) -> Fixture:
    in_gguf = [fixture for fixture, _, _ in gguf_fixtures.FIXTURES.values()]
    return next(each for each in [*FIXTURES, *in_gguf] if each.name == name)


def base_of(name: str):
    fixture = fixture_of(name)
    model = build(fixture.config)
    tensors = make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})
    if name not in gguf_fixtures.FIXTURES:
        load(model, reference_values(fixture, tensors))
        return model
    with TemporaryDirectory() as folder:
        load(model, write(name, tensors, Path(folder)))
    return model


@torch.no_grad()
def write_adapter(base: str, seed: int, dtype: torch.dtype, settings: dict, folder: Path) -> None:
    model = get_peft_model(base_of(base), LoraConfig(task_type="CAUSAL_LM", **settings))
    draw = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if ".lora_" in name:
            spread = SPREAD if ".lora_B." in name else weight.shape[1] ** -0.5
            weight.copy_(torch.randn(weight.shape, generator=draw) * spread)
    for module in model.modules():
        if hasattr(module, "lora_A"):
            module.lora_A.to(dtype)
            module.lora_B.to(dtype)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)


def generate(seed: int, name: str, base: str, dtype: torch.dtype, settings: dict) -> None:
    folder = ADAPTERS / name
    write_adapter(base, seed, dtype, settings, folder)
    model = PeftModel.from_pretrained(base_of(base), folder).float().eval()
    draw = torch.Generator().manual_seed(seed + 1000)
    prompts = [random_ids(length, draw) for length in LENGTHS]
    forced = random_ids(FORCED_LENGTH, draw)
    golden = {
        "base": base,
        "reference": {"peft": peft.__version__, "transformers": transformers.__version__, "torch": torch.__version__},
        "greedy": [greedy(model, prompt) for prompt in prompts],
        "teacherForced": teacher_forced(model, forced),
    }
    with model.disable_adapter():
        plain = teacher_forced(model, forced)["logprobs"]
    golden["merged"] = teacher_forced(model.merge_and_unload(), forced)["logprobs"]
    (folder / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    apart = [abs(a - b) for a, b in zip(golden["teacherForced"]["logprobs"], plain)]
    merged = [abs(a - b) for a, b in zip(golden["teacherForced"]["logprobs"], golden["merged"])]
    print(f"{name}: {sum(apart) / len(apart):.3f} from the base on average, merged {max(merged):.{DIGITS}f} at most")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed, case in enumerate(CASES):
        if len(sys.argv) == 1 or case[0] in sys.argv[1:]:
            generate(seed, *case)
