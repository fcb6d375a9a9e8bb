"""FP8 as AMD's Quark exports it: attention by tensor, three scales in q, k and v, gate and up by row with scales of one side, and,
in the same file, gate, up and down in e4m3fnuz, the codes of MI300X, whose largest is 240.

Codes are torch's own in both types, and torch widens them again.
"""

import torch
from torch import Tensor

FORM = "quark-fp8"
LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e4m3fnuz: 240.0}
BY_ROW = ("gate_proj", "up_proj")
# Of what the model multiplies with, and of keys and values in the cache: an engine that keeps both as they are skips them.
ACTIVATIONS = ("input_scale", "output_scale")


def type_of(module: str) -> torch.dtype:
    return torch.float8_e4m3fn if "self_attn" in module else torch.float8_e4m3fnuz


def store(module: str, weight: Tensor) -> dict[str, Tensor]:
    dtype = type_of(module)
    largest = weight.abs().amax(1) if module.endswith(BY_ROW) else weight.abs().amax()
    scale = largest / LARGEST[dtype]
    codes = (weight / (scale.unsqueeze(1) if scale.ndim else scale)).clamp(-LARGEST[dtype], LARGEST[dtype]).to(dtype)
    stored = {"weight": codes, "weight_scale": scale, "input_scale": torch.tensor(0.01)}
    if module.endswith(("k_proj", "v_proj")):
        stored["output_scale"] = torch.tensor(0.02)
    return {f"{module}.{name}": tensor for name, tensor in stored.items()}


def read(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What a reader sees, by the name that the reference gives the matrix."""
    values = {}
    for name, tensor in tensors.items():
        if name.endswith("_scale"):
            continue
        values[name] = tensor.float()
        if tensor.dtype in LARGEST:
            scale = tensors[f"{name}_scale"]
            values[name] *= scale.unsqueeze(1) if scale.ndim else scale
    return values


def in_e4m3(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same with one type of codes, and scales of rows with two sides, as engines hold them."""
    return {n: t.float().to(torch.float8_e4m3fn) if t.dtype == torch.float8_e4m3fnuz else t for n, t in tensors.items()}


def spec(scheme: str, axis: int | None) -> dict:
    return {
        "dtype": "fp8_e4m3",
        "is_dynamic": False,
        "qscheme": scheme,
        "ch_axis": axis,
        "group_size": None,
        "symmetric": True,
        "round_method": "half_even",
        "scale_type": "float",
        "observer_cls": "PerTensorMinMaxObserver" if axis is None else "PerChannelMinMaxObserver",
    }


def quantization_config() -> dict:
    by_tensor, by_row = spec("per_tensor", None), spec("per_channel", 0)

    def module(weight: dict, output: dict | None = None) -> dict:
        return {"weight": weight, "input_tensors": by_tensor, "output_tensors": output, "bias": None, "target_device": None}

    return {
        "quant_method": "quark",
        "quant_mode": "eager_mode",
        "global_quant_config": module(by_tensor),
        "layer_quant_config": {f"*{name}": module(by_tensor, by_tensor) for name in ("k_proj", "v_proj")}
        | {f"*{name}": module(by_row) for name in BY_ROW},
        "layer_type_quant_config": {},
        "algo_config": None,
        "exclude": ["lm_head"],
        "export": {"kv_cache_group": ["*k_proj", "*v_proj"], "pack_method": "reorder", "weight_format": "real_quantized"},
    }
