"""The two layouts of a mixture's experts: one matrix per expert and projection, or all experts stacked in one tensor.

Released checkpoints have either; the reference implementation holds them stacked, gate over up.
"""

import re

import torch
from torch import Tensor

STACK = re.compile(r".*\.experts\.(gate_up|down)_proj")
SINGLE = re.compile(r"(.*\.experts)\.(\d+)\.(gate|up|down)_proj\.weight(.*)")


def is_stack(name: str) -> bool:
    return STACK.fullmatch(name) is not None


def single_shapes(shapes: dict[str, torch.Size]) -> dict[str, torch.Size]:
    """experts.gate_up_proj (E, 2F, D), experts.down_proj (E, D, F) -> experts.N.{gate,up,down}_proj.weight."""
    out: dict[str, torch.Size] = {}
    for name, shape in shapes.items():
        prefix, _, projection = name.rpartition(".experts.")
        if projection not in ("gate_up_proj", "down_proj"):
            out[name] = shape
            continue
        for expert in range(shape[0]):
            module = f"{prefix}.experts.{expert}."
            if projection == "down_proj":
                out[module + "down_proj.weight"] = shape[1:]
            else:
                half = torch.Size((shape[1] // 2, shape[2]))
                out[module + "gate_proj.weight"] = out[module + "up_proj.weight"] = half
    return out


def stacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The way back; experts stand in ascending order in `tensors`."""
    out: dict[str, Tensor] = {}
    gathered: dict[tuple[str, str], list[Tensor]] = {}
    for name, tensor in tensors.items():
        if found := SINGLE.fullmatch(name):
            experts, _, projection, suffix = found.groups()
            gathered.setdefault((f"{experts}.{{}}{suffix}", projection), []).append(tensor)
        else:
            out[name] = tensor
    for (name, projection), parts in gathered.items():
        if projection == "down":
            out[name.format("down_proj")] = torch.stack(parts)
        elif projection == "gate":
            out[name.format("gate_up_proj")] = torch.cat([torch.stack(parts), torch.stack(gathered[name, "up"])], dim=1)
    return out
