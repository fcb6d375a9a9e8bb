"""Releases of real shapes, 0.6B to 480B: config.json and weight format of each, and its parameters as published."""

from release import Release


def quantization(weights: str) -> dict:
    fp8 = {"num_bits": 8, "type": "float", "symmetric": True}
    four = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
    eight = {"num_bits": 8, "type": "int", "strategy": "channel"}
    group = lambda weights: {"config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}
    configs = {
        "FP8 block": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
        "FP8 tensor": {"quant_method": "modelopt", "quant_algo": "FP8"},
        "FP8 channel": {"quant_method": "compressed-tensors", **group({**fp8, "strategy": "channel"})},
        "NVFP4 modelopt": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        "NVFP4 experts": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        "NVFP4 and head": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["*linear_attn*", "mtp*", "model.visual*"]},
        "NVFP4 and FP8": {
            "quant_method": "compressed-tensors",
            "format": "mixed-precision",
            "config_groups": {
                "group_0": {
                    "targets": ["re:.*mlp.*_proj$"],
                    "format": "nvfp4-pack-quantized",
                    "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
                },
                "group_1": {
                    "targets": ["re:.*_attn.*"],
                    "format": "float-quantized",
                    "weights": {**fp8, "strategy": "channel"},
                },
            },
            "ignore": ["lm_head", "re:.*in_proj_[ab]$", "re:mtp.*", "re:.*visual.*"],
        },
        "GPTQ": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
        "GPTQ act-order": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True},
        "GPTQ 8 bits": {"quant_method": "gptq", "bits": 8, "group_size": -1, "desc_act": False, "sym": True},
        "AWQ": {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True},
        "W4A16": {"quant_method": "compressed-tensors", "format": "pack-quantized", **group({**four, "symmetric": False})},
        "W8A8": {"quant_method": "compressed-tensors", "format": "int-quantized", **group({**eight, "symmetric": True})},
        "MXFP4 experts": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]},
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


def qwen2(name, weights, parameters, *shape, **how):
    text = sizes(*shape, 152064, 32768, tie_word_embeddings=False)
    return Release(name, {"model_type": "qwen2", **text, **quantization(weights)}, weights, parameters, **how)


def qwen3(name, weights, parameters, *shape, tied=False, **how):
    text = sizes(*shape, 151936, 40960, head_dim=128, tie_word_embeddings=tied)
    return Release(name, {"model_type": "qwen3", **text, **quantization(weights)}, weights, parameters, **how)


