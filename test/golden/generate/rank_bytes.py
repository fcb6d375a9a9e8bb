"""Writes test/golden/rank-bytes.json: what each tensor-parallel rank of the CPU engine holds of checkpoints of real shapes.

Usage: python generate/rank_bytes.py   (needs nothing beside Python; reads nothing, writes headers' contents and numbers)

Two descriptions of each checkpoint that share only its config.json: `stored` lists the tensors as the release has them, and
`Rank` walks the layers as native/src/model reads them (heads, bands, panels). crds' planner knows the first alone.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

OUT = Path(__file__).parent.parent / "rank-bytes.json"
MOST_RANKS = 64


class Refused(Exception):
    """The model cannot be divided among so many ranks."""


def ceil(a: int, b: int) -> int:
    return -(-a // b)


# ---- what a release is ----------------------------------------------------------------------------------------------


@dataclass
class Release:
    name: str
    config: dict  # config.json
    weights: str  # a key of FORMATS
    parameters: int | None = None  # as published with the release; None where it says none
    also: tuple[str, ...] = ()  # "lm_head": stored though tied; "vision"; "stacked": experts in one tensor; "mtp"
    dtype: str = "auto"
    at_load: str = "none"
    drafts: bool = False
    text: dict = field(init=False)

    def __post_init__(self):
        self.text = self.config.get("text_config", self.config)

    @property
    def kind(self) -> str:
        return self.config["model_type"].removesuffix("_text")

    @property
    def hybrid(self) -> bool:
        return self.kind in ("qwen3_5", "qwen3_5_moe", "qwen3_next")

    @property
    def tied(self) -> bool:
        return self.config.get("tie_word_embeddings", False)

    @property
    def head_dim(self) -> int:
        return self.text.get("head_dim", self.text["hidden_size"] // self.text["num_attention_heads"])

    @property
    def experts(self) -> int:
        return self.text.get("num_experts", 0)

    def is_full(self, layer: int) -> bool:
        return not self.hybrid or (layer + 1) % self.text["full_attention_interval"] == 0

    def format_of(self, module: str) -> str:
        return FORMATS[self.weights](module)


NEVER = ("embed_tokens", "lm_head", "gate", "shared_expert_gate", "in_proj_a", "in_proj_b", "in_proj_ba", "fc")


def last(module: str) -> str:
    return module.rsplit(".", 1)[-1]


def all_but(kept: str, quantized: str, *unquantized: str):
    return lambda module: kept if last(module) in NEVER + unquantized else quantized


def q4_k_m(module: str) -> str:
    """As llama.cpp mixes: v and down in Q6_K here and there; every other layer here."""
    if last(module) in ("embed_tokens", "gate"):
        return {"embed_tokens": "Q4_K", "gate": "F32"}[last(module)]
    if last(module) == "lm_head":
        return "Q6_K"
    layer = int(re.search(r"layers\.(\d+)", module)[1])
    return "Q6_K" if last(module) in ("v_proj", "down_proj") and layer % 2 == 0 else "Q4_K"


FORMATS = {
    "BF16": lambda _: "BF16",
    "F16": lambda _: "F16",
    "FP8 block": all_but("BF16", "FP8 block"),
    "FP8 tensor": all_but("BF16", "FP8 tensor"),
    "FP8 channel": all_but("BF16", "FP8 channel"),
    "NVFP4 modelopt": all_but("BF16", "NVFP4 modelopt"),
    "NVFP4": all_but("BF16", "NVFP4"),
    # Experts in four bits, the rest in BF16, as releases of large mixtures have it.
    "NVFP4 experts": lambda m: "NVFP4 modelopt" if ".experts." in m else "BF16",
    "GGUF Q8_0": lambda m: "F32" if last(m) == "gate" else "Q8_0",
    "GGUF Q4_0": lambda m: {"gate": "F32", "lm_head": "Q6_K"}.get(last(m), "Q4_0"),
    "GGUF Q4_K_M": q4_k_m,
}

# ---- what the files hold --------------------------------------------------------------------------------------------


def matrix(release: Release, module: str, rows: int, cols: int):
    """The tensors of one matrix as the format's tools write them."""
    match release.format_of(module):
        case "FP8 block":
            yield f"{module}.weight", "F8_E4M3", [rows, cols]
            yield f"{module}.weight_scale_inv", "BF16", [ceil(rows, 128), ceil(cols, 128)]
        case "FP8 tensor":
            yield f"{module}.weight", "F8_E4M3", [rows, cols]
            yield f"{module}.weight_scale", "F32", []
            yield f"{module}.input_scale", "F32", []
        case "FP8 channel":
            yield f"{module}.weight", "F8_E4M3", [rows, cols]
            yield f"{module}.weight_scale", "BF16", [rows, 1]
        case "NVFP4 modelopt":
            yield f"{module}.weight", "U8", [rows, cols // 2]
            yield f"{module}.weight_scale", "F8_E4M3", [rows, cols // 16]
            yield f"{module}.weight_scale_2", "F32", []
            yield f"{module}.input_scale", "F32", []
        case "NVFP4":
            yield f"{module}.weight_packed", "U8", [rows, cols // 2]
            yield f"{module}.weight_scale", "F8_E4M3", [rows, cols // 16]
            yield f"{module}.weight_global_scale", "F32", [1]
            yield f"{module}.input_global_scale", "F32", [1]
        case plain:
            yield f"{module}.weight", plain, [rows, cols]


def stored(release: Release):
    t, d = release.text, release.head_dim
    h, plain = t["hidden_size"], "F16" if release.weights == "F16" else "BF16"
    prefix = "model.language_model." if "vision" in release.also else "model."
    yield from matrix(release, f"{prefix}embed_tokens", t["vocab_size"], h)
    for i in range(t["num_hidden_layers"]):
        yield from stored_layer(release, f"{prefix}layers.{i}.", release.is_full(i), plain)
    yield f"{prefix}norm.weight", plain, [h]
    if not release.tied or "lm_head" in release.also:
        yield from matrix(release, "lm_head", t["vocab_size"], h)
    if "vision" in release.also:
        yield "model.visual.patch_embed.proj.weight", plain, [1152, 3, 2, 16, 16]
        yield "model.visual.blocks.0.attn.qkv.weight", plain, [3456, 1152]
    if "mtp" in release.also:
        yield from matrix(release, "mtp.fc", h, 2 * h)
        for name in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"):
            yield f"mtp.{name}.weight", plain, [h]
        yield from stored_layer(release, "mtp.layers.0.", True, plain)


def stored_layer(release: Release, at: str, full: bool, plain: str):
    t, d = release.text, release.head_dim
    h = t["hidden_size"]
    for name in ("input_layernorm", "post_attention_layernorm"):
        yield f"{at}{name}.weight", plain, [h]
    if full:
        q = t["num_attention_heads"] * d
        kv = t["num_key_value_heads"] * d
        attn = f"{at}self_attn."
        yield from matrix(release, f"{attn}q_proj", q * (2 if release.hybrid else 1), h)
        yield from matrix(release, f"{attn}k_proj", kv, h)
        yield from matrix(release, f"{attn}v_proj", kv, h)
        yield from matrix(release, f"{attn}o_proj", h, q)
        if release.kind != "llama":
            yield f"{attn}q_norm.weight", plain, [d]
            yield f"{attn}k_norm.weight", plain, [d]
    else:
        keys = t["linear_num_key_heads"] * t["linear_key_head_dim"]
        heads = t["linear_num_value_heads"]
        values = heads * t["linear_value_head_dim"]
        gdn = f"{at}linear_attn."
        if release.kind == "qwen3_next":
            yield from matrix(release, f"{gdn}in_proj_qkvz", 2 * keys + 2 * values, h)
            yield from matrix(release, f"{gdn}in_proj_ba", 2 * heads, h)
        else:
            yield from matrix(release, f"{gdn}in_proj_qkv", 2 * keys + values, h)
            yield from matrix(release, f"{gdn}in_proj_z", values, h)
            yield from matrix(release, f"{gdn}in_proj_b", heads, h)
            yield from matrix(release, f"{gdn}in_proj_a", heads, h)
        yield f"{gdn}conv1d.weight", plain, [2 * keys + values, 1, t["linear_conv_kernel_dim"]]
        yield f"{gdn}A_log", "F32", [heads]
        yield f"{gdn}dt_bias", plain, [heads]
        yield f"{gdn}norm.weight", "F32", [t["linear_value_head_dim"]]
        yield from matrix(release, f"{gdn}out_proj", h, values)
    mlp = f"{at}mlp."
    if release.experts == 0:
        yield from stored_mlp(release, mlp, t["intermediate_size"], h)
        return
    width = t["moe_intermediate_size"]
    yield from matrix(release, f"{mlp}gate", release.experts, h)
    if "stacked" in release.also:
        yield f"{mlp}experts.gate_up_proj", plain, [release.experts, 2 * width, h]
        yield f"{mlp}experts.down_proj", plain, [release.experts, h, width]
    else:
        for e in range(release.experts):
            yield from stored_mlp(release, f"{mlp}experts.{e}.", width, h)
    shared = t.get("shared_expert_intermediate_size", 0)
    if shared > 0:
        yield from stored_mlp(release, f"{mlp}shared_expert.", shared, h)
        yield from matrix(release, f"{mlp}shared_expert_gate", 1, h)


def stored_mlp(release: Release, at: str, width: int, h: int):
    yield from matrix(release, f"{at}gate_proj", width, h)
    yield from matrix(release, f"{at}up_proj", width, h)
    yield from matrix(release, f"{at}down_proj", h, width)


# ---- what a rank of the engine holds ---------------------------------------------------------------------------------

# Bits of one column's code, columns that share something, and bytes of what they share per row, beside float scales.
CODES = {
    "float32": (32, 1, 0),
    "bfloat16": (16, 1, 0),
    "float16": (16, 1, 0),
    "fp8 block": (8, 128, 4),
    "fp8 row": (8, 1, 0),
    "int8": (8, 1, 0),
    "nvfp4": (4, 16, 1),
    "Q8_0": (8, 32, 2),
    "Q4_0": (4, 32, 2),
    "Q4_K": (4, 256, 20),
    "Q6_K": (4, 256, 82),
}
ROW_SCALE = ("fp8 row", "int8", "nvfp4")


def panel_bytes(cols: int, held: str) -> int:
    """One panel of 64 rows."""
    bits, unit, shared = CODES[held]
    return 64 * (cols * bits // 8 + ceil(cols, unit) * shared + (4 if held in ROW_SCALE else 0))


class Rank:
    """Rank `rank` of `size` of the engine, loading: every call is one that native/src/model makes."""

    def __init__(self, release: Release, rank: int, size: int):
        self.release, self.rank, self.size = release, rank, size
        self.bytes = 0
        t = release.text
        self.hidden = t["hidden_size"]
        self.q_heads = self.part(t["num_attention_heads"])
        kv = t["num_key_value_heads"]
        if kv % size != 0 and size % kv != 0:
            raise Refused
        self.kv_heads = max(1, kv // size)
        begin = t["vocab_size"] * rank // size
        self.vocab = t["vocab_size"] * (rank + 1) // size - begin
        if release.weights.startswith("GGUF") and release.hybrid and size > 1:
            raise Refused
        self.load()

    def part(self, total: int) -> int:
        if total % self.size != 0:
            raise Refused
        return total // self.size

    def held(self, module: str) -> str:
        release = self.release
        stored_as = release.format_of(module)
        if stored_as in CODES:
            return stored_as
        if stored_as == "FP8 block":
            return "fp8 block"
        if stored_as in ("FP8 tensor", "FP8 channel"):
            return "fp8 row"
        if stored_as.startswith("NVFP4"):
            return "nvfp4"
        unquantized = release.weights in ("BF16", "F16")
        if release.at_load != "none" and unquantized and last(module) not in NEVER:
            return {"fp8": "fp8 block", "int8": "int8"}[release.at_load]
        if release.dtype == "float32":
            return "float32"
        return "float16" if stored_as == "F16" else "bfloat16"

    def pack(self, cols: int, *bands: tuple[str, int], split_columns: bool = False):
        """One matrix of bands (module, rows); a new run of panels wherever the type changes."""
        if split_columns:
            unit = max(CODES[self.held(module)][1] for module, _ in bands)
            cols = self.part(cols)
            if self.size > 1 and cols % unit != 0:
                raise Refused
        rows, before = 0, None
        for module, count in bands:
            held = self.held(module)
            if before not in (None, held):
                self.bytes += ceil(rows, 64) * panel_bytes(cols, before)
                rows = 0
            rows, before = rows + count, held
        self.bytes += ceil(rows, 64) * panel_bytes(cols, before)

    def vector(self, *sides: int):
        self.bytes += 4 * prod(sides)

    def load(self):
        t = self.release.text
        self.pack(self.hidden, ("embed_tokens", self.vocab))
        for i in range(t["num_hidden_layers"]):
            self.layer(f"layers.{i}.", self.release.is_full(i))
        self.vector(self.hidden)
        if not self.release.tied:
            self.pack(self.hidden, ("lm_head", self.vocab))
        if self.release.drafts:
            self.layer("mtp.layers.0.", True)
            self.pack(2 * self.hidden, ("mtp.fc", self.hidden), split_columns=True)
            for _ in range(3):
                self.vector(self.hidden)

    def layer(self, at: str, full: bool):
        self.vector(self.hidden)
        self.vector(self.hidden)
        if full:
            self.attention(f"{at}self_attn.")
        else:
            self.gated_delta(f"{at}linear_attn.")
        if self.release.experts > 0:
            self.mixture(f"{at}mlp.")
        else:
            self.feed_forward(f"{at}mlp.", self.release.text["intermediate_size"])

    def attention(self, at: str):
        d = self.release.head_dim
        q = self.q_heads * d * (2 if self.release.hybrid else 1)
        kv = self.kv_heads * d
        self.pack(self.hidden, (f"{at}q_proj", q), (f"{at}k_proj", kv), (f"{at}v_proj", kv))
        all_heads = self.release.text["num_attention_heads"]
        self.pack(all_heads * d, (f"{at}o_proj", self.hidden), split_columns=True)
        if self.release.kind != "llama":
            self.vector(d)
            self.vector(d)

    def gated_delta(self, at: str):
        t = self.release.text
        keys = self.part(t["linear_num_key_heads"]) * t["linear_key_head_dim"]
        heads = self.part(t["linear_num_value_heads"])
        values = heads * t["linear_value_head_dim"]
        if self.release.kind == "qwen3_next":
            self.pack(self.hidden, (f"{at}in_proj_qkvz", 2 * keys + 2 * values))
            self.pack(self.hidden, (f"{at}in_proj_ba", 2 * heads))
        else:
            self.pack(self.hidden, (f"{at}in_proj_qkv", 2 * keys + values), (f"{at}in_proj_z", values))
            self.pack(self.hidden, (f"{at}in_proj_b", heads), (f"{at}in_proj_a", heads))
        self.vector(2 * keys + values, t["linear_conv_kernel_dim"])
        self.vector(heads)
        self.vector(heads)
        self.vector(t["linear_value_head_dim"])
        all_values = t["linear_num_value_heads"] * t["linear_value_head_dim"]
        self.pack(all_values, (f"{at}out_proj", self.hidden), split_columns=True)

    def feed_forward(self, at: str, width: int):
        own = self.part(width)
        self.pack(self.hidden, (f"{at}gate_proj", own), (f"{at}up_proj", own))
        self.pack(width, (f"{at}down_proj", self.hidden), split_columns=True)

    def mixture(self, at: str):
        t = self.release.text
        self.pack(self.hidden, (f"{at}gate", self.release.experts))
        before = self.bytes
        self.feed_forward(f"{at}experts.0.", t["moe_intermediate_size"])
        self.bytes += (self.bytes - before) * (self.release.experts - 1)
        shared = t.get("shared_expert_intermediate_size", 0)
        if shared > 0:
            self.feed_forward(f"{at}shared_expert.", shared)
            self.pack(self.hidden, (f"{at}shared_expert_gate", 1))


# ---- the releases ----------------------------------------------------------------------------------------------------


def quantization(weights: str) -> dict:
    fp8 = {"num_bits": 8, "type": "float", "symmetric": True}
    group = lambda weights: {"config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}
    configs = {
        "FP8 block": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
        "FP8 tensor": {"quant_method": "modelopt", "quant_algo": "FP8"},
        "FP8 channel": {"quant_method": "compressed-tensors", **group({**fp8, "strategy": "channel"})},
        "NVFP4 modelopt": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        "NVFP4 experts": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        "NVFP4": {
            "quant_method": "compressed-tensors",
            **group({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}),
        },
    }
    return {"quantization_config": configs[weights]} if weights in configs else {}


def sizes(layers, hidden, heads, kv, ffn, vocab, positions, **more) -> dict:
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        **({} if ffn is None else {"intermediate_size": ffn}),
        "vocab_size": vocab,
        "max_position_embeddings": positions,
        **more,
    }


def llama(name, weights, parameters, *shape, vocab=128256, positions=131072, tied=False, head_dim=None, **how):
    dim = {} if head_dim is None else {"head_dim": head_dim}
    text = sizes(*shape, vocab, positions, tie_word_embeddings=tied, **dim)
    return Release(name, {"model_type": "llama", **text, **quantization(weights)}, weights, parameters, **how)


def qwen3(name, weights, parameters, *shape, tied=False, **how):
    text = sizes(*shape, 151936, 40960, head_dim=128, tie_word_embeddings=tied)
    return Release(name, {"model_type": "qwen3", **text, **quantization(weights)}, weights, parameters, **how)


def qwen3_moe(name, weights, parameters, layers, hidden, heads, kv, ffn, experts, width, **how):
    moe = {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": width}
    text = sizes(layers, hidden, heads, kv, ffn, 151936, 262144, head_dim=128, decoder_sparse_step=1, **moe)
    config = {"model_type": "qwen3_moe", **text, "mlp_only_layers": [], **quantization(weights)}
    return Release(name, config, weights, parameters, **how)


def gdn(key_heads, value_heads):
    return {
        "full_attention_interval": 4,
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": value_heads,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    }


def qwen3_next(name, weights, parameters, **how):
    moe = {"num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512}
    shared = {"shared_expert_intermediate_size": 512, "decoder_sparse_step": 1, "mlp_only_layers": []}
    text = sizes(48, 2048, 16, 2, 5120, 151936, 262144, head_dim=256, **moe, **shared, **gdn(16, 32))
    config = {"model_type": "qwen3_next", **text, **quantization(weights)}
    return Release(name, config, weights, parameters, also=("mtp",), **how)


def qwen3_5(name, weights, layers, hidden, heads, kv, ffn, value_heads, tied=False, also=("vision", "mtp"), **how):
    text = sizes(layers, hidden, heads, kv, ffn, 248320, 262144, head_dim=256, **gdn(16, value_heads))
    config = {"model_type": "qwen3_5", "tie_word_embeddings": tied, "text_config": text, **quantization(weights)}
    return Release(name, config, weights, also=also, **how)


def qwen3_5_moe(name, weights, layers, hidden, heads, experts, width, value_heads, also=("vision", "mtp"), **how):
    moe = {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": width}
    shared = {"shared_expert_intermediate_size": width}
    text = sizes(layers, hidden, heads, 2, None, 248320, 262144, head_dim=256, **moe, **shared, **gdn(16, value_heads))
    config = {"model_type": "qwen3_5_moe", "text_config": text, **quantization(weights)}
    return Release(name, config, weights, also=also, **how)


L8, L70, L405 = (32, 4096, 32, 8, 14336), (80, 8192, 64, 8, 28672), (126, 16384, 128, 8, 53248)
Q8, Q14, Q32 = (36, 4096, 32, 8, 12288), (40, 5120, 40, 8, 17408), (64, 5120, 64, 8, 25600)
Q30A3, Q235 = (48, 2048, 32, 4, 6144, 128, 768), (94, 4096, 64, 4, 12288, 128, 1536)
Q480 = (62, 6144, 96, 8, 8192, 160, 2560)
Q27 = (64, 5120, 24, 4, 17408, 48)
Q35A3, Q122, Q397 = (40, 2048, 16, 256, 512, 32), (48, 3072, 32, 256, 1024, 64), (60, 4096, 32, 512, 1024, 64)

RELEASES = [
    qwen3("Qwen3-0.6B", "BF16", 751_632_384, 28, 1024, 16, 8, 3072, tied=True, also=("lm_head",)),
    qwen3("Qwen3-1.7B", "BF16", 2_031_739_904, 28, 2048, 16, 8, 6144, tied=True, also=("lm_head",), dtype="float32"),
    qwen3("Qwen3-4B", "BF16", 4_022_468_096, 36, 2560, 32, 8, 9728, tied=True, at_load="fp8"),
    qwen3("Qwen3-8B-FP8", "FP8 block", None, *Q8),
    qwen3("Qwen3-14B", "BF16", 14_768_307_200, *Q14),
    qwen3("Qwen3-14B, INT8 at load", "BF16", 14_768_307_200, *Q14, at_load="int8"),
    qwen3("Qwen3-32B", "BF16", 32_762_123_264, *Q32),
    qwen3("Qwen3-32B-FP8", "FP8 block", None, *Q32),
    qwen3("Qwen3-32B-NVFP4", "NVFP4", None, *Q32),
    qwen3("Qwen3-8B Q8_0", "GGUF Q8_0", 8_190_735_360, *Q8),
    qwen3("Qwen3-32B Q4_0", "GGUF Q4_0", 32_762_123_264, *Q32),
    llama("Llama-3.2-1B", "BF16", 1_235_814_400, 16, 2048, 32, 8, 8192, tied=True, head_dim=64),
    llama("Llama-7B with a token more", "F16", 6_738_423_808, 32, 4096, 32, 32, 11008, vocab=32001, positions=2048),
    llama("Llama-3.1-8B", "BF16", 8_030_261_248, *L8),
    llama("Llama-3.1-8B NVFP4", "NVFP4 modelopt", None, *L8),
    llama("Llama-3.1-8B Q4_K_M", "GGUF Q4_K_M", 8_030_261_248, *L8),
    llama("Llama-3.1-70B", "BF16", 70_553_706_496, *L70),
    llama("Llama-3.3-70B FP8", "FP8 tensor", None, *L70),
    llama("Llama-3.1-405B", "BF16", 405_853_388_800, *L405),
    llama("Llama-3.1-405B FP8 dynamic", "FP8 channel", None, *L405),
    qwen3_moe("Qwen3-30B-A3B", "BF16", 30_532_122_624, *Q30A3),
    qwen3_moe("Qwen3-30B-A3B-FP8", "FP8 block", None, *Q30A3),
    qwen3_moe("Qwen3-235B-A22B", "BF16", 235_093_634_560, *Q235),
    qwen3_moe("Qwen3-235B-A22B NVFP4", "NVFP4 modelopt", None, *Q235),
    qwen3_moe("Qwen3-Coder-480B-A35B", "BF16", 480_154_875_392, *Q480),
    qwen3_moe("Qwen3-Coder-480B-A35B-FP8", "FP8 block", None, *Q480),
    qwen3_next("Qwen3-Next-80B-A3B", "BF16", 81_324_862_720, drafts=True),
    qwen3_next("Qwen3-Next-80B-A3B-FP8", "FP8 block", None),
    qwen3_5("Qwen3.5-9B", "BF16", 32, 4096, 16, 4, 12288, 32, drafts=True),
    qwen3_5("Qwen3.6-27B", "BF16", *Q27),
    qwen3_5("Qwen3.6-27B-FP8", "FP8 block", *Q27),
    qwen3_5("Qwen3.6-27B-FP8 with drafts", "FP8 block", *Q27, drafts=True),
    qwen3_5("Qwen3.6-27B FP8 dynamic", "FP8 channel", *Q27, also=("vision",)),
    qwen3_5_moe("Qwen3.5-35B-A3B", "BF16", *Q35A3, also=("vision", "mtp", "stacked"), drafts=True),
    qwen3_5_moe("Qwen3.5-122B-A10B-FP8", "FP8 block", *Q122),
    qwen3_5_moe("Qwen3.5-397B-A17B NVFP4", "NVFP4 experts", *Q397),
]

# ---- the file --------------------------------------------------------------------------------------------------------


def ranges(numbers) -> str:
    """ "0-2,4-6" """
    runs = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(f"{a}-{b}" for a, b in runs)


def folded(tensors) -> list:
    """[name with {layer} and {expert}, dtype, shape, layers, experts] for all tensors that differ by these two alone."""
    groups = {}
    for name, dtype, shape in tensors:
        layer = re.search(r"layers\.(\d+)\.", name) if not name.startswith("mtp.") else None
        expert = re.search(r"experts\.(\d+)\.", name)
        pattern = name
        if layer:
            pattern = pattern.replace(layer[0], "layers.{layer}.", 1)
        if expert:
            pattern = pattern.replace(expert[0], "experts.{expert}.", 1)
        _, _, _, layers, experts = groups.setdefault(
            (pattern, dtype, tuple(shape)), (pattern, dtype, shape, set(), set())
        )
        layers.update([int(layer[1])] if layer else [])
        experts.update([int(expert[1])] if expert else [])
    return [[p, dtype, shape, ranges(ls), ranges(es)] for p, dtype, shape, ls, es in groups.values()]


def digest(tensors) -> str:
    lines = sorted(f"{name} {dtype} {','.join(map(str, shape))}" for name, dtype, shape in tensors)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def parameters(tensors) -> int:
    scale = re.compile(r"scale(_inv|_2)?$")
    return sum(prod(shape) for name, _, shape in tensors if not scale.search(name) and ".visual." not in name)


def by_ranks(release: Release) -> dict:
    found = {}
    for size in range(1, MOST_RANKS + 1):
        try:
            found[size] = [Rank(release, rank, size).bytes for rank in range(size)]
        except Refused:
            continue
    # Most ranks hold the same; where not, every rank is listed.
    return {size: rows if len(set(rows)) > 1 else rows[0] for size, rows in found.items()}


def entry(release: Release) -> dict:
    tensors = list(stored(release))
    if release.parameters is not None and parameters(tensors) != release.parameters:
        raise SystemExit(f"{release.name}: {parameters(tensors)} parameters, published {release.parameters}")
    return {
        "name": release.name,
        "weights": release.weights,
        "options": {"dtype": release.dtype, "quantization": release.at_load, "drafts": release.drafts},
        "config": release.config,
        "tensors": folded(tensors),
        "digest": digest(tensors),
        "bytesByRanks": by_ranks(release),
    }


if __name__ == "__main__":
    lines = [json.dumps(entry(release), separators=(",", ":")) for release in RELEASES]
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} checkpoints, {OUT.stat().st_size} bytes")
