"""Random weights by tensor name, scaled so that logits spread (standard deviation about 3) and states live long.

Half of the Gated DeltaNet heads keep 0.9 to 0.999 of their state per step; the other half forget at once, as the
architecture's default initialisation does.
"""

import math
import re

import torch
from torch import Tensor

LOGIT_SPREAD = 3.0
# Layers must outweigh the embedding in the residual stream, or a tied model only repeats its input.
RESIDUAL_GAIN = 3.0
# What is the embedding where these are tied: of models that generate, and of the masked language modeling of ModernBERT.
TIED = ("lm_head.weight", "decoder.weight")
# Rounding (of a bfloat16 KV cache) changes the choice of an expert where two are close. Logits of the router that
# differ, and experts that weigh less than the rest, make this rare and small; a seed that still meets it is replaced.
ROUTER_GAIN = 4.0
EXPERT_GAIN = 1.5
ROUTER_SCALE = 0.7
# Kept at full precision by the releases; everything else that is not FP8 is BF16.
F32_SUFFIXES = ("A_log", "linear_attn.norm.weight", "e_score_correction_bias")


def random_weight(name: str, shape: torch.Size, draw: torch.Generator, zero_centred: bool) -> Tensor:
    """zero_centred: the model's RMSNorms scale by 1 + w (qwen3_next, gemma; qwen3_5's text part and MTP layer)."""
    noise = torch.randn(shape, generator=draw)
    if name.endswith("A_log"):
        return torch.where(slow_heads(shape[0]), torch.zeros(shape), torch.log(torch.rand(shape, generator=draw) * 15 + 1))
    if name.endswith("dt_bias"):
        step = torch.exp(torch.linspace(math.log(1e-3), math.log(0.1), shape[0]))  # 1 - decay, for A = 1
        return torch.where(slow_heads(shape[0]), torch.log(torch.expm1(step)), torch.ones(shape))
    if name.endswith("in_proj_a.weight"):
        return noise * 0.3 / shape[1] ** 0.5
    if name.endswith("linear_attn.norm.weight") or (is_norm(name) and not zero_centred):
        return 1 + 0.2 * noise
    if name.endswith(("bias", "pos_embed.weight")) or is_norm(name):
        return 0.2 * noise
    if name.endswith(".sinks"):
        return 2 * noise
    if name.endswith((".layer_scalar", "router.scale", "router.per_expert_scale")):
        return ROUTER_SCALE + 0.2 * noise
    if name.endswith((".experts.gate_up_proj", ".experts.down_proj")):  # of gpt_oss, (E, columns, rows)
        return (EXPERT_GAIN if name.endswith("down_proj") else 1.0) * noise / shape[1] ** 0.5
    if name.endswith("conv1d.weight"):
        return 0.5 * noise
    if name.endswith(("embed_tokens.weight", "tok_embeddings.weight", "lm_head.weight")):
        return noise * LOGIT_SPREAD / shape[1] ** 0.5
    if name.endswith(("mlp.gate.weight", "mlp.router.weight")):
        return ROUTER_GAIN * noise / shape[1] ** 0.5
    if name.endswith("router.proj.weight"):  # what it reads is divided by the root of the width
        return ROUTER_GAIN / ROUTER_SCALE * noise
    gain = RESIDUAL_GAIN if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight", ".Wo.weight")) else 1.0
    if ".experts." in name and gain > 1:
        gain = EXPERT_GAIN
    return gain * noise / math.prod(shape[1:]) ** 0.5


def slow_heads(heads: int) -> Tensor:
    return torch.arange(heads) % 2 == 0


def of_tower(name: str) -> bool:
    """Of what multimodal releases have for images."""
    return any(part in name for part in ("visual.", "vision_tower.", "multi_modal_projector.", "embed_vision."))


def is_norm(name: str) -> bool:
    return "norm" in name.split(".")[-2] and name.endswith("weight")


def is_fp8(name: str, shape: torch.Size) -> bool:
    """Which matrices FP8 releases quantize: the large projections of the text layers and of the MTP layer."""
    kept = ("in_proj_a", "in_proj_b")
    projection = name.endswith("_proj.weight") or "in_proj_" in name
    return len(shape) == 2 and projection and not of_tower(name) and not any(part in name for part in kept)


