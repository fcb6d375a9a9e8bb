"""The fixture models with experts: one by one and stacked, routed and shared, by format and for ranks."""

from fixture import Fixture
from gemma4_configs import gemma4, gemma4_moe_text
from fixture_configs import FOUR_RANKS, TWO_LAYERS, glm4_moe, gpt_oss, mixtral, qwen3_5, qwen3_5_moe_text, qwen3_moe, qwen3_next

MIXTURES = (
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
    # For 4 ranks, of which each has a part of every head, gate and expert; fewer KV heads than ranks.
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
        "mixtral-bf16",
        "block_sparse_moe with w1, w2 and w3, top 2 of 8, a window of 40 positions, two shards",
        mixtral(sliding_window=40),
        shards=2,
        seed=128,  # 51 meets a close choice of experts, as do most
    ),
    Fixture(
        "mixtral-fp8-tensor",
        "FP8 with one F32 scale per tensor, calibrated input scales to skip, routers listed as not quantized by their own name",
        mixtral(),
        form="fp8-tensor",
        seed=64,
    ),
    Fixture(
        "glm4_moe-bf16",
        "experts scored by sigmoids with a correction, a shared one without a gate, a dense layer, biases without that of the output, "
        "half of a head rotating, a layer for multi-token prediction behind the last to skip; for 2 and 4 ranks",
        glm4_moe(),
        mtp=True,
        shards=2,
        seed=161,  # 140 meets a close choice of experts, as do most
    ),
    Fixture(
        "glm4_moe-fp8-channel",
        "FP8 with a scale for each row, as releases have it; queries and keys normalized, experts from 2 of 4 groups, two shared ones, "
        "weights not renormalized but scaled, rope_parameters",
        glm4_moe(
            use_qk_norm=True,
            n_group=4,
            topk_group=2,
            n_shared_experts=2,
            norm_topk_prob=False,
            routed_scaling_factor=0.125,  # a close choice of experts, of which FP8 makes many, then moves little
            num_nextn_predict_layers=0,
            rope_parameters={"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.25},
        ),
        form="fp8-channel",
        seed=155,
    ),
    Fixture(
        "gemma4-bf16-moe",
        "the nested form with a vision tower to skip, stacked experts beside a dense layer, each with norms of its own, scales of the "
        "router's input and of experts, heads that differ by layer; for 2 ranks",
        gemma4(gemma4_moe_text()),
        vision=True,
        stacked_experts=True,
        shards=2,
        seed=103,
    ),
    Fixture(
        "gemma4-nvfp4-mixed",
        "modelopt's MIXED_PRECISION on a mixture: experts (one by one) in NVFP4, attention, of which keys are values, and the dense layer "
        "beside them in FP8 by tensor, a vision tower to skip; for 2 and 4 ranks",
        gemma4(gemma4_moe_text(hidden_size=80, moe_intermediate_size=64)),
        form="modelopt-mixed",
        vision=True,
        seed=123,  # most below meet close choices, 113 a placeholder of images
    ),
    Fixture(
        "gpt_oss-mxfp4",
        "experts in MXFP4 with biases, a router with one, attention with biases and sinks, windows by layer_types, YaRN without "
        "whole frequencies; for 2 and 4 tensor-parallel ranks, which cut no block",
        gpt_oss(hidden_size=96, intermediate_size=128, layer_types=["sliding_attention", "full_attention"]),
        form="mxfp4",
        shards=2,
        seed=106,  # most below meet close choices of experts
    ),
    Fixture(
        "gpt_oss-bf16",
        "experts that are not quantized, (columns, rows) each, gate and up alternating; alpha other than that of releases, windows "
        "where no field says which layers have one, rope_parameters",
        gpt_oss(
            num_local_experts=6,
            num_experts_per_tok=4,
            swiglu_alpha=1.5,
            rope_theta=None,
            rope_scaling=None,
            rope_parameters={
                "rope_type": "yarn",
                "rope_theta": 150000.0,
                "factor": 8.0,
                "original_max_position_embeddings": 128,
                "beta_fast": 16.0,
                "beta_slow": 1.0,
                "truncate": False,
            },
        ),
        seed=100,
    ),
)
