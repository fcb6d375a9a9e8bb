"""Rows of values as blocks of GGUF. gguf-py only reads NVFP4 and the types of HALVES: for these, blocks are drawn at random, scaled so
that the values have the spread of the weights they stand for."""

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import NVFP4

# Where the f16 numbers of a block lie that scale it, and how many times the first one each is: minima times it stand about half
# way up the codes.
HALVES = {
    Type.Q2_K: {80: 1, 82: 1.5},
    Type.Q3_K: {108: 1},
    Type.Q4_K: {0: 1, 2: 8},
    Type.Q5_K: {0: 1, 2: 16},
    Type.Q6_K: {208: 1},
    Type.IQ4_NL: {0: 1},
    Type.IQ4_XS: {0: 1},
}
ONE_IN_E4M3 = 7 << 3


def random_blocks(kind: Type, value: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Rows of valid blocks of a type in HALVES, with values that spread about as those of `value` do."""
    columns, size = gguf.GGML_QUANT_SIZES[kind]
    count = value.size // columns
    blocks = draw.integers(0, 256, (count, size), dtype=np.uint8)

    def scale(factor: np.ndarray) -> None:
        for at, times in HALVES[kind].items():
            half = (factor.astype(np.float32) * times).astype(np.float16)
            blocks[:, at : at + 2] = half[:, None].view(np.uint8)

    # Spread of the values with d = 1: found by reading them, since d only multiplies.
    scale(np.ones(count))
    spread = gguf.dequantize(blocks, kind).std()
    scale((value.std() / spread * (0.7 + 0.6 * draw.random(count))).astype(np.float16))
    return blocks.reshape(*value.shape[:-1], value.shape[-1] // columns * size)


def nvfp4_blocks(value: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """The same of blocks of 64 columns, whose four scales are in unsigned e4m3."""
    columns, size = gguf.GGML_QUANT_SIZES[Type.NVFP4]
    count = value.size // columns
    blocks = draw.integers(0, 256, (count, size), dtype=np.uint8)
    blocks[:, :4] = ONE_IN_E4M3
    spread = gguf.dequantize(blocks, Type.NVFP4).std()
    blocks[:, :4] = NVFP4.fp32_to_ue4m3(value.std() / spread * (0.7 + 0.6 * draw.random((count, 4))))
    return blocks.reshape(*value.shape[:-1], value.shape[-1] // columns * size)


def to_stored(kind: Type, value: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    if kind == Type.NVFP4:
        return nvfp4_blocks(value, draw)
    if kind in HALVES:
        return random_blocks(kind, value, draw)
    return gguf.quantize(np.ascontiguousarray(value, np.float32), kind)