def stored_dtype(name: str) -> torch.dtype:
    return torch.float32 if name.endswith(F32_SUFFIXES) else torch.bfloat16


def mtp_shapes(text: dict) -> dict[str, torch.Size]:
    """The MTP layer: fc over cat[embedding, hidden], one full-attention layer, norms. Experts where the model has them."""
    hidden, width = text["hidden_size"], text["head_dim"]
    heads, kv_heads = text["num_attention_heads"], text["num_key_value_heads"]
    layer = {
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
        "self_attn.q_proj": (2 * heads * width, hidden),
        "self_attn.k_proj": (kv_heads * width, hidden),
        "self_attn.v_proj": (kv_heads * width, hidden),
        "self_attn.o_proj": (hidden, heads * width),
        "self_attn.q_norm": (width,),
        "self_attn.k_norm": (width,),
    }
    if "num_experts" in text:
        layer["mlp.gate"] = (text["num_experts"], hidden)
        for expert in range(text["num_experts"]):
            layer |= mlp_shapes(f"mlp.experts.{expert}.", hidden, text["moe_intermediate_size"])
        layer |= mlp_shapes("mlp.shared_expert.", hidden, text["shared_expert_intermediate_size"])
        layer["mlp.shared_expert_gate"] = (1, hidden)
    else:
        layer |= mlp_shapes("mlp.", hidden, text["intermediate_size"])
    head = {"fc": (hidden, 2 * hidden), "norm": (hidden,), "pre_fc_norm_embedding": (hidden,), "pre_fc_norm_hidden": (hidden,)}
    names = {f"mtp.{n}.weight": s for n, s in head.items()} | {f"mtp.layers.0.{n}.weight": s for n, s in layer.items()}
    return {name: torch.Size(shape) for name, shape in names.items()}


def glm_mtp_shapes(config: dict) -> dict[str, torch.Size]:
    """The same as GLM has it, behind the last layer, where readers of the text model skip it: of its own tensors alone."""
    hidden, at = config["hidden_size"], f"model.layers.{config['num_hidden_layers']}."
    own = {"eh_proj": (hidden, 2 * hidden), "shared_head.head": (config["vocab_size"], hidden), "mlp.down_proj": (hidden, 8)}
    norms = {name: (hidden,) for name in ("enorm", "hnorm", "shared_head.norm", "input_layernorm")}
    return {f"{at}{name}.weight": torch.Size(shape) for name, shape in {**own, **norms}.items()}


def unread_kv_shapes(config: dict, shapes: dict[str, torch.Size]) -> dict[str, torch.Size]:
    """Keys and values of layers that read those of others: releases of Gemma 4 have them all the same."""
    text = config.get("text_config", config)
    layers, shared = text["num_hidden_layers"], text.get("num_kv_shared_layers", 0)
    own = [n for n in shapes if re.search(r"self_attn\.(k_proj|v_proj|k_norm)\.", n) and not of_tower(n)]
    first = {int(layer_of(n)): n for n in own if n.endswith("k_proj.weight")}
    types = text.get("layer_types")
    unread = {}
    for layer in range(layers - shared, layers):
        like = next(i for i in first if types[i] == types[layer])
        for name in own:
            if layer_of(name) == str(like):
                unread[name.replace(f"layers.{like}.", f"layers.{layer}.")] = shapes[name]
    return unread


def layer_of(name: str) -> str:
    return name.partition("layers.")[2].partition(".")[0]


def is_unread(name: str, config: dict) -> bool:
    """What the reference lacks: the layer for multi-token prediction, and keys and values of layers that read others'."""
    text = config.get("text_config", config)
    first = text["num_hidden_layers"] - (text.get("num_kv_shared_layers") or 0)
    unread_kv = re.search(r"self_attn\.(k_proj|v_proj|k_norm)\.", name) and int(layer_of(name)) >= first
    return of_drafts(name, config) or bool(unread_kv)


def of_drafts(name: str, config: dict) -> bool:
    """Of the layer for multi-token prediction, which the reference lacks."""
    return name.startswith(("mtp.", f"model.layers.{config.get('num_hidden_layers')}."))


def mlp_shapes(prefix: str, hidden: int, ffn: int) -> dict[str, tuple[int, int]]:
    return {f"{prefix}gate_proj": (ffn, hidden), f"{prefix}up_proj": (ffn, hidden), f"{prefix}down_proj": (hidden, ffn)}
