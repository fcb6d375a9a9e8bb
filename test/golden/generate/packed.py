"""Integers packed into words, and MXFP4: GPTQ, AWQ and compressed-tensors. How a matrix is stored, and which values a reader must see.

compressed-tensors' own compressors write and read its three forms. GPTQ and AWQ are written and read here from the published layouts
(AutoGPTQ's qlinear_cuda_old, AutoAWQ's packing_utils), with torch for packing and numpy for unpacking: value = (code - zero) * scale.
"""

import numpy as np
import torch
from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
from compressed_tensors.compressors.naive_quantized.base import IntQuantizationCompressor
from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from torch import Tensor

WEIGHT, BIAS = ".weight", ".bias"
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


# Bits, columns of a group (0: all), whether zero points lie half-way, and the format of GPTQ's.
GPTQ = {"gptq4": (4, 64, False, "gptq"), "gptq4-sym": (4, 64, True, "gptq"), "gptq8": (8, 32, True, "gptq_v2")}
# Whose columns are quantized, and lie, in groups of another order than their own.
REORDERED = {"gptq8"}
AWQ = {"awq": (4, 64, False, "")}
# The group of most matrices, and that of down_proj.
FOUR = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": False}
EIGHT = {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True}
# A power of two by 32 columns, from which six, the largest code, is not far.
MX = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": True, "scale_dtype": torch.uint8}
MXFP4 = "mxfp4-pack"
COMPRESSED = {MXFP4: {"other": MX}, "w4a16": {"down": EIGHT, "other": FOUR}, "w8a8": {"other": EIGHT}}
FORMS = {*GPTQ, *AWQ, *COMPRESSED}


