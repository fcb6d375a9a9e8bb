"""What a tensor-parallel rank of the CPU engine holds of a release: heads, bands and panels, as native/src/model reads them."""

from math import prod

from release import NEVER, Release, ceil, last

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
    "Q4_1": (4, 32, 4),
    "Q5_0": (4, 32, 6),
    "Q5_1": (4, 32, 8),
    "Q2_K": (2, 256, 20),
    "Q3_K": (2, 256, 50),
    "Q4_K": (4, 256, 20),
    "Q5_K": (4, 256, 52),
    "Q6_K": (4, 256, 82),
    "IQ4_NL": (4, 32, 2),
    "IQ4_XS": (4, 256, 10),
    "MXFP4": (4, 32, 1),
    # A word of scale and zero point.
    "INT4": (4, 32, 4),
    "INT8": (8, 32, 4),
}
ROW_SCALE = ("fp8 row", "int8", "nvfp4")
# Columns lie in pairs.
PAIRED = ("bfloat16", "fp8 block", "fp8 row")


def panel_bytes(cols: int, held: str) -> int:
    """One panel of 64 rows."""
    bits, unit, shared = CODES[held]
    if held in PAIRED:
        cols += cols % 2
    return 64 * (cols * bits // 8 + ceil(cols, unit) * shared + (4 if held in ROW_SCALE else 0))


class Refused(Exception):
    """The model cannot be divided among so many ranks."""


class Rank:
    """Rank `rank` of `size` of the engine, loading: every call is one that native/src/model makes."""

    def __init__(self, release: Release, rank: int, size: int):
        self.release, self.rank, self.size = release, rank, size
        self.bytes = 0
        t = release.text
        self.hidden = t["hidden_size"]
        self.q_heads = self.part(t["num_attention_heads"])
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
        if stored_as in ("GPTQ", "GPTQ act-order", "AWQ", "W4A16"):
            return "INT4"
        if stored_as == "GPTQ 8 bits":
            return "INT8"
        if stored_as == "W8A8":
            return "int8"
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
        # In the order of its groups a matrix has its columns' places beside it, and no rank has a part of them.
        if any(self.release.format_of(module) == "GPTQ act-order" for module, _ in bands):
            if split_columns and self.size > 1:
                raise Refused
            self.bytes += 4 * cols
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
        if self.release.layer_width > 0:
            parts = t["num_hidden_layers"] * self.release.layer_width
            self.pack(parts, ("embed_tokens_per_layer", self.vocab))
            self.pack(self.hidden, ("per_layer_model_projection", parts))
            self.vector(self.release.layer_width)
        for i in range(t["num_hidden_layers"]):
            self.layer(f"layers.{i}.", self.release.is_full(i), self.release.is_dense(i))
        self.vector(self.hidden)
        if not self.release.tied:
            self.pack(self.hidden, ("lm_head", self.vocab))
        if self.release.drafts:
            self.layer("mtp.layers.0.", True, self.release.experts == 0)
            self.pack(2 * self.hidden, ("mtp.fc", self.hidden), split_columns=True)
            for _ in range(3):
                self.vector(self.hidden)

    def layer(self, at: str, full: bool, dense: bool):
        for _ in range(self.release.layer_norms):
            self.vector(self.hidden)
        if full:
            self.attention(f"{at}self_attn.")
        else:
            self.gated_delta(f"{at}linear_attn.")
        if dense:
            self.feed_forward(f"{at}mlp.", self.release.ffn_of(at))
        else:
            self.mixture(f"{at}mlp.")
        if self.release.layer_width > 0:
            self.pack(self.hidden, (f"{at}per_layer_input_gate", self.release.layer_width))
            self.pack(self.release.layer_width, (f"{at}per_layer_projection", self.hidden))
            self.vector(self.hidden)

    def attention(self, at: str):
        heads, d, keys_are_values = self.release.heads_of(at)
        if heads % self.size != 0 and self.size % heads != 0:
            raise Refused
        q = self.q_heads * d * (2 if self.release.hybrid else 1)
        kv = max(1, heads // self.size) * d
        shares = self.release.shares_kv(at)
        keys = [] if shares else [(f"{at}k_proj", kv)]
        values = [] if shares or keys_are_values else [(f"{at}v_proj", kv)]
        self.pack(self.hidden, (f"{at}q_proj", q), *keys, *values)
        all_heads = self.release.text["num_attention_heads"]
        self.pack(all_heads * d, (f"{at}o_proj", self.hidden), split_columns=True)
        if self.release.biased_qkv:
            self.vector(q + 2 * kv)
        if self.release.kind == "gpt_oss":
            self.vector(q + 2 * kv)
            self.vector(self.q_heads)
            if self.rank == 0:
                self.vector(self.hidden)
        if self.release.qk_norm:
            self.vector(d)
            if not shares:
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
        if self.release.kind == "gemma4":
            self.feed_forward(at, t["intermediate_size"])
            for _ in range(4):
                self.vector(self.hidden)
            self.vector(self.release.experts)
        before = self.bytes
        self.feed_forward(f"{at}experts.0.", self.release.expert_width)
        self.bytes += (self.bytes - before) * (self.release.experts - 1)
        if self.release.kind == "gpt_oss":
            self.vector(self.release.experts)
            self.vector(self.release.experts, 2 * self.part(self.release.expert_width))
            if self.rank == 0:
                self.vector(self.release.experts, self.hidden)
        if self.release.kind == "glm4_moe":
            self.vector(self.release.experts)
            self.feed_forward(f"{at}shared_experts.", t["n_shared_experts"] * self.release.expert_width)
        shared = t.get("shared_expert_intermediate_size", 0)
        if shared > 0:
            self.feed_forward(f"{at}shared_expert.", shared)
            self.pack(self.hidden, (f"{at}shared_expert_gate", 1))
