"""config.json of the fixture models of Gemma 4: the dense 31B, the mixture 26B-A4B, and E2B with embeddings of each layer."""


def gemma4_text(**changes) -> dict:
    """Layers without a window have other heads: wider and fewer, of which keys are values. A cap far below that of releases."""
    return {
        "architectures": ["Gemma4ForCausalLM"],
        "model_type": "gemma4_text",
        "vocab_size": 320,
        "hidden_size": 72,
        "intermediate_size": 112,
        "num_hidden_layers": 3,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "global_head_dim": 48,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": True,
        "attention_bias": False,
        "sliding_window": 40,
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-6,
        "hidden_activation": "gelu_pytorch_tanh",
        "final_logit_softcapping": 8.0,
        "hidden_size_per_layer_input": 0,
        "num_kv_shared_layers": 0,
        "use_bidirectional_attention": "vision",
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.25},
        },
        "pad_token_id": 0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "tie_word_embeddings": True,
        **changes,
    }


def gemma4(text: dict) -> dict:
    """The nested form of the releases."""
    vision = {"model_type": "gemma4_vision", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "patch_size": 4, "position_embedding_size": 16}
    return {
        "architectures": ["Gemma4ForConditionalGeneration"],
        "model_type": "gemma4",
        "boi_token_id": 317,
        "eoi_token_id": 318,
        "image_token_id": 316,
        "video_token_id": 319,
        "audio_config": None,
        "tie_word_embeddings": True,
        "text_config": text,
        "vision_config": {**vision, **heads},
    }


def gemma4_moe_text(**changes) -> dict:
    """Each query head has keys and values of its own, but for layers without a window. The last of five experts weighs little: where
    two are close, which one is chosen moves little."""
    experts = {"enable_moe_block": True, "num_experts": 8, "top_k_experts": 5, "moe_intermediate_size": 24}
    layers = {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]}
    return gemma4_text(**{**experts, **layers, "num_key_value_heads": 4, "num_global_key_value_heads": 2, **changes})


def gemma4_small_text(**changes) -> dict:
    """As E2B: the last layers, whose feed-forward is twice as wide, read keys and values of the third and of the second layer."""
    sliding, full = "sliding_attention", "full_attention"
    own = {
        "num_hidden_layers": 5,
        "layer_types": [sliding, full, sliding, sliding, full],
        "num_kv_shared_layers": 2,
        "use_double_wide_mlp": True,
        "hidden_size_per_layer_input": 16,
        "vocab_size_per_layer_input": 320,
        "num_key_value_heads": 1,
        "num_global_key_value_heads": None,
        "attention_k_eq_v": False,
        "intermediate_size": 80,
        "head_dim": 24,
    }
    return gemma4_text(**{**own, **changes})