def integers(weight: Tensor, bits: int, group: int, symmetric: bool, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Codes (N, K) from 0, scales and zero points (N, groups), by the smallest and largest of each group."""
    rows, cols = weight.shape
    groups = weight.view(rows, -1, group or cols)
    top = 2**bits - 1
    if symmetric:
        scale = (groups.abs().amax(2) * 2 / top).to(dtype)
        zero = torch.full_like(scale, 2 ** (bits - 1))
    else:
        low, high = groups.amin(2).clamp(max=0), groups.amax(2).clamp(min=0)
        scale = ((high - low) / top).to(dtype)
        # GPTQ's first format has no room for 0.
        zero = (-low / scale.float()).round().clamp(1, top)
    codes = (groups / scale.float().unsqueeze(2) + zero.float().unsqueeze(2)).round().clamp(0, top)
    return codes.view(rows, cols).int(), scale, zero.int()


def packed(codes: Tensor, bits: int, order: tuple[int, ...] = ()) -> Tensor:
    """Neighbours along the last axis in words, the first in the low bits; or those of `order` in turn."""
    per = 32 // bits
    apart = codes.reshape(*codes.shape[:-1], -1, per).long()
    places = order or range(per)
    words = sum(apart[..., column] << bits * i for i, column in enumerate(places))
    return torch.where(words >= 2**31, words - 2**32, words).int()


def store(form: str, module: str, weight: Tensor) -> dict[str, Tensor]:
    if form in COMPRESSED:
        return store_compressed(form, module, weight)
    bits, group, symmetric, version = (GPTQ | AWQ)[form]
    order = torch.arange(weight.shape[1])
    if form in REORDERED:
        # One order for what has one input: matrices that run together have as many columns.
        order = torch.randperm(weight.shape[1], generator=torch.Generator().manual_seed(weight.shape[1]))
    codes, scale, zero = integers(weight[:, order], bits, group, symmetric, torch.float16)
    codes = codes[:, order.argsort()]
    if form in AWQ:
        parts = {"qweight": packed(codes.T.contiguous(), bits, AWQ_ORDER), "qzeros": packed(zero.T.contiguous(), bits, AWQ_ORDER)}
    else:
        stored_zero = zero - 1 if version == "gptq" else zero
        width = group or weight.shape[1]
        parts = {
            "qweight": packed(codes, bits).T.contiguous(),
            "qzeros": packed(stored_zero.T.contiguous(), bits),
            "g_idx": (order.argsort() // width).int(),
        }
    return {f"{module}.{name}": tensor for name, tensor in {**parts, "scales": scale.T.contiguous()}.items()}


def weights_of(form: str, module: str) -> dict:
    kinds = COMPRESSED[form]
    return kinds["down"] if "down" in kinds and module.endswith("down_proj") else kinds["other"]


def scheme_of(form: str, module: str) -> QuantizationScheme:
    return QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**weights_of(form, module)))


def compressor_of(form: str):
    if form == MXFP4:
        return MXFP4PackedCompressor
    return IntQuantizationCompressor if form == "w8a8" else PackedQuantizationCompressor


def store_compressed(form: str, module: str, weight: Tensor) -> dict[str, Tensor]:
    kind = weights_of(form, module)
    if form == MXFP4:
        return store_mxfp4(module, weight)
    bits = kind["num_bits"]
    _, scale, zero = integers(weight, bits, kind.get("group_size", 0), kind["symmetric"], torch.bfloat16)
    signed = (zero - 2 ** (bits - 1)).to(torch.int8)
    state = {"weight": weight, "weight_scale": scale, "weight_zero_point": signed}
    stored = compressor_of(form).compress(state, scheme_of(form, module))
    if kind["symmetric"]:
        stored.pop("weight_zero_point", None)
    return {f"{module}.{name}": tensor for name, tensor in stored.items()}


def store_mxfp4(module: str, weight: Tensor) -> dict[str, Tensor]:
    largest = weight.view(weight.shape[0], -1, MX["group_size"]).abs().amax(2)
    scale = torch.exp2(torch.floor(torch.log2(largest)) - 2)
    stored = MXFP4PackedCompressor.compress({"weight": weight, "weight_scale": scale}, scheme_of(MXFP4, module))
    return {f"{module}.{name}": tensor for name, tensor in stored.items()}


def read(form: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What a reader sees, by the name that the reference gives the matrix."""
    marks = {MXFP4: ".weight_packed", "w4a16": ".weight_packed", "w8a8": ".weight_scale"}
    mark = marks.get(form, ".qweight")
    modules = [name.removesuffix(mark) for name in tensors if name.endswith(mark)]
    values = {n: t.float() for n, t in tensors.items() if n.rpartition(".")[0] not in modules or n.endswith(BIAS)}
    for module in modules:
        own = {n.removeprefix(module + "."): t for n, t in tensors.items() if n.startswith(module + ".") and not n.endswith(BIAS)}
        if form in COMPRESSED:
            # Products in the type of the scales would be rounded.
            exact = own if form == MXFP4 else own | {"weight_scale": own["weight_scale"].float()}
            values[module + WEIGHT] = compressor_of(form).decompress(exact, scheme_of(form, module))["weight"].float()
        else:
            values[module + WEIGHT] = torch.from_numpy(unpacked(form, {n: t.numpy() for n, t in own.items()}))
    return values


def unpacked(form: str, own: dict[str, np.ndarray]) -> np.ndarray:
    """(N, K)"""
    bits, group, _, version = (GPTQ | AWQ)[form]
    mask = 2**bits - 1

    def fields(words: np.ndarray) -> np.ndarray:
        """The fields of each word along a new last axis."""
        return np.stack([words.astype(np.uint32) >> np.uint32(bits * i) & mask for i in range(32 // bits)], -1).astype(np.int64)

    if form in AWQ:
        place = np.argsort(AWQ_ORDER)
        codes = fields(own["qweight"])[..., place].reshape(own["qweight"].shape[0], -1)
        zeros = fields(own["qzeros"])[..., place].reshape(own["qzeros"].shape[0], -1)
        of_column = np.arange(codes.shape[0]) // group
    else:
        codes = np.moveaxis(fields(own["qweight"]), -1, 1).reshape(-1, own["qweight"].shape[1])
        zeros = fields(own["qzeros"]).reshape(own["qzeros"].shape[0], -1) + (version == "gptq")
        of_column = own["g_idx"]
    return ((codes - zeros[of_column]) * own["scales"].astype(np.float32)[of_column]).T.astype(np.float32).copy()


def declared(weights: dict) -> dict:
    return {name: "torch.uint8" if value is torch.uint8 else value for name, value in weights.items()}


def quantization_config(form: str, kept: list[str]) -> dict:
    if form in AWQ:
        bits, group, *_ = AWQ[form]
        routers = any(name.endswith(".gate") for name in kept)
        return {
            "quant_method": "awq",
            "version": "gemm",
            "bits": bits,
            "group_size": group,
            "zero_point": True,
            "modules_to_not_convert": ["gate"] if routers else ["lm_head"],
        }
    if form in GPTQ:
        bits, group, symmetric, version = GPTQ[form]
        return {
            "quant_method": "gptq",
            "bits": bits,
            "group_size": group or -1,
            "sym": symmetric,
            "desc_act": form in REORDERED,
            "lm_head": False,
            "checkpoint_format": version,
            "pack_dtype": "int32",
            # Releases of mixtures say nowhere that routers are not quantized.
            "dynamic": None if symmetric and version == "gptq" else {"-:lm_head": {}},
        }
    targets = {"down": ["re:.*down_proj$"], "other": ["Linear"]}
    format_ = {MXFP4: "mxfp4-pack-quantized", "w8a8": "int-quantized"}.get(form, "pack-quantized")
    activations = {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True, "symmetric": True} if form == "w8a8" else None
    groups = {
        f"group_{i}": {"targets": targets[name], "weights": declared(weights), "input_activations": activations, "format": format_}
        for i, (name, weights) in enumerate(COMPRESSED[form].items())
    }
    return {
        "quant_method": "compressed-tensors",
        "format": format_,
        "quantization_status": "compressed",
        "config_groups": groups,
        "ignore": ["lm_head"],
    }
