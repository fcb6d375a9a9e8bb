"""Writes adapters/NAME/on-gpu.json: what PEFT says beside the base when activations are rounded as GPUs round them.

The base's matrices meet them as in on_gpu.py. What the adapter adds is made in float32, of A and B in bfloat16, in which GPUs
hold them.
Usage: python generate/adapters_on_gpu.py [NAME ...]   (after adapters.py, in the same environment)
"""

import sys
from pathlib import Path

import torch
from peft import PeftModel
from torch import nn

from adapters import ADAPTERS, CASES, fixture_of
from held import halved
from on_gpu import generate


def adapted(model: nn.Module, folder: Path) -> nn.Module:
    beside = PeftModel.from_pretrained(model, folder).float().eval()
    with torch.no_grad():
        for name, weight in beside.named_parameters():
            if ".lora_" in name:
                weight.copy_(halved(weight))
    return beside


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, base, _dtype, _settings in CASES:
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(fixture_of(base), ADAPTERS / name, lambda model: adapted(model, ADAPTERS / name))
