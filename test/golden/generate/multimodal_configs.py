"""config.json of multimodal fixture models around the text of one of fixture_configs.py, with a tiny tower for images."""


def mistral3(text: dict) -> dict:
    """With a tower for images, as Mistral Small 3.1 and 3.2 and Magistral have it."""
    vision = {"model_type": "pixtral", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    return {
        "architectures": ["Mistral3ForConditionalGeneration"],
        "model_type": "mistral3",
        "image_token_index": 316,
        "multimodal_projector_bias": False,
        "projector_hidden_act": "gelu",
        "spatial_merge_size": 2,
        "vision_feature_layer": -1,
        "tie_word_embeddings": False,
        "text_config": text,
        "vision_config": {**vision, "head_dim": 8, "image_size": 8, "patch_size": 4, "num_channels": 3, "rope_theta": 10000.0},
    }


def gemma3(text: dict) -> dict:
    vision = {"model_type": "siglip_vision_model", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1}
    return {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "boi_token_index": 317,
        "eoi_token_index": 318,
        "image_token_index": 316,
        "mm_tokens_per_image": 4,
        "tie_word_embeddings": True,
        "text_config": text,
        "vision_config": {**vision, "num_attention_heads": 2, "image_size": 8, "patch_size": 4},
    }


def qwen3_vl(text: dict) -> dict:
    """With a tower for images: positions of a text are alike in all three of its sections."""
    vision = {"model_type": "qwen3_vl", "depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "patch_size": 4}
    return {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "image_token_id": 316,
        "video_token_id": 317,
        "vision_start_token_id": 318,
        "vision_end_token_id": 319,
        "tie_word_embeddings": text["tie_word_embeddings"],
        "text_config": {**text, "model_type": "qwen3_vl_text"},
        "vision_config": {**vision, "out_hidden_size": text["hidden_size"], "deepstack_visual_indexes": [0], "num_position_embeddings": 16},
    }
