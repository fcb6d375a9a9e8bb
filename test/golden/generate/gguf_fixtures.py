"""The GGUF fixture models: each with the type of its matrices, and that of those which differ by name."""

from fixture import Fixture
from gemma4_configs import gemma4_moe_text, gemma4_small_text
from fixture_configs import FOUR_RANKS, LLAMA3_SCALING, gemma2, gemma3_text, glm4_moe, gpt_oss, llama, mixtral, qwen2, qwen3, qwen3_5_moe_text, qwen3_5_text, qwen3_moe, qwen3_next

TEXT_EXPERTS = {"num_experts": 8, "num_experts_per_tok": 4, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64}
# What the K-quants' files of people mix.
MIXED = {"ffn_down": "Q6_K", "attn_v": "Q6_K", "token_embd": "Q6_K", "output": "Q6_K"}
# In NVFP4 without a scale of the whole tensor.
UNSCALED = ("attn_output.weight", "ffn_up.weight", "ffn_up_exps.weight")

FIXTURES = {
    "llama-gguf-q8_0": (
        Fixture(
            "llama-gguf-q8_0",
            "GGUF in Q8_0: reordered rows of q and k, llama3 scaling by rope_freqs, untied head",
            llama(
                num_hidden_layers=2,
                rope_parameters={**LLAMA3_SCALING, "rope_theta": 10000.0},
            ),
            seed=41,
        ),
        "Q8_0", {},
    ),
    "llama-gguf-f16": (
        Fixture("llama-gguf-f16", "GGUF in F16, tied head", llama(num_hidden_layers=2, hidden_size=72, intermediate_size=88,
                rope_theta=10000.0, tie_word_embeddings=True), seed=42),
        "F16", {},
    ),
    "qwen2-gguf-q8_0": (
        Fixture("qwen2-gguf-q8_0", "GGUF of Qwen2 in Q8_0: biases of q, k and v, whose rows keep their order, v in Q4_0, down in F16, tied head; "
                "no key says how wide a head is",
                qwen2(num_hidden_layers=2), seed=170),
        "Q8_0", {"attn_v": "Q4_0", "ffn_down": "F16"},
    ),
    "qwen3-gguf-q4_0": (
        Fixture("qwen3-gguf-q4_0", "GGUF in Q4_0, with a Q8_0 v beside q and k, tied head in BF16",
                qwen3(num_hidden_layers=2), seed=43),
        "Q4_0", {"attn_v": "Q8_0", "token_embd": "BF16"},
    ),
    "llama-gguf-q4_1": (
        Fixture("llama-gguf-q4_1", "GGUF in Q4_1, with v in Q5_0, down in Q5_1, o in IQ4_NL, gate in MXFP4 and the tied head in Q8_0",
                llama(num_hidden_layers=1, rope_theta=10000.0, tie_word_embeddings=True), seed=49),
        "Q4_1", {"attn_v": "Q5_0", "ffn_down": "Q5_1", "attn_output": "IQ4_NL", "ffn_gate": "MXFP4", "token_embd": "Q8_0"},
    ),
    "llama-gguf-nvfp4": (
        Fixture("llama-gguf-nvfp4", "GGUF in NVFP4 with reordered rows of q and k, scales of whole tensors but for some, v in Q8_0, the head in NVFP4",
                llama(num_hidden_layers=2, hidden_size=128, intermediate_size=192, num_attention_heads=4, head_dim=32, rope_theta=10000.0), seed=160),
        "NVFP4", {"attn_v": "Q8_0", "token_embd": "BF16"},
    ),
    "qwen3-gguf-q4_k": (
        Fixture("qwen3-gguf-q4_k", "GGUF in Q4_K with v, down and the tied head in Q6_K",
                qwen3(num_hidden_layers=2, hidden_size=256, intermediate_size=256, num_attention_heads=4, head_dim=64), seed=44),
        "Q4_K", MIXED,
    ),
    "qwen3-gguf-q5_k": (
        Fixture("qwen3-gguf-q5_k", "GGUF in Q5_K with k in Q2_K, up in Q3_K, o in IQ4_XS, v, down and the tied head in Q6_K",
                qwen3(num_hidden_layers=1, hidden_size=256, intermediate_size=256, num_attention_heads=4, head_dim=64), seed=50),
        "Q5_K", {**MIXED, "attn_k": "Q2_K", "ffn_up": "Q3_K", "attn_output": "IQ4_XS"},
    ),
    "qwen3_moe-gguf-q8_0": (
        Fixture("qwen3_moe-gguf-q8_0", "GGUF with stacked experts in Q8_0, down in Q4_0, router in F32",
                qwen3_moe(hidden_size=96, moe_intermediate_size=32, num_hidden_layers=2), seed=45),
        "Q8_0", {"ffn_down_exps": "Q4_0"},
    ),
    "mixtral-gguf-q8_0": (
        Fixture("mixtral-gguf-q8_0", "GGUF of architecture llama with stacked experts in Q8_0, router in F32",
                mixtral(), seed=67),
        "Q8_0", {},
    ),
    "gpt_oss-gguf-mxfp4": (
        Fixture("gpt_oss-gguf-mxfp4", "GGUF of gpt-oss: experts in MXFP4, gate and up apart, their biases and the router's in F32, "
                "sinks, the rest in Q8_0; the limit and the windows of releases, which no key says",
                gpt_oss(hidden_size=96, intermediate_size=64, swiglu_limit=7.0, layer_types=["sliding_attention", "full_attention"]),
                seed=104),  # 102 meets a close choice of experts
        "Q8_0", {"ffn_gate_exps": "MXFP4", "ffn_up_exps": "MXFP4", "ffn_down_exps": "MXFP4"},
    ),
    "glm4_moe-gguf-q8_0": (
        Fixture("glm4_moe-gguf-q8_0", "GGUF of GLM in Q8_0: a dense layer, stacked experts beside a shared one, the correction of scores in F32, "
                "norms of q and k, half of a head rotating",
                glm4_moe(hidden_size=96, intermediate_size=64, moe_intermediate_size=32, use_qk_norm=True, routed_scaling_factor=1.5,
                         num_nextn_predict_layers=0),
                seed=150),
        "Q8_0", {},
    ),
    "gemma2-gguf-q8_0": (
        Fixture("gemma2-gguf-q8_0", "GGUF of Gemma 2 in Q8_0: 1 in norms, which stand behind what they normalize too, caps by keys, a window "
                "in every second layer, which no key says",
                gemma2(hidden_size=96, intermediate_size=128, query_pre_attn_scalar=32), seed=120),
        "Q8_0", {},
    ),
    "gemma3-gguf-q8_0": (
        Fixture("gemma3-gguf-q8_0", "GGUF of Gemma 3 in Q8_0: windows in five layers of six, which rotate by a base of their own, linear scaling "
                "in the sixth, norms of q and k",
                gemma3_text(hidden_size=64, intermediate_size=64, num_attention_heads=2, num_key_value_heads=1, query_pre_attn_scalar=32,
                            num_hidden_layers=6, sliding_window_pattern=6), seed=121),
        "Q8_0", {},
    ),
    "gemma4_text-gguf-q8_0": (
        Fixture("gemma4_text-gguf-q8_0", "GGUF of Gemma 4 as E2B in Q8_0: lists by layer of windows and widths, divisors that leave three parts of "
                "a head alone, embeddings of each layer in Q4_0, layers that share keys and values, of which the file has unread ones",
                gemma4_small_text(hidden_size=64, intermediate_size=64, head_dim=32, global_head_dim=64, hidden_size_per_layer_input=32,
                                  final_logit_softcapping=30.0),
                seed=215),
        "Q8_0", {"per_layer_token_embd": "Q4_0"},
    ),
    "gemma4_text-gguf-moe": (
        Fixture("gemma4_text-gguf-moe", "GGUF of Gemma 4 with experts, gate over up in Q4_0, down in Q8_0 with a scale each, beside a dense layer; "
                "KV heads by layer, keys that are values; for 2 ranks",
                gemma4_moe_text(hidden_size=64, intermediate_size=64, head_dim=32, global_head_dim=64, moe_intermediate_size=64),
                seed=244),  # most others meet a close choice of experts
        "Q8_0", {"ffn_gate_up_exps": "Q4_0"},
    ),
    "qwen3_next-gguf-q8_0": (
        Fixture("qwen3_next-gguf-q8_0", "GGUF of Qwen3-Next in Q8_0: q, k, v and z apart, ba by key head, 3 value heads for each, stacked experts",
                qwen3_next(hidden_size=96, num_hidden_layers=2, full_attention_interval=2,
                           layer_types=["linear_attention", "full_attention"], linear_num_value_heads=6, **TEXT_EXPERTS), seed=103),
        "Q8_0", {},
    ),
    "qwen3_5-gguf-q8_0": (
        Fixture("qwen3_5-gguf-q8_0", "GGUF of a hybrid: 1 in norms, -exp(A_log), value heads in rounds, 3 per key head",
                {"architectures": ["Qwen3_5ForCausalLM"],
                 **qwen3_5_text(intermediate_size=128, linear_num_value_heads=6, mtp_num_hidden_layers=0)}, seed=46),
        "Q8_0", {"ssm_out": "F16"},
    ),
    "qwen3_5-gguf-q4_k": (
        Fixture("qwen3_5-gguf-q4_k", "GGUF of a hybrid in Q4_K and Q6_K, whose blocks span value heads",
                {"architectures": ["Qwen3_5ForCausalLM"],
                 **qwen3_5_text(hidden_size=256, intermediate_size=256, num_hidden_layers=2, full_attention_interval=2,
                                layer_types=["linear_attention", "full_attention"], num_attention_heads=4, head_dim=64,
                                linear_num_value_heads=8, linear_num_key_heads=4, mtp_num_hidden_layers=0,
                                rope_parameters={"rope_type": "default", "rope_theta": 10000000.0, "partial_rotary_factor": 0.25,
                                                 "mrope_interleaved": True, "mrope_section": [3, 3, 2]})}, seed=47),
        "Q4_K", MIXED,
    ),
    "qwen3_5_moe-gguf-q8_0": (
        Fixture("qwen3_5_moe-gguf-q8_0", "GGUF of a hybrid with experts and a shared one in Q8_0, value heads in rounds",
                {"architectures": ["Qwen3_5MoeForCausalLM"],
                 **qwen3_5_moe_text(hidden_size=96, num_hidden_layers=2, full_attention_interval=2,
                                    layer_types=["linear_attention", "full_attention"], **TEXT_EXPERTS)}, seed=48),
        "Q8_0", {},
    ),
    "qwen3_5_moe-gguf-nvfp4": (
        Fixture("qwen3_5_moe-gguf-nvfp4", "GGUF of a hybrid in NVFP4, stacked experts with a scale each, 3 value heads in rounds over 4 key heads",
                {"architectures": ["Qwen3_5MoeForCausalLM"],
                 **qwen3_5_moe_text(**{**FOUR_RANKS, "hidden_size": 64, **TEXT_EXPERTS, "moe_intermediate_size": 64,
                                       "linear_num_value_heads": 12})}, seed=161),
        "NVFP4", {"token_embd": "BF16", "output": "Q8_0"},
    ),
}
