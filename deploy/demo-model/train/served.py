"""The trained parts as a reader of the checkpoint sees them: FP8 matrices rounded, everything else in its stored type."""

from pathlib import Path

import torch
import torch.nn as nn

from layers import Linear
from model import Shape, Trunk
from mtp import Mtp
from quantize import rounded

# Stored in F32: A_log goes through two exponentials, and the releases keep GDN's own norm in F32 as well.
F32_SUFFIXES = ("A_log", "linear_attn.norm.weight")


def quantized_names(module: nn.Module) -> set[str]:
    return {f"{name}.weight" for name, part in module.named_modules() if isinstance(part, Linear)}


def round_to_stored(module: nn.Module) -> None:
    fp8 = quantized_names(module)
    with torch.no_grad():
        for name, p in module.named_parameters():
            if name in fp8:
                p.copy_(rounded(p))
            elif not name.endswith(F32_SUFFIXES):
                p.copy_(p.bfloat16().float())
    module.requires_grad_(False).eval()


def served_trunk(work: Path) -> Trunk:
    trunk = Trunk(Shape())
    trunk.load_state_dict(torch.load(work / "trunk.pt")["model"])
    round_to_stored(trunk)
    return trunk


def served_mtp(work: Path) -> Mtp:
    mtp = Mtp(Shape())
    mtp.load_state_dict(torch.load(work / "mtp.pt")["model"])
    round_to_stored(mtp)
    return mtp
