"""golden.json of draft models: what each drafts behind every beginning of its base's own greedy answers."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers

ROOT = Path(__file__).parent.parent
DRAFTERS = ROOT / "drafters"
DRAFTS = 3
STEPS = 24  # greedy tokens after which drafts are recorded


def base_runs(base: str) -> list[dict]:
    """Prompts of the base's golden model and what it answers greedily."""
    return json.loads((ROOT / "models" / base / "golden.json").read_text())["greedy"]


def record(name: str, base: str, runs: Sequence[dict], drafted: list[list[list]], **said: object) -> None:
    """drafted: of each run and each step, pairs of a token and its margin. said: what else the file is to say.

    `right` counts the steps whose drafts up to a position are what the base answers.
    """
    right = [0] * DRAFTS
    for run, steps in zip(runs, drafted):
        for n, step in enumerate(steps, 1):
            following = run["tokens"][n : n + DRAFTS]
            for k in range(len(following)):
                if [t for t, _ in step[: k + 1]] != following[: k + 1]:
                    break
                right[k] += 1
    out = [
        {"tokens": [[t for t, _ in s] for s in steps], "margins": [[m for _, m in s] for s in steps]}
        for steps in drafted
    ]
    reference = {"transformers": transformers.__version__, "torch": torch.__version__, "dtype": "float32"}
    golden = {"base": base, **said, "reference": reference, "right": right, "runs": out}
    (DRAFTERS / name / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(f"{name}: of {len(runs) * STEPS} at each position right: {right}")
