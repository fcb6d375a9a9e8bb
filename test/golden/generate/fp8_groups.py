"""FP8 of compressed-tensors with several groups of modules, and activations of a stored scale, as llm-compressor publishes it.

compressed-tensors' own compressor writes and reads the matrices, and its fake_quantize says what activations in FP8 would be.
"""

import torch
from compressed_tensors.compressors.naive_quantized.base import FloatQuantizationCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.lifecycle.forward import fake_quantize
from torch import Tensor, nn

FORM = "fp8-groups"
E4M3_MAX, BLOCK = 448.0, 128
INPUT_SCALE = 0.03  # the largest activation is 13 then
WEIGHTS = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False}
INPUTS = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False, "strategy": "tensor"}
# Targets, and how weights are scaled: q, k and v run together with three scales.
GROUPS = {
    "group_0": (["re:.*self_attn\\..*_proj$"], {"strategy": "tensor"}),
    "group_1": (["re:.*mlp\\.(gate|up)_proj$"], {"strategy": "channel"}),
    "group_2": (["re:.*mlp\\.down_proj$"], {"strategy": "block", "block_structure": [BLOCK, BLOCK]}),
}
# Stays in BF16, between layers that do not.
IGNORED = ["lm_head", "model.layers.1.mlp.down_proj"]


def scaled_by(module: str) -> dict:
    if "self_attn" in module:
        return GROUPS["group_0"][1]
    return GROUPS["group_2" if module.endswith("down_proj") else "group_1"][1]


def scheme_of(module: str) -> QuantizationScheme:
    return QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**WEIGHTS, **scaled_by(module)), input_activations=QuantizationArgs(**INPUTS))


def largest(weight: Tensor, strategy: str) -> Tensor:
    if strategy == "tensor":
        return weight.abs().amax().reshape(1)
    if strategy == "channel":
        return weight.abs().amax(1, keepdim=True)
    rows, columns = weight.shape
    return weight.view(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK).abs().amax((1, 3))


def store(module: str, weight: Tensor) -> dict[str, Tensor]:
    if module in IGNORED:
        return {f"{module}.weight": weight.bfloat16()}
    scale = (largest(weight, scaled_by(module)["strategy"]) / E4M3_MAX).bfloat16()
    state = FloatQuantizationCompressor.compress({"weight": weight.bfloat16(), "weight_scale": scale}, scheme_of(module))
    return {f"{module}.{name}": tensor for name, tensor in state.items()} | {f"{module}.input_scale": torch.tensor([INPUT_SCALE])}


def read(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What a reader sees, by the name that the reference gives the matrix."""
    values = {}
    for name, tensor in tensors.items():
        module = name.rpartition(".")[0]
        if name.endswith("_scale"):
            continue
        if tensor.dtype == torch.float8_e4m3fn:
            # Products in the type of the scales would be rounded.
            state = {"weight": tensor, "weight_scale": tensors[f"{module}.weight_scale"].float()}
            values[name] = FloatQuantizationCompressor.decompress(state, scheme_of(module))["weight"].float()
        else:
            values[name] = tensor.float()
    return values


def quantization_config() -> dict:
    groups = {
        name: {"targets": targets, "weights": WEIGHTS | how, "input_activations": INPUTS, "output_activations": None}
        for name, (targets, how) in GROUPS.items()
    }
    return {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "quantization_status": "compressed",
        "config_groups": groups,
        "ignore": IGNORED,
    }


def quantize_inputs(model: nn.Module, modules: set[str]) -> None:
    """What meets the matrices of `modules` becomes e4m3 by the stored scale, as engines with FP8 products have it."""
    args, scale = QuantizationArgs(**INPUTS), torch.tensor([INPUT_SCALE])

    def in_fp8(_module: nn.Module, inputs: tuple) -> tuple:
        return (fake_quantize(inputs[0], scale, torch.zeros(1), args), *inputs[1:])

    for name, module in model.named_modules():
        if name in modules:
            module.register_forward_pre_hook(in_fp8)
