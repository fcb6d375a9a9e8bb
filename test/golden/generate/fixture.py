"""What a fixture model is: configuration, weight format, file layout."""

from dataclasses import dataclass


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
