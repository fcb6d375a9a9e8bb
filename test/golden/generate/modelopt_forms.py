"""FP8 and NVFP4 as NVIDIA's modelopt exports them: its own tensors quantize a matrix, and give the values that a reader must see.

modelopt is imported where it is needed: it takes seconds, and most fixtures do without.
"""

import torch
from torch import Tensor

FP8, NVFP4 = "fp8-modelopt", "nvfp4-modelopt"
FORMS = (FP8, NVFP4)
GROUP = 16
# Of activations, and of keys and values in the cache: an engine that keeps both as they are skips them.
OF_ACTIVATIONS = ("input_scale", "k_scale", "v_scale")
SCALES = ("weight_scale", "weight_scale_2", *OF_ACTIVATIONS)


def store(form: str, module: str, weight: Tensor) -> dict[str, Tensor]:
    """q, k and v each have a scale of their own."""
    from modelopt.torch.quantization.qtensor import FP8QTensor, NVFP4QTensor

    if form == NVFP4:
        codes, groups, whole = NVFP4QTensor.quantize(weight.clone(), GROUP)
        stored = {"weight": codes._quantized_data, "weight_scale": groups, "weight_scale_2": whole}
    else:
        codes, scale = FP8QTensor.quantize(weight.clone())
        stored = {"weight": codes._quantized_data, "weight_scale": scale, "input_scale": torch.tensor(0.01)}
        if module.endswith(("k_proj", "v_proj")):
            stored[f"{module[-6]}_scale"] = torch.tensor(0.02)
    return {f"{module}.{name}": tensor for name, tensor in stored.items()}


def read(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What a reader sees, by the name that the reference gives the matrix."""
    return {n: values(n, t, tensors) for n, t in tensors.items() if not n.endswith(SCALES)}


def values(name: str, tensor: Tensor, tensors: dict[str, Tensor]) -> Tensor:
    if tensor.dtype not in (torch.uint8, torch.float8_e4m3fn):
        return tensor.float()
    from modelopt.torch.quantization.qtensor import FP8QTensor, NVFP4QTensor

    if tensor.dtype == torch.uint8:
        shape = torch.Size((tensor.shape[0], 2 * tensor.shape[1]))
        scales = {"scale": tensors[f"{name}_scale"], "double_scale": tensors[f"{name}_scale_2"]}
        return NVFP4QTensor(shape, torch.float32, tensor).dequantize(torch.float32, block_sizes={-1: GROUP}, **scales)
    return FP8QTensor(tensor.shape, torch.float32, tensor).dequantize(torch.float32, scale=tensors[f"{name}_scale"])


def quantization_config(form: str) -> dict:
    from modelopt import __version__

    bits = {"dynamic": False, "type": "float"} | ({"num_bits": 8} if form == FP8 else {"num_bits": 4, "group_size": GROUP})
    return {
        "config_groups": {"group_0": {"input_activations": bits, "weights": bits, "targets": ["Linear"]}},
        "ignore": ["lm_head"],
        "quant_algo": "FP8" if form == FP8 else "NVFP4",
        "kv_cache_scheme": {"dynamic": False, "num_bits": 8, "type": "float"},
        "producer": {"name": "modelopt", "version": __version__},
        "quant_method": "modelopt",
    }
