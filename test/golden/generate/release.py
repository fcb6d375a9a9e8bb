"""A release of rank_bytes.py: its config.json, and the weight format of each of its matrices."""

import re
from dataclasses import dataclass, field


def ceil(a: int, b: int) -> int:
    return -(-a // b)


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
    def layer_norms(self) -> int:
        return 4 if self.kind.startswith("gemma") else 2

    @property
    def experts(self) -> int:
        return next((self.text[k] for k in ("num_experts", "num_local_experts", "n_routed_experts") if k in self.text), 0)

    @property
    def expert_width(self) -> int:
        return self.text["intermediate_size" if self.kind in ("mixtral", "gpt_oss") else "moe_intermediate_size"]

    @property
    def qk_norm(self) -> bool:
        return self.text.get("use_qk_norm", self.kind not in ("llama", "qwen2", "mixtral", "gemma2", "gpt_oss", "glm4_moe"))

    @property
    def biased_qkv(self) -> bool:
        """Queries, keys and values alone have biases."""
        return self.kind == "qwen2" or (self.kind != "gpt_oss" and self.text.get("attention_bias", False))

    def heads_of(self, at: str) -> tuple[int, int, bool]:
        """KV heads, features of each, and whether values are keys, of the layer whose tensors begin so."""
        t, layer = self.text, re.search(r"layers\.(\d+)\.", at)
        if self.kind == "gemma4" and self.is_global(int(layer[1])):
            return t["num_global_key_value_heads"] or t["num_key_value_heads"], t["global_head_dim"], t["attention_k_eq_v"]
        return t["num_key_value_heads"], self.head_dim, False

    def is_global(self, layer: int) -> bool:
        types = self.text.get("layer_types")
        return (layer + 1) % 6 == 0 if types is None else types[layer] == "full_attention"

    def shares_kv(self, at: str) -> bool:
        """Whether the layer whose tensors begin so reads keys and values of another."""
        layer = re.search(r"layers\.(\d+)\.", at)
        first = self.text["num_hidden_layers"] - self.text.get("num_kv_shared_layers", 0)
        return not at.startswith("mtp.") and int(layer[1]) >= first

    def ffn_of(self, at: str) -> int:
        """Width of the dense feed-forward of that layer."""
        wide = self.text.get("use_double_wide_mlp", False) and self.shares_kv(at)
        return self.text["intermediate_size"] * (2 if wide else 1)

    @property
    def layer_width(self) -> int:
        """Of the embeddings of each layer; 0: there are none."""
        return self.text.get("hidden_size_per_layer_input", 0)

    def is_dense(self, layer: int) -> bool:
        return self.experts == 0 or layer < self.text.get("first_k_dense_replace", 0)

    def is_full(self, layer: int) -> bool:
        return not self.hybrid or (layer + 1) % self.text["full_attention_interval"] == 0

    def format_of(self, module: str) -> str:
        return FORMATS[self.weights](module)


NEVER = ("embed_tokens", "embed_tokens_per_layer", "per_layer_model_projection", "per_layer_input_gate", "per_layer_projection", "lm_head", "gate", "shared_expert_gate", "in_proj_a", "in_proj_b", "in_proj_ba", "fc")


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


def nvfp4_and_fp8(module: str) -> str:
    if module.startswith("mtp.") or last(module) in NEVER:
        return "BF16"
    return "NVFP4" if "mlp" in module else "FP8 channel"


FORMATS = {
    "BF16": lambda _: "BF16",
    "F16": lambda _: "F16",
    "FP8 block": all_but("BF16", "FP8 block"),
    "FP8 tensor": all_but("BF16", "FP8 tensor"),
    "FP8 channel": all_but("BF16", "FP8 channel"),
    "NVFP4 modelopt": all_but("BF16", "NVFP4 modelopt"),
    "NVFP4": all_but("BF16", "NVFP4"),
    "GPTQ": all_but("BF16", "GPTQ"),
    "GPTQ 8 bits": all_but("BF16", "GPTQ 8 bits"),
    "GPTQ act-order": all_but("BF16", "GPTQ act-order"),
    "AWQ": all_but("BF16", "AWQ"),
    "W4A16": all_but("BF16", "W4A16"),
    "W8A8": all_but("BF16", "W8A8"),
    # Experts in four bits, the rest in BF16, as releases of large mixtures have it.
    "NVFP4 experts": lambda m: "NVFP4 modelopt" if ".experts." in m else "BF16",
    # Of Qwen3.8-27B: modelopt leaves linear attention and the layer for drafts as they are, others have attention in FP8.
    "NVFP4 and head": lambda m: "NVFP4 modelopt" if not m.startswith("mtp.") and re.search(r"mlp|self_attn|lm_head", m) else "BF16",
    "NVFP4 and FP8": nvfp4_and_fp8,
    "MXFP4 experts": lambda m: "MXFP4" if ".experts." in m else "BF16",
    "GGUF Q8_0": lambda m: "F32" if last(m) == "gate" else "Q8_0",
    "GGUF Q4_0": lambda m: {"gate": "F32", "lm_head": "Q6_K"}.get(last(m), "Q4_0"),
    "GGUF Q4_K_M": q4_k_m,
}
