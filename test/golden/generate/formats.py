"""Weight formats other than FP8 blocks: how a matrix is stored, and which values a reader must see.

Quantizing and reading share no code. Reading is plain numpy from the definitions of the number formats, so that it also
fixes what the engine must do: e4m3 is (-1)^s 2^(e-7) (1 + m/8), or 2^-6 m/8 where e = 0; e2m1 likewise with bias 1 and
one mantissa bit; two e2m1 share a byte, the lower column in the low nibble; 16 columns share an e4m3 scale.
The float scale of a whole NVFP4 tensor divides in compressed-tensors ("weight_global_scale"); it lets the largest group scale reach
448. modelopt's forms are written and read by modelopt itself (modelopt_forms.py).
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import fp8_groups
import modelopt_forms
import packed
import quark

sys.path.insert(0, str(Path(__file__).parents[3] / "deploy" / "demo-model" / "train"))
from quantize import dequantize, quantize  # noqa: E402, F401  (one FP8 block quantizer for the whole project)

E4M3_MAX, E2M1_MAX, GROUP = 448.0, 6.0, 16
E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], np.float32)
WEIGHT, SCALE, INPUT_SCALE = ".weight", ".weight_scale", ".input_scale"
PACKED, GLOBAL = ".weight_packed", ".weight_global_scale"


SCALE_INV = ".weight_scale_inv"

MIXED, FP8_MTP, FP8_BLOCK, UE8M0 = "modelopt-mixed", "nvfp4-fp8-mtp", "fp8-block", "fp8-ue8m0"


def form_of(form: str, name: str) -> str:
    """The form of one matrix: modelopt's mixtures of experts have experts and head in NVFP4, all else in FP8."""
    if form == FP8_MTP:
        return FP8_BLOCK if name.startswith("mtp.") else "nvfp4"
    if form != MIXED:
        return form
    return modelopt_forms.NVFP4 if "expert" in name or name == "lm_head.weight" else modelopt_forms.FP8


def store(form: str, name: str, weight: Tensor) -> dict[str, Tensor]:
    """The tensors that hold matrix `name` (ending in .weight) in this form."""
    module = name.removesuffix(WEIGHT)
    form = form_of(form, name)
    if form == "f16":
        return {name: weight.half()}
    if form in packed.FORMS:
        return packed.store(form, module, weight)
    if form == fp8_groups.FORM:
        return fp8_groups.store(module, weight)
    if form == quark.FORM:
        return quark.store(module, weight)
    if form in modelopt_forms.FORMS:
        return modelopt_forms.store(form, module, weight)
    if form == UE8M0:
        codes, scale = quantize_by_powers(weight)
        return {name: codes, module + SCALE_INV: scale}
    if form == FP8_BLOCK:
        codes, scale = quantize(weight, torch.bfloat16)
        return {name: codes, module + SCALE_INV: scale}
    if form == "nvfp4":
        codes, groups, largest = quantize_nvfp4(weight)
        divisor = torch.tensor([E4M3_MAX * E2M1_MAX / largest])
        return {module + PACKED: codes, module + SCALE: groups, module + GLOBAL: divisor}
    largest = weight.abs().amax(1, keepdim=True) if form == "fp8-channel" else weight.abs().amax()
    scale = largest / E4M3_MAX
    scale = scale.bfloat16() if form == "fp8-channel" else scale
    codes = (weight / scale.float()).clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn)
    stored = {name: codes, module + SCALE: scale}
    # Calibrated activation scales lie beside weights; an engine that keeps activations as they are skips them.
    return stored if form == "fp8-channel" else stored | {module + INPUT_SCALE: torch.tensor(0.01)}


