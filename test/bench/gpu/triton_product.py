"""A product of e4m3 codes in Triton: activations (m, k) with a scale per row and 128 columns, weights (n, k) with one
per 128 x 128 block, out (m, n) in bf16. Written for the benchmark as the plain form of such a kernel."""

import torch
import triton
import triton.language as tl

BLOCK = 128  # of K, and of outputs


@triton.jit
def kernel(
    x,
    w,
    x_scales,
    w_scales,
    out,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    groups = k // BLOCK_K
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for group in range(groups):
        at = group * BLOCK_K + depth
        a = tl.load(x + row[:, None] * k + at[None, :], mask=row[:, None] < m, other=0.0)
        b = tl.load(w + col[None, :] * k + at[:, None], mask=col[None, :] < n, other=0.0)
        row_scale = tl.load(x_scales + row * groups + group, mask=row < m, other=0.0)
        block_scale = tl.load(w_scales + tl.program_id(1) * groups + group)
        total += tl.dot(a, b) * (row_scale * block_scale)[:, None]
    place = out + row[:, None] * n + col[None, :]
    tl.store(place, total.to(tl.bfloat16), mask=(row[:, None] < m) & (col[None, :] < n))


def block_product(x, w, x_scales, w_scales):
    m, k = x.shape
    n = w.shape[0]
    out = torch.empty(m, n, device=x.device, dtype=torch.bfloat16)
    block_m = min(max(triton.next_power_of_2(m), 16), 128)
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, BLOCK))
    kernel[grid](x, w, x_scales, w_scales, out, m, n, k, block_m, BLOCK, BLOCK, num_warps=8, num_stages=3)
    return out
