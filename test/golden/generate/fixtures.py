"""The fixture models: configuration, weight format, file layout. Sizes avoid multiples of 128 on purpose.

What each one is there for is said in its "covers" line, which also goes into its golden.json.
"""

from dataclasses import dataclass

LLAMA3_SCALING = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


@dataclass(frozen=True)
class Fixture:
    name: str
    covers: str
    config: dict
    fp8: bool = False
    # Another form of the matrices (formats.py); "f16" is for all tensors.
    form: str = ""
    scale_dtype: str = "bfloat16"
    shards: int = 1
    # Places each scale in another shard than its weight.
    scatter_scales: bool = False
    # Tensors that a text engine must skip: a vision tower, and an MTP layer.
    vision: bool = False
    mtp: bool = False
    # Experts in one tensor per layer and projection, as BF16 releases of qwen3_5_moe have them; else one by one.
    stacked_experts: bool = False
    seed: int = 1


def llama(**changes) -> dict:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": 320,
        "hidden_size": 96,
        "intermediate_size": 160,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "tie_word_embeddings": False,
        **changes,
    }


def mistral(**changes) -> dict:
    own = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "rope_theta": 10000.0}
    return {**without_biases(llama()), **own, **changes}


def without_biases(config: dict) -> dict:
    """Architectures whose biases no field decides."""
    return {name: value for name, value in config.items() if name not in ("attention_bias", "mlp_bias")}


def qwen2(**changes) -> dict:
    """No field says how wide a head is."""
    own = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "rms_norm_eps": 1e-6, "rope_theta": 1000000.0}
    config = {**without_biases(llama()), **own, "tie_word_embeddings": True, **changes}
    del config["head_dim"]
    return config


def qwen3(**changes) -> dict:
    return {
        **llama(),
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "rms_norm_eps": 1e-6,
        "head_dim": 32,
        "num_attention_heads": 4,
        "rope_theta": 1000000.0,
        "tie_word_embeddings": True,
        **changes,
    }


def qwen3_5_text(**changes) -> dict:
    return {
        "model_type": "qwen3_5_text",
        "vocab_size": 320,
        "hidden_size": 96,
        "intermediate_size": 112,
        "num_hidden_layers": 3,
        "layer_types": ["linear_attention", "linear_attention", "full_attention"],
        "full_attention_interval": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 24,
        "linear_value_head_dim": 32,
        "linear_conv_kernel_dim": 4,
        "attn_output_gate": True,
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-6,
        "hidden_act": "silu",
        "attention_bias": False,
        "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "tie_word_embeddings": False,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000000.0,
            "partial_rotary_factor": 0.25,
            "mrope_interleaved": True,
            "mrope_section": [2, 1, 1],
        },
        **changes,
    }


def qwen3_5(text: dict) -> dict:
    """The nested form of the multimodal releases."""
    vision = {"model_type": "qwen3_5", "depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2}
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "image_token_id": 316,
        "video_token_id": 317,
        "vision_start_token_id": 318,
        "vision_end_token_id": 319,
        "tie_word_embeddings": text["tie_word_embeddings"],
        "text_config": text,
        "vision_config": {**vision, "out_hidden_size": text["hidden_size"], "num_position_embeddings": 16, "patch_size": 4},
    }


