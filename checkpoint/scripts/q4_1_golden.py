# Writes q4-1.golden.json: blocks of Q4_1, and what numpy makes of them in float32 and BF16. It knows nothing of q4-1.ts.
# usage: python3 q4_1_golden.py (needs numpy)
import json
import pathlib

import numpy as np

rng = np.random.default_rng(135)
blocks = 64
scales = (rng.standard_normal(blocks) * 0.02).astype(np.float16)
minimums = (rng.standard_normal(blocks) * 0.1).astype(np.float16)
# Subnormals, the largest and smallest, zeros of either sign, and sums whose BF16 is a tie.
scales[:8] = [6e-8, -6e-8, 65504, -65504, 0.0, -0.0, 2.0**-7, 2.0**-8]
minimums[:8] = [0.0, -0.0, 65504, -6e-8, -0.0, -0.0, 1.0, 1.0]
codes = rng.integers(0, 16, size=(blocks, 32), dtype=np.uint8)
codes[:8] = np.concatenate([np.arange(16), np.arange(16)[::-1]]).astype(np.uint8)

values = scales.astype(np.float32)[:, None] * codes.astype(np.float32) + minimums.astype(np.float32)[:, None]
bits = values.view(np.uint32).astype(np.uint64)
rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")

packed = codes[:, :16] | (codes[:, 16:] << 4)
stored = np.concatenate(
    [scales.astype("<f2")[:, None].view(np.uint8), minimums.astype("<f2")[:, None].view(np.uint8), packed], axis=1
)
golden = {"blocks": stored.tobytes().hex(), "bf16": rounded.tobytes().hex()}
pathlib.Path(__file__).with_name("q4-1.golden.json").write_text(json.dumps(golden, indent=2) + "\n")
