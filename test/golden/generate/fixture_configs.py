"""config.json of the fixture models, by architecture. Sizes avoid multiples of 128 on purpose."""

LLAMA3_SCALING = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def xlm_roberta(**changes) -> dict:
    """As published but for its sizes: positions begin behind that of padding. Heads of 16, which GPUs take."""
    sizes = {"vocab_size": 320, "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 3, "num_attention_heads": 4}
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, "max_position_embeddings": 514}
    own = {"architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta", "layer_norm_eps": 1e-5, "hidden_act": "gelu"}
    return {**own, **sizes, **ids, "position_embedding_type": "absolute", "tie_word_embeddings": True, **changes}


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


def mixtral(**changes) -> dict:
    """No field says how wide a head is."""
    own = {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "rope_theta": 1000000.0, "sliding_window": None}
    sizes = {"hidden_size": 64, "intermediate_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
    config = {**without_biases(llama()), **own, **sizes, "num_local_experts": 8, "num_experts_per_tok": 2, **changes}
    del config["head_dim"]
    return config


def gpt_oss(**changes) -> dict:
    """A limit far below that of releases, so that it bends what is there; heads are wider than hidden_size / num_attention_heads."""
    own = {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "hidden_size": 72,
        "intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 8,
        "head_dim": 32,
        "attention_bias": True,
        "num_local_experts": 8,
        "num_experts_per_tok": 3,
        "sliding_window": 40,
        "swiglu_limit": 1.25,
        "rope_theta": 150000.0,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 8.0,
            "original_max_position_embeddings": 128,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
        },
    }
    config = {**llama(), **own, **changes}
    del config["mlp_bias"]
    return config


def glm4_moe(**changes) -> dict:
    """As GLM-4.5-Air has it: the first layer dense, biases before attention alone, rotary fields at the top level."""
    own = {
        "architectures": ["Glm4MoeForCausalLM"],
        "model_type": "glm4_moe",
        "hidden_size": 72,
        "intermediate_size": 56,
        "num_attention_heads": 8,
        "num_hidden_layers": 2,
        "attention_bias": True,
        "use_qk_norm": False,
        "rope_theta": 1000000.0,
        "partial_rotary_factor": 0.5,
        "n_routed_experts": 8,
        "n_shared_experts": 1,
        "num_experts_per_tok": 3,
        "moe_intermediate_size": 24,
        "first_k_dense_replace": 1,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "num_nextn_predict_layers": 1,
    }
    config = {**llama(), **own, **changes}
    del config["mlp_bias"]
    return config


def gemma2(**changes) -> dict:
    """Caps far below those of releases, so that they bend what is there; the root of 72 is no number of bfloat16."""
    own = {
        "architectures": ["Gemma2ForCausalLM"],
        "model_type": "gemma2",
        "hidden_size": 72,
        "intermediate_size": 112,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "head_dim": 32,
        "query_pre_attn_scalar": 24,
        "sliding_window": 40,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "hidden_activation": "gelu_pytorch_tanh",
        "attn_logit_softcapping": 2.0,
        "final_logit_softcapping": 8.0,
        "tie_word_embeddings": True,
    }
    config = {**llama(), **own, **changes}
    del config["mlp_bias"]
    return config


def gemma3_text(**changes) -> dict:
    """The form of the first releases: rope_scaling for the layers without a window."""
    own = {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "num_hidden_layers": 3,
        "sliding_window_pattern": 3,
        "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
    }
    return {**gemma2(), **own, **changes}


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