EXPERTS = {"num_experts": 8, "num_experts_per_tok": 4, "moe_intermediate_size": 24}
SPARSE = {"norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}
SHARED_EXPERT = {**EXPERTS, "shared_expert_intermediate_size": 40}


def qwen3_moe(**changes) -> dict:
    own = {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 72, "intermediate_size": 56}
    return {**qwen3(), **own, **EXPERTS, **SPARSE, **changes}


def qwen3_5_moe_text(**changes) -> dict:
    """All layers are sparse: there is no intermediate_size."""
    text = qwen3_5_text(model_type="qwen3_5_moe_text", hidden_size=72, mtp_num_hidden_layers=0)
    del text["intermediate_size"]
    return {**text, **SHARED_EXPERT, **changes}


def qwen3_next(**changes) -> dict:
    """The older config form: rotary fields at the top level."""
    text = qwen3_5_text(model_type="qwen3_next", hidden_size=72)
    for name in ("rope_parameters", "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "attn_output_gate"):
        del text[name]
    own = {"architectures": ["Qwen3NextForCausalLM"], "rope_theta": 10000000.0, "partial_rotary_factor": 0.25}
    return {**text, **own, **SHARED_EXPERT, **SPARSE, **changes}


TWO_LAYERS = {
    "num_hidden_layers": 2,
    "layer_types": ["linear_attention", "full_attention"],
    "full_attention_interval": 2,
}
FOUR_RANKS = {
    **TWO_LAYERS,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "linear_value_head_dim": 16,
}


EIGHT_RANKS = {
    **FOUR_RANKS,
    "num_attention_heads": 8,
    "linear_num_key_heads": 8,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 16,
}


FIXTURES = (
    Fixture(
        "llama-bf16",
        "GQA 3:1, llama3 rope scaling in the old config form (rope_theta and rope_scaling), untied head, one file",
        llama(rope_theta=10000.0, rope_scaling=LLAMA3_SCALING),
    ),
    Fixture(
        "llama-fp8",
        "partial edge blocks in both directions, F32 scales, scales in other shards than their weights, new rope config form",
        llama(
            hidden_size=192,
            intermediate_size=200,
            num_attention_heads=4,
            head_dim=48,
            num_hidden_layers=2,
            rope_parameters={**LLAMA3_SCALING, "rope_theta": 500000.0},
        ),
        fp8=True,
        scale_dtype="float32",
        shards=3,
        scatter_scales=True,
        seed=2,
    ),
    Fixture(
        "qwen3-bf16",
        "q/k norms, tied head, heads wider than hidden (4 x 32 over 96), two shards",
        qwen3(),
        shards=2,
        seed=3,
    ),
    Fixture(
        "qwen3-fp8",
        "hidden 320 (2.5 blocks), tied head in BF16, BF16 scales, one file",
        qwen3(hidden_size=320, intermediate_size=96, num_hidden_layers=2),
        fp8=True,
        seed=4,
    ),
    Fixture(
        "qwen3_5-bf16",
        "hybrid in the nested form, vision tower and MTP layer to skip, untied head, two shards",
        qwen3_5(qwen3_5_text(hidden_size=72)),
        shards=2,
        vision=True,
        mtp=True,
        seed=5,
    ),
    Fixture(
        "qwen3_5-fp8",
        "q/k/v of in_proj_qkv begin at rows 0/80/160 (off the 128-row blocks), value heads 3 per key head, F32 scales "
        "in other shards, vision and MTP to skip",
        qwen3_5(
            qwen3_5_text(
                hidden_size=136,
                intermediate_size=144,
                linear_key_head_dim=40,
                linear_value_head_dim=32,
                linear_num_value_heads=6,
            )
        ),
        fp8=True,
        scale_dtype="float32",
        shards=3,
        scatter_scales=True,
        vision=True,
        mtp=True,
        seed=6,
    ),
    Fixture(
        "qwen3_5_text-fp8",
        "the flat text-only form (no prefix), attention in every second layer by layer_types, tied head, BF16 scales",
        {
            "architectures": ["Qwen3_5ForCausalLM"],
            **qwen3_5_text(
                hidden_size=160,
                num_hidden_layers=4,
                full_attention_interval=2,
                layer_types=["linear_attention", "full_attention"] * 2,
                tie_word_embeddings=True,
                mtp_num_hidden_layers=0,
            ),
        },
        fp8=True,
        seed=7,
    ),
    Fixture(
        "qwen3_5_text-fp8-ranks",
        "for 2 and 4 tensor-parallel ranks: each one's columns of o, down and out_proj are whole 128-blocks, while its rows "
        "of in_proj_qkv are not; fewer KV heads than 4 ranks",
        {
            "architectures": ["Qwen3_5ForCausalLM"],
            **qwen3_5_text(
                hidden_size=72,
                intermediate_size=512,
                num_hidden_layers=2,
                full_attention_interval=2,
                layer_types=["linear_attention", "full_attention"],
                head_dim=128,
                linear_num_key_heads=4,
                linear_key_head_dim=24,
                linear_value_head_dim=128,
                rope_parameters={
                    "rope_type": "default",
                    "rope_theta": 10000000.0,
                    "partial_rotary_factor": 0.25,
                    "mrope_interleaved": True,
                    "mrope_section": [6, 5, 5],
                },
                tie_word_embeddings=True,
                mtp_num_hidden_layers=0,
            ),
        },
        fp8=True,
        seed=8,
    ),
    Fixture(
        "llama-f16",
        "F16 matrices, norms and tables, whose mantissas BF16 cannot hold",
        llama(num_hidden_layers=2, rope_theta=10000.0, tie_word_embeddings=True),
        form="f16",
        seed=21,
    ),
    Fixture(
        "llama-fp8-tensor",
        "FP8 with one F32 scale per tensor (quant_method fp8 without blocks), calibrated input scales to skip",
        llama(hidden_size=144, num_hidden_layers=2, rope_theta=10000.0, tie_word_embeddings=True),
        form="fp8-tensor",
        seed=22,
    ),
    Fixture(
        "qwen3_5_text-fp8-channel",
        "FP8 with one BF16 scale per row, as compressed-tensors writes it, on a hybrid; an ignore list with a pattern",
        {"architectures": ["Qwen3_5ForCausalLM"], **qwen3_5_text(mtp_num_hidden_layers=0)},
        form="fp8-channel",
        shards=2,
        seed=23,
    ),
    Fixture(
        "qwen3-nvfp4",
        "NVFP4 of compressed-tensors: weight_packed, a global scale that divides; widths of 7 and 10 groups of 16",
        qwen3(hidden_size=112, num_hidden_layers=2, intermediate_size=160),
        form="nvfp4",
        seed=24,
    ),
    Fixture(
        "llama-nvfp4-modelopt",
        "NVFP4 of modelopt: weight in U8, weight_scale_2 that multiplies; an untied head in BF16",
        llama(num_hidden_layers=2, rope_theta=10000.0),
        form="nvfp4-modelopt",
        seed=25,
    ),
    Fixture(
        "qwen3_moe-bf16",
        "experts one by one, a dense layer by mlp_only_layers, renormalized top 3 of 8, two shards",
        qwen3_moe(mlp_only_layers=[1], tie_word_embeddings=False),
        shards=2,
        seed=88,  # 48 meets a close choice of experts
    ),
    Fixture(
        "qwen3_moe-fp8",
        "experts one by one with F32 scales in another shard, dense layers by decoder_sparse_step, weights not renormalized",
        qwen3_moe(
            hidden_size=136,
            num_hidden_layers=2,
            decoder_sparse_step=2,
            norm_topk_prob=False,
        ),
        fp8=True,
        scale_dtype="float32",
        shards=3,
        scatter_scales=True,
        seed=9,
    ),
    Fixture(
        "qwen3_5_moe-bf16",
        "hybrid in the nested form, stacked experts, shared expert, vision tower to skip",
        {
            **qwen3_5(qwen3_5_moe_text()),
            "architectures": ["Qwen3_5MoeForConditionalGeneration"],
            "model_type": "qwen3_5_moe",
        },
        shards=2,
        vision=True,
        stacked_experts=True,
        seed=10,
    ),
    Fixture(
        "qwen3_5_moe_text-fp8",
        "the flat text-only form, experts one by one, in the MTP layer too, hidden 136 (partial blocks), BF16 scales, tied head",
        {
            "architectures": ["Qwen3_5MoeForCausalLM"],
            **qwen3_5_moe_text(hidden_size=136, tie_word_embeddings=True, linear_num_value_heads=6, mtp_num_hidden_layers=1),
        },
        fp8=True,
        mtp=True,
        seed=11,
    ),
    Fixture(
        "qwen3_next-bf16",
        "in_proj_qkvz and in_proj_ba interleaved by key head, shared expert, a dense layer, rotary fields at the top level",
        qwen3_next(mlp_only_layers=[0]),
        seed=112,
    ),
    Fixture(
        "qwen3_next-fp8",
        "parts of in_proj_qkvz that begin off the 128-row blocks, value heads 3 per key head, weights not renormalized",
        qwen3_next(
            hidden_size=136,
            num_hidden_layers=2,
            layer_types=["linear_attention", "full_attention"],
            full_attention_interval=2,
            linear_key_head_dim=40,
            linear_num_value_heads=6,
            norm_topk_prob=False,
        ),
        fp8=True,
        scale_dtype="float32",
        shards=2,
        seed=13,
    ),
    Fixture(
        "qwen3-yarn-bf16",
        "YaRN over 64 original positions: attention factor, correction range inside the head",
        qwen3(
            rope_theta=10000.0,
            rope_scaling={"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64},
        ),
        seed=14,
    ),
    Fixture(
        "qwen3-window-bf16",
        "a window of 40 positions from layer 1 on (use_sliding_window, max_window_layers), linear rope scaling",
        qwen3(
            use_sliding_window=True,
            sliding_window=40,
            max_window_layers=1,
            rope_scaling={"type": "linear", "factor": 2.5},
        ),
        seed=15,
    ),
    Fixture(
        "mistral-bf16",
        "a window of 40 positions in every layer, heads wider than hidden (4 x 32 over 96), untied head",
        mistral(sliding_window=40, num_attention_heads=4, head_dim=32),
        seed=16,
    ),
    Fixture(
        "qwen2-bf16",
        "biases of q, k and v alone, no head_dim, tied head, a window that use_sliding_window turns off, two shards",
        qwen2(use_sliding_window=False, sliding_window=40, max_window_layers=1),
        shards=2,
        seed=17,
    ),
    # For 4 ranks, of which each has a part of every head, gate and expert; fewer KV heads than ranks.
    Fixture(
        "llama-bf16-ranks",
        "for 2, 4 and 8 tensor-parallel ranks: 4 query heads per KV head, biases",
        llama(num_attention_heads=8, head_dim=12, num_hidden_layers=2, attention_bias=True, mlp_bias=True),
        seed=31,
    ),
    Fixture(
        "qwen3_5-bf16-ranks",
        "for 2 and 4 tensor-parallel ranks: the nested form, 2 value heads per key head",
        qwen3_5(qwen3_5_text(**FOUR_RANKS, mtp_num_hidden_layers=0)),
        vision=True,
        seed=32,
    ),
    Fixture(
        "qwen3_5_moe-bf16-ranks",
        "for 2 and 4 tensor-parallel ranks: stacked experts and a shared one, cut by width, in the MTP layer too",
        {
            **qwen3_5(qwen3_5_moe_text(**FOUR_RANKS, mtp_num_hidden_layers=1)),
            "architectures": ["Qwen3_5MoeForConditionalGeneration"],
            "model_type": "qwen3_5_moe",
        },
        vision=True,
        mtp=True,
        stacked_experts=True,
        seed=33,
    ),
    Fixture(
        "qwen3_next-bf16-ranks",
        "for 2 and 4 tensor-parallel ranks: key-head groups of in_proj_qkvz and in_proj_ba",
        qwen3_next(**FOUR_RANKS),
        seed=34,
    ),
    Fixture(
        "qwen3_5-bf16-eight-ranks",
        "for up to 8 tensor-parallel ranks: a key head of Gated DeltaNet and a query head for each, 4 ranks share a KV head",
        qwen3_5(qwen3_5_text(**EIGHT_RANKS, hidden_size=72, mtp_num_hidden_layers=0)),
        vision=True,
        seed=35,
    ),
    Fixture(
        "qwen3_5_moe_text-fp8-stacked",
        "experts stacked in FP8: 160 rows of gate over up in blocks of 128, so that both have rows in the first; F32 scales",
        {
            "architectures": ["Qwen3_5MoeForCausalLM"],
            **qwen3_5_moe_text(
                **TWO_LAYERS, hidden_size=136, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=80, tie_word_embeddings=True
            ),
        },
        fp8=True,
        scale_dtype="float32",
        stacked_experts=True,
        seed=36,
    ),
    Fixture(
        "qwen3_5_moe-nvfp4-mixed",
        "modelopt's MIXED_PRECISION: experts (one by one), shared expert and head in NVFP4, all other projections in FP8 by tensor",
        {
            **qwen3_5(qwen3_5_moe_text(**TWO_LAYERS, hidden_size=80, moe_intermediate_size=32, shared_expert_intermediate_size=48)),
            "architectures": ["Qwen3_5MoeForConditionalGeneration"],
            "model_type": "qwen3_5_moe",
        },
        form="modelopt-mixed",
        vision=True,
        seed=37,
    ),
    Fixture(
        "qwen3_5-nvfp4-fp8-mtp",
        "NVFP4 (compressed-tensors) with its layer for multi-token prediction in FP8 blocks, as an NVFP4 release beside an FP8 one",
        qwen3_5(qwen3_5_text(**TWO_LAYERS, hidden_size=80)),
        form="nvfp4-fp8-mtp",
        vision=True,
        mtp=True,
        seed=38,
    ),
)
