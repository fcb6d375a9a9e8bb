"""The tensors of a release's files: name, dtype and shape of each, as the tools of its format write them."""

from release import Release, ceil


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
        case "GPTQ" | "GPTQ act-order" | "GPTQ 8 bits" as form:
            bits = 8 if form == "GPTQ 8 bits" else 4
            groups = 1 if form == "GPTQ 8 bits" else ceil(cols, 128)
            yield f"{module}.qweight", "I32", [cols * bits // 32, rows]
            yield f"{module}.qzeros", "I32", [groups, rows * bits // 32]
            yield f"{module}.scales", "F16", [groups, rows]
            yield f"{module}.g_idx", "I32", [cols]
        case "AWQ":
            yield f"{module}.qweight", "I32", [cols, rows // 8]
            yield f"{module}.qzeros", "I32", [cols // 128, rows // 8]
            yield f"{module}.scales", "F16", [cols // 128, rows]
        case "W4A16":
            yield f"{module}.weight_packed", "I32", [rows, cols // 8]
            yield f"{module}.weight_scale", "BF16", [rows, cols // 128]
            yield f"{module}.weight_zero_point", "I32", [rows // 8, cols // 128]
            yield f"{module}.weight_shape", "I64", [2]
        case "W8A8":
            yield f"{module}.weight", "I8", [rows, cols]
            yield f"{module}.weight_scale", "BF16", [rows, 1]
        case plain:
            yield f"{module}.weight", plain, [rows, cols]


def stored(release: Release):
    t, d = release.text, release.head_dim
    h, plain = t["hidden_size"], "F16" if release.weights == "F16" else "BF16"
    prefix = "model.language_model." if "vision" in release.also else "model."
    yield from matrix(release, f"{prefix}embed_tokens", t["vocab_size"], h)
    if release.layer_width > 0:
        parts = t["num_hidden_layers"] * release.layer_width
        yield from matrix(release, f"{prefix}embed_tokens_per_layer", t["vocab_size"], parts)
        yield from matrix(release, f"{prefix}per_layer_model_projection", parts, h)
        yield f"{prefix}per_layer_projection_norm.weight", plain, [release.layer_width]
    for i in range(t["num_hidden_layers"]):
        yield from stored_layer(release, f"{prefix}layers.{i}.", release.is_full(i), plain, release.is_dense(i))
    yield f"{prefix}norm.weight", plain, [h]
    if not release.tied or "lm_head" in release.also:
        yield from matrix(release, "lm_head", t["vocab_size"], h)
    if "vision" in release.also:
        yield "model.visual.patch_embed.proj.weight", plain, [1152, 3, 2, 16, 16]
        yield "model.visual.blocks.0.attn.qkv.weight", plain, [3456, 1152]
    if release.kind == "glm4_moe":
        yield from stored_glm_drafts(release, f"{prefix}layers.{t['num_hidden_layers']}.", plain)
    if "mtp" in release.also:
        yield from matrix(release, "mtp.fc", h, 2 * h)
        for name in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"):
            yield f"mtp.{name}.weight", plain, [h]
        yield from stored_layer(release, "mtp.layers.0.", True, plain)


def stored_glm_drafts(release: Release, at: str, plain: str):
    """The layer for multi-token prediction, behind the last."""
    t, h = release.text, release.text["hidden_size"]
    yield f"{at}eh_proj.weight", plain, [h, 2 * h]
    for name in ("enorm", "hnorm", "shared_head.norm"):
        yield f"{at}{name}.weight", plain, [h]
    for name in ("embed_tokens", "shared_head.head"):
        yield f"{at}{name}.weight", plain, [t["vocab_size"], h]
    yield from stored_layer(release, at, True, plain)


def stored_layer(release: Release, at: str, full: bool, plain: str, dense: bool | None = None):
    t, h = release.text, release.text["hidden_size"]
    norms = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
    for name in norms[: release.layer_norms]:
        yield f"{at}{name}.weight", plain, [h]
    if full:
        heads, d, keys_are_values = release.heads_of(at)
        q = t["num_attention_heads"] * d
        kv = heads * d
        attn = f"{at}self_attn."
        yield from matrix(release, f"{attn}q_proj", q * (2 if release.hybrid else 1), h)
        yield from matrix(release, f"{attn}k_proj", kv, h)
        if not keys_are_values:
            yield from matrix(release, f"{attn}v_proj", kv, h)
        yield from matrix(release, f"{attn}o_proj", h, q)
        if release.kind == "gpt_oss":
            yield f"{attn}sinks", plain, [t["num_attention_heads"]]
            for name, rows in (("q", q), ("k", kv), ("v", kv), ("o", h)):
                yield f"{attn}{name}_proj.bias", plain, [rows]
        if release.biased_qkv:
            for name, rows in (("q", q), ("k", kv), ("v", kv)):
                yield f"{attn}{name}_proj.bias", plain, [rows]
        if release.qk_norm:
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
    if release.kind == "gemma4":
        yield f"{at}layer_scalar", plain, [1]
    if release.layer_width > 0:
        yield from matrix(release, f"{at}per_layer_input_gate", release.layer_width, h)
        yield from matrix(release, f"{at}per_layer_projection", h, release.layer_width)
        yield f"{at}post_per_layer_input_norm.weight", plain, [h]
    mlp = f"{at}block_sparse_moe." if release.kind == "mixtral" else f"{at}mlp."
    if release.experts == 0 if dense is None else dense:
        yield from stored_mlp(release, mlp, release.ffn_of(at), h)
        return
    width = release.expert_width
    if release.kind == "gpt_oss":
        yield from stored_gpt_oss(release, mlp, width, h, plain)
        return
    if release.kind == "gemma4":
        yield from stored_mlp(release, mlp, t["intermediate_size"], h)
        for name in ("pre_feedforward_layernorm_2", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"):
            yield f"{at}{name}.weight", plain, [h]
        yield f"{at}router.scale", plain, [h]
        yield f"{at}router.per_expert_scale", plain, [release.experts]
        yield from matrix(release, f"{at}router.proj", release.experts, h)
        yield f"{at}experts.gate_up_proj", plain, [release.experts, 2 * width, h]
        yield f"{at}experts.down_proj", plain, [release.experts, h, width]
        return
    yield from matrix(release, f"{mlp}gate", release.experts, h)
    if release.kind == "glm4_moe":
        yield f"{mlp}gate.e_score_correction_bias", "F32", [release.experts]
        yield from stored_mlp(release, f"{mlp}shared_experts.", t["n_shared_experts"] * width, h)
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


def stored_gpt_oss(release: Release, at: str, width: int, h: int, plain: str):
    count = release.experts
    yield f"{at}router.weight", plain, [count, h]
    yield f"{at}router.bias", plain, [count]
    for name, rows, cols in (("gate_up_proj", 2 * width, h), ("down_proj", h, width)):
        yield f"{at}experts.{name}_bias", plain, [count, rows]
        if release.weights == "BF16":
            yield f"{at}experts.{name}", plain, [count, cols, rows]
        else:
            yield f"{at}experts.{name}_blocks", "U8", [count, rows, cols // 32, 16]
            yield f"{at}experts.{name}_scales", "U8", [count, rows, cols // 32]


def stored_mlp(release: Release, at: str, width: int, h: int):
    gate, up, down = ("w1", "w3", "w2") if release.kind == "mixtral" else ("gate_proj", "up_proj", "down_proj")
    yield from matrix(release, f"{at}{gate}", width, h)
    yield from matrix(release, f"{at}{up}", width, h)
    yield from matrix(release, f"{at}{down}", h, width)