def qwen3_moe(name, weights, parameters, layers, hidden, heads, kv, ffn, experts, width, **how):
    moe = {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": width}
    text = sizes(layers, hidden, heads, kv, ffn, 151936, 262144, head_dim=128, decoder_sparse_step=1, **moe)
    config = {"model_type": "qwen3_moe", **text, "mlp_only_layers": [], **quantization(weights)}
    return Release(name, config, weights, parameters, **how)


def mixtral(name, weights, parameters, *shape, positions, **how):
    text = sizes(*shape, 32000, positions, num_local_experts=8, num_experts_per_tok=2)
    return Release(name, {"model_type": "mixtral", **text, **quantization(weights)}, weights, parameters, **how)


def gpt_oss(name, weights, parameters, layers, experts):
    moe = {"num_local_experts": experts, "num_experts_per_tok": 4, "sliding_window": 128}
    text = sizes(layers, 2880, 64, 8, 2880, 201088, 131072, head_dim=64, attention_bias=True, **moe)
    return Release(name, {"model_type": "gpt_oss", **text, **quantization(weights)}, weights, parameters)


def glm4_moe(name, weights, parameters, layers, hidden, ffn, dense, experts, width, qk_norm):
    moe = {"n_routed_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": width, "n_shared_experts": 1}
    own = {"first_k_dense_replace": dense, "use_qk_norm": qk_norm, "attention_bias": True}
    text = sizes(layers, hidden, 96, 8, ffn, 151552, 131072, head_dim=128, **moe, **own)
    return Release(name, {"model_type": "glm4_moe", **text, **quantization(weights)}, weights, parameters)


def gemma2(name, weights, parameters, *shape, **how):
    text = sizes(*shape, 256000, 8192, head_dim=256, sliding_window=4096, tie_word_embeddings=True)
    return Release(name, {"model_type": "gemma2", **text}, weights, parameters, **how)


def gemma3(name, weights, parameters, *shape, **how):
    text = sizes(*shape, 262144, 32768, head_dim=256, sliding_window=512, tie_word_embeddings=True)
    return Release(name, {"model_type": "gemma3_text", **text}, weights, parameters, **how)


def gemma4(name, *shape, kv, **moe):
    own = {"head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": kv, "attention_k_eq_v": True}
    text = sizes(*shape, 262144, 262144, sliding_window=1024, hidden_size_per_layer_input=0, **own, **moe)
    return Release(name, {"model_type": "gemma4", "tie_word_embeddings": True, "text_config": text}, "BF16", also=("vision",))


def gemma4_small(name, layers, *shape, every, shared, wide):
    """E2B and E4B: keys and values of the last layers are in the files, and are not read."""
    types = ["full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(layers)]
    heads = {"head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": None, "attention_k_eq_v": False}
    own = {"hidden_size_per_layer_input": 256, "num_kv_shared_layers": shared, "use_double_wide_mlp": wide}
    text = sizes(layers, *shape, 262144, 131072, sliding_window=512, layer_types=types, **heads, **own)
    return Release(name, {"model_type": "gemma4", "tie_word_embeddings": True, "text_config": text}, "BF16", also=("vision",))


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
    # The successor of 3.6 has it here alone.
    text |= {"mtp_num_hidden_layers": 1} if name.startswith("Qwen3.8") else {}
    config = {"model_type": "qwen3_5", "tie_word_embeddings": tied, "text_config": text, **quantization(weights)}
    return Release(name, config, weights, also=also, **how)


def qwen3_5_moe(name, weights, layers, hidden, heads, experts, width, value_heads, also=("vision", "mtp"), **how):
    moe = {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": width}
    shared = {"shared_expert_intermediate_size": width}
    text = sizes(layers, hidden, heads, 2, None, 248320, 262144, head_dim=256, **moe, **shared, **gdn(16, value_heads))
    config = {"model_type": "qwen3_5_moe", "text_config": text, **quantization(weights)}
    return Release(name, config, weights, also=also, **how)


Q7 = (28, 3584, 28, 4, 18944)
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
    qwen3("Qwen3-32B AWQ", "AWQ", None, *Q32),
    qwen3("Qwen3-8B W4A16", "W4A16", None, *Q8),
    llama("Llama-3.1-8B GPTQ", "GPTQ", None, *L8),
    llama("Llama-3.1-8B GPTQ in act-order", "GPTQ act-order", None, *L8),
    llama("Llama-3.1-8B GPTQ, 8 bits", "GPTQ 8 bits", None, *L8),
    llama("Llama-3.1-70B W8A8", "W8A8", None, *L70),
    llama("Llama-3.2-1B", "BF16", 1_235_814_400, 16, 2048, 32, 8, 8192, tied=True, head_dim=64),
    llama("Llama-7B with a token more", "F16", 6_738_423_808, 32, 4096, 32, 32, 11008, vocab=32001, positions=2048),
    llama("Llama-3.1-8B", "BF16", 8_030_261_248, *L8),
    llama("Llama-3.1-8B NVFP4", "NVFP4 modelopt", None, *L8),
    qwen2("Qwen2.5-7B", "BF16", 7_615_616_512, *Q7),
    qwen2("Qwen2.5-7B AWQ", "AWQ", None, *Q7),
    qwen2("Qwen2.5-7B Q4_K_M", "GGUF Q4_K_M", 7_615_616_512, *Q7),
    llama("Llama-3.1-8B Q4_K_M", "GGUF Q4_K_M", 8_030_261_248, *L8),
    llama("Llama-3.1-70B", "BF16", 70_553_706_496, *L70),
    llama("Llama-3.3-70B FP8", "FP8 tensor", None, *L70),
    llama("Llama-3.1-405B", "BF16", 405_853_388_800, *L405),
    llama("Llama-3.1-405B FP8 dynamic", "FP8 channel", None, *L405),
    gemma2("Gemma-2-9B", "BF16", 9_241_705_984, 42, 3584, 16, 8, 14336),
    gemma3("Gemma-3-1B", "BF16", 999_885_952, 26, 1152, 4, 1, 6912),
    gemma4("Gemma-4-31B", 60, 5376, 32, 16, 21504, kv=4),
    gemma4(
        *("Gemma-4-26B-A4B", 30, 2816, 16, 8, 2112),
        **{"kv": 2, "enable_moe_block": True, "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704},
    ),
    gemma4_small("Gemma-4-E2B", 35, 1536, 8, 1, 6144, every=5, shared=20, wide=True),
    gemma4_small("Gemma-4-E4B", 42, 2560, 8, 2, 10240, every=6, shared=18, wide=False),
    mixtral("Mixtral-8x7B", "BF16", 46_702_792_704, 32, 4096, 32, 8, 14336, positions=32768),
    mixtral("Mixtral-8x22B FP8", "FP8 tensor", None, 56, 6144, 48, 8, 16384, positions=65536),
    gpt_oss("gpt-oss-20b", "MXFP4 experts", None, 24, 32),
    gpt_oss("gpt-oss-20b in BF16", "BF16", 20_914_757_184, 24, 32),
    gpt_oss("gpt-oss-120b", "MXFP4 experts", None, 36, 128),
    qwen3_moe("Qwen3-30B-A3B", "BF16", 30_532_122_624, *Q30A3),
    qwen3_moe("Qwen3-30B-A3B-FP8", "FP8 block", None, *Q30A3),
    qwen3_moe("Qwen3-235B-A22B", "BF16", 235_093_634_560, *Q235),
    qwen3_moe("Qwen3-235B-A22B NVFP4", "NVFP4 modelopt", None, *Q235),
    qwen3_moe("Qwen3-Coder-480B-A35B", "BF16", 480_154_875_392, *Q480),
    qwen3_moe("Qwen3-Coder-480B-A35B-FP8", "FP8 block", None, *Q480),
    glm4_moe("GLM-4.5-Air", "BF16", None, 46, 4096, 10944, 1, 128, 1408, False),
    glm4_moe("GLM-4.6-FP8", "FP8 channel", None, 92, 5120, 12288, 3, 160, 1536, True),
    qwen3_next("Qwen3-Next-80B-A3B", "BF16", 81_324_862_720, drafts=True),
    qwen3_next("Qwen3-Next-80B-A3B-FP8", "FP8 block", None),
    qwen3_5("Qwen3.5-9B", "BF16", 32, 4096, 16, 4, 12288, 32, drafts=True),
    qwen3_5("Qwen3.6-27B", "BF16", *Q27),
    qwen3_5("Qwen3.6-27B-FP8", "FP8 block", *Q27),
    qwen3_5("Qwen3.6-27B-FP8 with drafts", "FP8 block", *Q27, drafts=True),
    qwen3_5("Qwen3.6-27B FP8 dynamic", "FP8 channel", *Q27, also=("vision",)),
    qwen3_5("Qwen3.8-27B-FP8 with drafts", "FP8 block", *Q27, drafts=True),
    qwen3_5("Qwen3.8-27B NVFP4, head too", "NVFP4 and head", *Q27, drafts=True),
    qwen3_5("Qwen3.8-27B NVFP4 and FP8, head in BF16", "NVFP4 and FP8", *Q27),
    qwen3_5_moe("Qwen3.5-35B-A3B", "BF16", *Q35A3, also=("vision", "mtp", "stacked"), drafts=True),
    qwen3_5_moe("Qwen3.5-122B-A10B-FP8", "FP8 block", *Q122),
    qwen3_5_moe("Qwen3.5-397B-A17B NVFP4", "NVFP4 experts", *Q397),
]
