"""MXFP4 as gpt-oss stores its experts: 32 columns share a power of two, two E2M1 codes a byte, the lower column in the low nibble.

Quantizing is numpy from the definition (OCP Microscaling, version 1.0); reading is transformers' own, so that they share no code.
"""

import numpy as np
import torch
from torch import Tensor
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], np.float32)
BLOCK, BIAS, LARGEST_EXPONENT = 32, 127, 2
BLOCKS, SCALES = "_blocks", "_scales"


def store(name: str, weight: Tensor) -> dict[str, Tensor]:
    """Experts (E, columns, rows), as the reference has them, to blocks (E, rows, columns / 32, 16) and scales (E, rows, columns / 32)."""
    values = weight.transpose(1, 2).numpy()
    blocks = values.reshape(*values.shape[:2], -1, BLOCK)
    exponents = np.floor(np.log2(np.abs(blocks).max(-1))).astype(np.int32) - LARGEST_EXPONENT
    scaled = blocks / np.exp2(exponents.astype(np.float32))[..., None]
    nearest = np.abs(np.abs(scaled)[..., None] - E2M1).argmin(-1)
    codes = (nearest + 8 * (scaled < 0)).astype(np.uint8)
    packed = torch.from_numpy(np.ascontiguousarray(codes[..., 0::2] | codes[..., 1::2] << 4))
    return {name + BLOCKS: packed, name + SCALES: torch.from_numpy(np.ascontiguousarray((exponents + BIAS).astype(np.uint8)))}


def values(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What transformers reads, in fp32."""
    read = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALES):
            continue
        module = name.removesuffix(BLOCKS)
        if module == name:
            read[name] = tensor.float()
        else:
            read[module] = convert_moe_packed_tensors(tensor, tensors[module + SCALES], dtype=torch.float32)
    return read


def check(weight: Tensor, read: Tensor) -> None:
    """It must come back near what it was."""
    error = ((read - weight).norm() / weight.norm()).item()
    if not error < 0.15:
        raise ValueError(f"as MXFP4 it comes back with a relative error of {error:.3f}")
