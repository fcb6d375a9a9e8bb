"""The checkpoint's JSON files, in the form of the Qwen3.5 FP8 releases."""

from model import Shape
from quantize import BLOCK
from tokenizer import END_OF_TEXT, IM_END

CONTEXT = 4096


def model_config(s: Shape, ids: dict[str, int], unquantized: list[str]) -> dict:
    full = ["full_attention" if s.is_full_attention(i) else "linear_attention" for i in range(s.layers)]
    text = {
        "model_type": "qwen3_5_text",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "dtype": "bfloat16",
        "eos_token_id": ids[IM_END],
        "full_attention_interval": s.interval,
        "head_dim": s.head_dim,
        "hidden_act": "silu",
        "hidden_size": s.hidden,
        "initializer_range": 0.02,
        "intermediate_size": s.ffn,
        "layer_types": full,
        "linear_conv_kernel_dim": s.conv_kernel,
        "linear_key_head_dim": s.gdn_head_dim,
        "linear_num_key_heads": s.gdn_key_heads,
        "linear_num_value_heads": s.gdn_value_heads,
        "linear_value_head_dim": s.gdn_head_dim,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": CONTEXT,
        "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False,
        "num_attention_heads": s.heads,
        "num_hidden_layers": s.layers,
        "num_key_value_heads": s.kv_heads,
        "rms_norm_eps": s.eps,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": s.rope_theta,
            "partial_rotary_factor": s.rotary_fraction,
            "mrope_interleaved": True,
            "mrope_section": [3, 3, 2],
        },
        "tie_word_embeddings": True,
        "use_cache": True,
        "vocab_size": s.vocab,
    }
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "dtype": "bfloat16",
        "tie_word_embeddings": True,
        "text_config": text,
        "quantization_config": {
            "quant_method": "fp8",
            "fmt": "e4m3",
            "activation_scheme": "dynamic",
            "weight_block_size": [BLOCK, BLOCK],
            "modules_to_not_convert": unquantized,
        },
    }


def generation_config(ids: dict[str, int]) -> dict:
    """Greedy by default: a model of remembered sentences has nothing to gain from sampling."""
    return {"do_sample": False, "eos_token_id": [ids[IM_END], ids[END_OF_TEXT]], "pad_token_id": ids[END_OF_TEXT]}


def tokenizer_config(template: str, added: dict[int, tuple[str, bool]]) -> dict:
    """added: id -> (text, special)."""
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_prefix_space": False,
        "added_tokens_decoder": {str(i): {"content": t, **flags, "special": s} for i, (t, s) in added.items()},
        "additional_special_tokens": [t for t, special in added.values() if special and t != END_OF_TEXT],
        "bos_token": None,
        "chat_template": template,
        "clean_up_tokenization_spaces": False,
        "eos_token": IM_END,
        "model_max_length": CONTEXT,
        "pad_token": END_OF_TEXT,
        "split_special_tokens": False,
        "unk_token": None,
    }
