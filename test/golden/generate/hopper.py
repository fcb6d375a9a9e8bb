"""Products of FP8 as Hopper's matrix units add them, which cut digits where others round.

An instruction (wgmma, m64nNk32) adds 32 products and the sum so far: each of these terms is cut towards zero to 13 binary
digits after the point of the term of the largest exponent, their sum is exact, and is cut to 13 digits of its own. A
product's exponent is the sum of its factors'. Sources: MMA-Sim (arXiv 2511.10909), whose model gives an H100's bits;
DeepSeek-V3's report (arXiv 2412.19437, 3.5.2). Sums over 128 columns begin with zero and are added up in float32, times the
scales of both operands, as DeepSeek-V3's are and the engine's.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from formats import E4M3_MAX, SCALE, SCALE_INV

DIGITS, BLOCK, AT_ONCE = 13, 128, 32
SMALLEST_EXPONENT = -6  # of e4m3
NO_EXPONENT = -50  # of zero: below those of all products


@dataclass
class Fp8Matrix:
    codes: Tensor  # (N, K), the codes' values
    scales: Tensor  # (N, ceil(K / 128))

    @staticmethod
    def of(name: str, tensors: dict[str, Tensor]) -> "Fp8Matrix | None":
        """The matrix `name` (ending in .weight) if it is stored in FP8, by block, row or tensor."""
        codes = tensors.get(name)
        if codes is None or codes.dtype != torch.float8_e4m3fn or codes.ndim != 2:
            return None
        rows, columns = codes.shape
        module = name.removesuffix(".weight")
        blocks = -(-columns // BLOCK)
        scales = (tensors[module + SCALE_INV] if module + SCALE_INV in tensors else tensors[module + SCALE]).float()
        if scales.shape == (-(-rows // BLOCK), blocks):
            return Fp8Matrix(codes.float(), scales.repeat_interleave(BLOCK, 0)[:rows])
        return Fp8Matrix(codes.float(), scales.reshape(-1, 1).expand(rows, blocks))

    def times(self, x: Tensor) -> Tensor:
        """x (..., K) -> (..., N)"""
        rows = x.reshape(-1, x.shape[-1])
        out = torch.zeros(len(rows), len(self.codes))
        for i, (block, weights) in enumerate(zip(rows.split(BLOCK, 1), self.codes.split(BLOCK, 1))):
            largest = block.abs().amax(1, keepdim=True).clamp_min(1e-30)
            codes = (block * (E4M3_MAX / largest)).to(torch.float8_e4m3fn).float()
            sums = torch.zeros_like(out)
            for a, b in zip(codes.split(AT_ONCE, 1), weights.split(AT_ONCE, 1)):
                sums = added(a, b, sums)
            scale = self.scales[:, i] * (largest / E4M3_MAX)
            out = (sums.double() * scale.double() + out.double()).float()  # rounded once
        return out.reshape(*x.shape[:-1], -1)


def added(a: Tensor, b: Tensor, sums: Tensor) -> Tensor:
    """sums (T, N) + a (T, 32) · b (N, 32)ᵀ"""
    exponents = exponents_of(a)[:, None] + exponents_of(b)
    top = torch.maximum(exponents.amax(2), exponents_of(sums, NO_EXPONENT))
    digit = torch.ldexp(torch.ones_like(sums), DIGITS - top)
    cut = (a[:, None] * b * digit[..., None]).trunc().sum(2) + (sums * digit).trunc()
    below = (1 << (23 - DIGITS)) - 1
    return ((cut / digit).view(torch.int32) & ~below).view(torch.float32)


def exponents_of(values: Tensor, smallest: int = SMALLEST_EXPONENT) -> Tensor:
    exponents = torch.frexp(values).exponent - 1
    return torch.where(values == 0, NO_EXPONENT, exponents.clamp_min(smallest))