def quantize_by_powers(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Codes, and of each block of 128x128 the power of two from which no value is too large: exponents alone (E8M0)."""
    rows, columns = weight.shape
    blocks = [[weight[r : r + 128, c : c + 128].abs().amax() for c in range(0, columns, 128)] for r in range(0, rows, 128)]
    scale = torch.exp2((torch.tensor(blocks) / E4M3_MAX).log2().ceil())
    spread = scale.repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]
    return (weight / spread).to(torch.float8_e4m3fn), scale.to(torch.float8_e8m0fnu)


def quantize_nvfp4(weight: Tensor) -> tuple[Tensor, Tensor, float]:
    """Codes (N, K/2), e4m3 group scales (N, K/16), and the largest magnitude."""
    rows, columns = weight.shape
    largest = weight.abs().max().item()
    groups = weight.view(rows, columns // GROUP, GROUP)
    unit = largest / (E4M3_MAX * E2M1_MAX)
    scale = (groups.abs().amax(2) / E2M1_MAX / unit).to(torch.float8_e4m3fn)
    scaled = (groups / (scale.float() * unit).unsqueeze(2).clamp_min(1e-30)).reshape(rows, columns)
    nearest = (scaled.abs().unsqueeze(2) - torch.from_numpy(E2M1)).abs().argmin(2)
    codes = (nearest + 8 * (scaled < 0)).to(torch.uint8)
    return codes[:, 0::2] | codes[:, 1::2] << 4, scale, largest


def values(tensors: dict[str, Tensor], form: str = "") -> dict[str, Tensor]:
    """What a reader sees, by the name that the reference gives the matrix; tensors that only serve others go."""
    if form in packed.FORMS:
        return packed.read(form, tensors)
    if form == fp8_groups.FORM:
        return fp8_groups.read(tensors)
    if form == quark.FORM:
        return quark.read(tensors)
    if form in (*modelopt_forms.FORMS, MIXED):
        return modelopt_forms.read(tensors)
    read = {}
    for name, tensor in tensors.items():
        module = name.rpartition(".")[0]
        if name.endswith((SCALE, GLOBAL, INPUT_SCALE, SCALE_INV)):
            continue
        if tensor.dtype == torch.uint8:
            read[module + WEIGHT] = torch.from_numpy(read_nvfp4(module, tensor, tensors))
        elif tensor.dtype == torch.float8_e4m3fn:
            read[name] = torch.from_numpy(e4m3(tensor) * fp8_scale(module, tensor, tensors))
        else:
            read[name] = tensor.float()
    return read


def fp8_scale(module: str, codes: Tensor, tensors: dict[str, Tensor]) -> np.ndarray:
    """One per tensor or row, or one per 128x128 block, spread out."""
    if module + SCALE_INV not in tensors:
        return tensors[module + SCALE].float().numpy()
    rows, columns = codes.shape
    blocks = tensors[module + SCALE_INV].float().numpy()
    return blocks.repeat(128, axis=0)[:rows].repeat(128, axis=1)[:, :columns]


def e4m3(tensor: Tensor) -> np.ndarray:
    bits = tensor.view(torch.uint8).numpy().astype(np.int32)
    sign, exponent, mantissa = 1 - 2 * (bits >> 7), bits >> 3 & 15, bits & 7
    magnitude = np.where(exponent == 0, mantissa / 8 * 2.0**-6, 2.0 ** (exponent - 7) * (1 + mantissa / 8))
    return (sign * magnitude).astype(np.float32)


def read_nvfp4(module: str, packed: Tensor, tensors: dict[str, Tensor]) -> np.ndarray:
    pairs = packed.numpy()
    codes = np.stack([pairs & 15, pairs >> 4], axis=2).reshape(pairs.shape[0], -1)
    elements = np.where(codes & 8, -1, 1) * E2M1[codes & 7]
    scale = np.repeat(e4m3(tensors[module + SCALE]), GROUP, axis=1)
    return (elements * scale / tensors[module + GLOBAL].numpy()).astype(np.float32)


def check(form: str, original: dict[str, Tensor], read: dict[str, Tensor]) -> None:
    """Every matrix must come back near what it was, or the convention of a scale is wrong."""
    fp8 = {kind: 0.07 for kind in ("fp8-tensor", "fp8-channel", FP8_BLOCK, UE8M0, fp8_groups.FORM, quark.FORM)}
    integers = {"gptq4": 0.12, "gptq4-sym": 0.14, "gptq8": 0.01, "awq": 0.12, "w4a16": 0.12, "w8a8": 0.01, "mxfp4-pack": 0.2}
    worst_of = integers | {"f16": 0.001, "nvfp4": 0.2, modelopt_forms.NVFP4: 0.2, modelopt_forms.FP8: 0.07} | fp8
    for name, weight in original.items():
        worst = worst_of[form_of(form, name)]
        error = ((read[name] - weight).norm() / weight.norm()).item()
        if not error < worst:
            raise ValueError(f"{name} as {form} comes back with a relative error of {error:.3f}")


def quantization_config(form: str, kept: list[str], stored: dict[str, Tensor]) -> dict:
    """quantization_config as the tool that writes this form writes it; empty for f16."""
    if form in packed.FORMS:
        return packed.quantization_config(form, kept)
    if form == fp8_groups.FORM:
        return fp8_groups.quantization_config()
    if form == quark.FORM:
        return quark.quantization_config()
    if form == UE8M0:
        fp8 = {"quant_method": "fp8", "fmt": "e4m3", "scale_fmt": "ue8m0", "activation_scheme": "dynamic"}
        return fp8 | {"weight_block_size": [128, 128], "modules_to_not_convert": kept}
    if form == MIXED:
        layers = {layer_of(name): algorithm_of(name) for name in stored if name.removesuffix(WEIGHT) + SCALE in stored}
        return {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "ignore": ["mtp*"], "quantized_layers": layers}
    if form == "fp8-tensor":
        return {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": kept}
    if form == "fp8-channel":
        weights = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False}
        return compressed_tensors("float-quantized", weights, ["lm_head", "re:.*linear_attn\\.in_proj_[ab]$"])
    if form in ("nvfp4", FP8_MTP):
        weights = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": GROUP, "symmetric": True}
        return compressed_tensors("nvfp4-pack-quantized", weights, ["lm_head"])
    if form == "mxfp4":
        kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
        return {"quant_method": "mxfp4", "modules_to_not_convert": kept}
    if form in modelopt_forms.FORMS:
        return modelopt_forms.quantization_config(form)
    return {}


def layer_of(name: str) -> str:
    """All experts of a layer are one entry."""
    module = name.removesuffix(WEIGHT)
    return module.partition(".experts.")[0] + ".experts" if ".experts." in module else module


def algorithm_of(name: str) -> dict:
    return {"quant_algo": "FP8"} if form_of(MIXED, name) == modelopt_forms.FP8 else {"quant_algo": "W4A16_NVFP4", "group_size": GROUP}


def compressed_tensors(form: str, weights: dict, ignore: list[str]) -> dict:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "format": form}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "quantization_status": "compressed",
        "config_groups": {"group_0": group},
        "ignore": ignore,
    }
