"""The fixture models whose matrices are in forms that tools for quantizing write: packed integers, and FP8 of several kinds."""

from fixture import Fixture
from fixture_configs import gemma2, llama, mixtral, qwen2, qwen3, qwen3_moe

# Four ranks have half a group of 64 columns each.
FOUR_HEADS = {
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "head_dim": 32,
    "num_hidden_layers": 1,
}

FORMS = (
    Fixture(
        "llama-gptq",
        "GPTQ of 4 bits by 64 columns with zero points that are stored less one; 4 ranks cut groups; untied head in BF16",
        llama(**FOUR_HEADS, rope_theta=10000.0),
        form="gptq4",
        shards=2,
        seed=91,
    ),
    Fixture(
        "qwen3-gptq-v2",
        "GPTQ of 8 bits, symmetric, columns in another order (desc_act), in the format gptq_v2; tied head",
        qwen3(num_hidden_layers=1),
        form="gptq8",
        seed=92,
    ),
    Fixture(
        "qwen2-awq",
        "AWQ of 4 bits by 64 columns, interleaved, with zero points, beside biases of q, k and v; for 2 and 4 ranks; untied head in BF16",
        qwen2(**FOUR_HEADS, tie_word_embeddings=False),
        form="awq",
        seed=93,
    ),
    Fixture(
        "qwen3_moe-gptq",
        "experts one by one in GPTQ of 4 bits, symmetric, by 64 columns, as Qwen has them: no list names the routers, which are in BF16; "
        "for 2 ranks, which cut groups",
        qwen3_moe(hidden_size=64, moe_intermediate_size=64, num_hidden_layers=2, tie_word_embeddings=False),
        form="gptq4-sym",
        shards=2,
        seed=209,  # 200 meets a close choice of experts, as do most
    ),
    Fixture(
        "mixtral-awq",
        "experts one by one, w1, w2 and w3, in AWQ of 4 bits by 64 columns; modules_to_not_convert has the end of the routers' names, which "
        "is the beginning of others; for 2 ranks, which cut groups",
        mixtral(intermediate_size=64),
        form="awq",
        seed=282,  # 175 meets a close choice of experts, as do most
    ),
    Fixture(
        "gemma2-w4a16",
        "pack-quantized of compressed-tensors on Gemma: 4 bits by 32 columns with zero points, down in 8 bits by output; for 2 and 4 ranks",
        gemma2(hidden_size=96, intermediate_size=128),
        form="w4a16",
        seed=215,
    ),
    Fixture(
        "gemma2-fp8-channel",
        "FP8 with one BF16 scale per row, of Gemma's own widths; tied head in BF16",
        gemma2(final_logit_softcapping=30.0),
        form="fp8-channel",
        seed=201,
    ),
    Fixture(
        "qwen3-w4a16",
        "pack-quantized of compressed-tensors: 4 bits by 32 columns with zero points, down in 8 bits by output; tied head",
        qwen3(num_hidden_layers=2),
        form="w4a16",
        seed=94,
    ),
    Fixture(
        "llama-w8a8",
        "int-quantized of compressed-tensors: signed bytes, one scale per output, activations by token that stay as they are",
        llama(num_hidden_layers=1, rope_theta=10000.0),
        form="w8a8",
        seed=95,
    ),
    Fixture(
        "qwen3-fp8-ue8m0",
        "FP8 blocks whose scales are exponents alone (F8_E8M0), partial at the edges; tied head",
        qwen3(num_hidden_layers=1, hidden_size=136),
        form="fp8-ue8m0",
        seed=96,
    ),
    Fixture(
        "llama-fp8-groups",
        "compressed-tensors with three groups in FP8: by tensor for attention, three scales in q, k and v, by channel for gate and "
        "up, by block for down; one down in BF16, scales of activations that stay as they are",
        llama(hidden_size=128, intermediate_size=256, num_attention_heads=4, head_dim=32, num_hidden_layers=2, rope_theta=10000.0),
        form="fp8-groups",
        seed=97,
    ),
    Fixture(
        "llama-fp8-quark",
        "Quark: FP8 by tensor for attention, three scales in q, k and v, by row with scales of one side for gate and up, gate, up "
        "and down in e4m3fnuz; scales of activations and of the cache that nobody reads",
        llama(num_hidden_layers=2, rope_theta=10000.0),
        form="quark-fp8",
        seed=98,
    ),
    Fixture(
        "llama-fp8-modelopt",
        "FP8 by tensor of modelopt: three scales in q, k and v, two in gate and up; scales of activations and of the cache that nobody reads",
        llama(num_hidden_layers=1, rope_theta=10000.0),
        form="fp8-modelopt",
        seed=165,
    ),
    Fixture(
        "qwen3-mxfp4-pack",
        "mxfp4-pack-quantized of compressed-tensors: E2M1 by 32 columns with powers of two, in two tensors; tied head",
        qwen3(num_hidden_layers=1),
        form="mxfp4-pack",
        seed=99,
    ),
)
