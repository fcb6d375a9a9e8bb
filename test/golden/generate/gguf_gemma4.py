"""What the converter writes of Gemma 4 beyond what other models have, from its description in conversion/gemma.py of llama.cpp."""

import gguf
import numpy as np


def gemma4_metadata(writer: gguf.GGUFWriter, config: dict) -> None:
    layers, shared = config["num_hidden_layers"], config["num_kv_shared_layers"]
    slides = [kind == "sliding_attention" for kind in config["layer_types"]]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(layers)
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    writer.add_sliding_window(config["sliding_window"])
    writer.add_sliding_window_pattern(slides)
    writer.add_shared_kv_layers(shared)
    writer.add_embedding_length_per_layer_input(config["hidden_size_per_layer_input"])
    wide, narrow = config["global_head_dim"], config["head_dim"]
    writer.add_key_length(wide)
    writer.add_value_length(wide)
    writer.add_key_length_swa(narrow)
    writer.add_value_length_swa(narrow)
    writer.add_rope_dimension_count(wide)
    writer.add_rope_dimension_count_swa(narrow)
    ropes = config["rope_parameters"]
    writer.add_rope_freq_base(ropes["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(ropes["sliding_attention"]["rope_theta"])
    heads, of_others = config["num_key_value_heads"], config["num_global_key_value_heads"]
    writer.add_head_count_kv(heads if of_others is None else [heads if sliding else of_others for sliding in slides])
    width = config["intermediate_size"]
    double = config.get("use_double_wide_mlp", False)
    writer.add_feed_forward_length([width * (2 if i >= layers - shared else 1) for i in range(layers)] if double else width)
    if config.get("enable_moe_block"):
        writer.add_expert_count(config["num_experts"])
        writer.add_expert_used_count(config["top_k_experts"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])


def proportional_divisors(config: dict) -> np.ndarray:
    """Of layers without a window: the first frequencies as they are, the others next to none."""
    angles = config["global_head_dim"] // 2
    rotating = int(angles * config["rope_parameters"]["full_attention"]["partial_rotary_factor"])
    return np.array([1.0] * rotating + [1e30] * (angles - rotating), np.float32)
