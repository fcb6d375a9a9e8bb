"""The operations of llmservice_gpu_bench, as other libraries that are installed here do them.

usage: peers.py OURS.jsonl > PEERS.jsonl

Reads the lines of section "op" and prints one of section "peer" for every library that can do the same, with the median
microseconds of a graph of calls over as many copies of weights or caches as ours had. What is not installed, and what a
library refuses, is said in lines of section "absent". Needs nothing but Python's own library to say so.
"""

import functools
import importlib
import json
import statistics
import sys

SAMPLES = 20
FLUSH_BYTES = 256 << 20


def say(**line):
    print(json.dumps(line), flush=True)


def found(name):
    """The module, or None once its absence is reported."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation is as good as none
        say(section="absent", peer=name, why=str(error).splitlines()[0])
        return None


class Clock:
    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def micros(self, calls):
        """Of one of the calls, which run one after the other as a graph."""
        torch = self.torch
        calls = list(calls)
        for call in calls[:2]:  # compiles and chooses algorithms
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        samples = []
        for i in range(SAMPLES + 2):
            self.flush.zero_()
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            if i >= 2:
                samples.append(1000 * begin.elapsed_time(end))
        return statistics.median(samples) / len(calls)


def rounds(op):
    """Copies to call upon, in their order, as often as ours were."""
    return [i % op["copies"] for i in range(-(-8 // op["copies"]) * op["copies"])]


def later(make):
    """Calls what `make` makes; an error of making comes with the first call."""
    made = functools.cache(make)
    return lambda c: made()(c)


def products(op, torch, triton_product):
    """(name, calls) of every way to do it. Activations are given as the library wants them: quantizing is not timed."""
    m, n, k = op["rows"], op["outputs"], op["cols"]
    device = {"device": "cuda"}
    if op["dtype"] == "bf16":
        weights = [torch.randn(n, k, **device, dtype=torch.bfloat16) for _ in range(op["copies"])]
        x = torch.randn(m, k, **device, dtype=torch.bfloat16)
        yield "torch matmul, bf16", lambda c: torch.matmul(x, weights[c].t())
        return
    if op["dtype"] != "e4m3":  # torch has none of GGUF's types
        return
    e4m3 = torch.float8_e4m3fn
    weights = [(torch.rand(n, k, **device) - 0.5).to(e4m3) for _ in range(op["copies"])]
    padded = -(-m // 4) * 4  # torch takes scales of rows in fours
    x = (torch.rand(padded, k, **device) - 0.5).to(e4m3)
    blocks = torch.full((n // 128, k // 128), 0.01, **device)
    groups = torch.full((k // 128, padded), 0.01, **device).t()  # (rows, k / 128), rows run fastest

    def blockwise():
        functional = torch.nn.functional
        kinds = functional.ScalingType
        return lambda c: functional.scaled_mm(
            x,
            weights[c].t(),
            scale_a=groups,
            scale_recipe_a=kinds.BlockWise1x128,
            scale_b=blocks.t(),
            scale_recipe_b=kinds.BlockWise128x128,
            output_dtype=torch.bfloat16,
        )

    def rowwise():
        ones = {"scale_a": torch.ones(padded, 1, **device), "scale_b": torch.ones(1, n, **device)}
        return lambda c: torch._scaled_mm(x, weights[c].t(), **ones, out_dtype=torch.bfloat16)

    # Made when it is called, so that a torch without it does not keep the others out.
    yield "torch scaled_mm, blocks", later(blockwise)
    yield "torch _scaled_mm, rows", later(rowwise)
    if triton_product is not None:
        row_scales = groups[:m].contiguous()
        yield "triton, blocks", lambda c: triton_product(x[:m], weights[c], row_scales, blocks)


def attention(op, torch):
    """torch's own choice of kernel, over keys and values that lie in one piece each."""
    if op["dtype"] != "bf16":
        return
    sequences, rows, context = op["sequences"], op["rows"], op["context"]
    dim = op["head_dim"]

    def random(heads, length):
        return torch.randn(sequences, heads, length, dim, device="cuda", dtype=torch.bfloat16)

    q = random(op["heads"], rows)
    caches = [(random(op["kv_heads"], context), random(op["kv_heads"], context)) for _ in range(op["copies"])]
    shared = {"enable_gqa": op["heads"] != op["kv_heads"]}
    if rows == context:
        shared["is_causal"] = True
    elif rows > 1:
        seen = torch.ones(rows, context, device="cuda", dtype=torch.bool)
        shared["attn_mask"] = seen.tril(context - rows)
    attend = torch.nn.functional.scaled_dot_product_attention
    yield "torch SDPA", lambda c: attend(q, *caches[c], **shared)


def gdn(op, torch, fla):
    """flash-linear-attention's kernels, without the convolution that ours counts."""
    if fla is None:
        return
    sequences, rows, dim = op["sequences"], op["rows"], op["dim"]

    def random(heads, *last):
        return torch.randn(sequences, rows, heads, *last, device="cuda", dtype=torch.bfloat16)

    heads = op["v_heads"]
    q, k, v = random(heads, dim), random(heads, dim), random(heads, dim)
    gate = -torch.rand(sequences, rows, heads, device="cuda")
    beta = random(heads).sigmoid()
    states = [torch.randn(sequences, heads, dim, dim, device="cuda") for _ in range(op["copies"])]
    rule = fla.chunk_gated_delta_rule if op["chunked"] else fla.fused_recurrent_gated_delta_rule
    yield "flash-linear-attention", lambda c: rule(
        q, k, v, g=gate, beta=beta, initial_state=states[c], output_final_state=True, use_qk_l2norm_in_kernel=True
    )


def main():
    with open(sys.argv[1]) as file:
        ops = [line for line in map(json.loads, file) if line.get("section") == "op"]
    torch = found("torch")
    if torch is None:
        return
    if not torch.cuda.is_available():
        say(section="absent", peer="torch", why="torch " + torch.__version__ + " sees no device")
        return
    say(section="peers", torch=torch.__version__, cuda=torch.version.cuda or torch.version.hip)
    triton_product = None
    if found("triton") is not None:
        from triton_product import block_product as triton_product
    fla = found("fla.ops.gated_delta_rule")
    found("vllm")
    clock = Clock(torch)
    refused = set()
    for op in ops:
        makers = {
            "product": lambda: products(op, torch, triton_product),
            "attention": lambda: attention(op, torch),
            "gdn": lambda: gdn(op, torch, fla),
        }
        measured = ("section", "micros", "bytes", "flops", "eight_bit")
        what = {key: value for key, value in op.items() if key not in measured}
        made = makers[op["op"]]()
        while True:
            name = op["op"]
            try:
                name, call = next(made)
                micros = clock.micros([lambda c=c: call(c) for c in rounds(op)])
                say(section="peer", peer=name, micros=micros, **what)
            except StopIteration:
                break
            except Exception as error:
                why = str(error).splitlines()[0] if str(error) else type(error).__name__
                if (name, why) not in refused:
                    refused.add((name, why))
                    say(section="absent", peer=name, why=why)


if __name__ == "__main__":
    main()
