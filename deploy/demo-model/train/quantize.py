"""FP8 e4m3 quantization of weight matrices in blocks of 128 x 128, each with one BF16 scale ("weight_scale_inv").

w ~ fp8 * scale. Edge blocks may be partial; a scale is the block's largest magnitude over e4m3's largest, 448.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK = 128
E4M3_MAX = 448.0


def _blocks(rows: int, columns: int) -> tuple[int, int]:
    return -(-rows // BLOCK), -(-columns // BLOCK)


def _spread(scale: Tensor, rows: int, columns: int) -> Tensor:
    """(R/128, C/128) -> (R, C), each scale repeated over its block."""
    return scale.repeat_interleave(BLOCK, 0)[:rows].repeat_interleave(BLOCK, 1)[:, :columns]


def quantize(weight: Tensor, scale_dtype: torch.dtype = torch.bfloat16) -> tuple[Tensor, Tensor]:
    """weight (R, C) -> e4m3 (R, C) and scales (ceil(R/128), ceil(C/128))."""
    rows, columns = weight.shape
    br, bc = _blocks(rows, columns)
    padded = F.pad(weight.detach().float(), (0, bc * BLOCK - columns, 0, br * BLOCK - rows))
    largest = padded.view(br, BLOCK, bc, BLOCK).abs().amax(dim=(1, 3))
    scale = (largest / E4M3_MAX).clamp_min(1e-12).to(scale_dtype)
    scaled = weight.detach().float() / _spread(scale.float(), rows, columns)
    return scaled.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn), scale


def dequantize(quantized: Tensor, scale: Tensor) -> Tensor:
    rows, columns = quantized.shape
    return quantized.float() * _spread(scale.float(), rows, columns)


def rounded(weight: Tensor) -> Tensor:
    """The value that a reader of the FP8 checkpoint sees for this weight."""
    return dequantize(*quantize(weight))


def fake_quantize(weight: Tensor) -> Tensor:
    """Forward: the quantized value. Backward: straight through."""
    return weight + (rounded(weight) - weight).detach()
