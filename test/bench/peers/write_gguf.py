"""Writes the benchmark's random checkpoint (llmservice_bench write FOLDER ARCHITECTURE) as a GGUF file that
llama-bench and our engine can load: write_gguf.py FOLDER OUT.gguf bf16|q8_0. The shapes are what matters: values that
the public converter would transform or reorder are taken as they are, but for A_log, of which our loader wants
-exp. The folder's tokenizer.json, if there is one, is taken as what it is here: bytes and merges. Needs gguf-py and
numpy."""

import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

ARCHITECTURES = {
    'llama': gguf.MODEL_ARCH.LLAMA,
    'qwen3': gguf.MODEL_ARCH.QWEN3,
    'qwen3_moe': gguf.MODEL_ARCH.QWEN3MOE,
    'qwen3_next': gguf.MODEL_ARCH.QWEN3NEXT,
    'qwen3_5_text': gguf.MODEL_ARCH.QWEN35,
    'qwen3_5_moe_text': gguf.MODEL_ARCH.QWEN35MOE,
}


def read_tensors(path):
    """Yields (name, BF16 codes as uint16) in the file's order."""
    with open(path, 'rb') as file:
        (length,) = struct.unpack('<Q', file.read(8))
        header = json.loads(file.read(length))
    data = np.memmap(path, dtype=np.uint8, mode='r', offset=8 + length)
    for name, entry in sorted(header.items(), key=lambda item: item[1]['data_offsets'][0]):
        begin, end = entry['data_offsets']
        yield name, data[begin:end].view(np.uint16).reshape(entry['shape'])


def widen(codes):
    return (codes.astype(np.uint32) << 16).view(np.float32)


def merge_experts(tensors):
    """GGUF holds the experts of a layer in one tensor."""
    stacks = {}
    for name, codes in tensors:
        before, experts, after = name.partition('.experts.')
        if not experts:
            yield name, codes
            continue
        _, part = after.split('.', 1)
        stacks.setdefault(f'{before}.experts.{part}', []).append(codes)
    for name, parts in stacks.items():
        yield name, np.stack(parts)


def split_projections(tensors, config):
    """Newer files of qwen3_next hold q, k and v beside z."""
    for name, codes in tensors:
        if not name.endswith('in_proj_qkvz.weight'):
            yield name, codes
            continue
        qkv = 2 * config['linear_num_key_heads'] * config['linear_key_head_dim'] + (
            config['linear_num_value_heads'] * config['linear_value_head_dim']
        )
        yield name.replace('qkvz', 'qkv'), codes[:qkv]
        yield name.replace('qkvz', 'z'), codes[qkv:]


def write_tokenizer(writer, path):
    if not path.exists():
        writer.add_tokenizer_model('none')
        return
    tokenizer = json.loads(path.read_text())
    model = tokenizer['model']
    special = {token['content'] for token in tokenizer['added_tokens']}
    tokens = sorted(model['vocab'], key=model['vocab'].get)
    writer.add_tokenizer_model('gpt2')
    writer.add_tokenizer_pre('gpt-2')
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([' '.join(pair) for pair in model['merges']])
    begin, end = (token['id'] for token in tokenizer['added_tokens'])
    writer.add_bos_token_id(begin)
    writer.add_eos_token_id(end)
    writer.add_add_bos_token(False)


def write_parameters(writer, config):
    writer.add_vocab_size(config['vocab_size'])
    writer.add_context_length(config['max_position_embeddings'])
    writer.add_embedding_length(config['hidden_size'])
    writer.add_block_count(config['num_hidden_layers'])
    writer.add_feed_forward_length(config['intermediate_size'])
    writer.add_head_count(config['num_attention_heads'])
    writer.add_head_count_kv(config['num_key_value_heads'])
    writer.add_key_length(config['head_dim'])
    writer.add_value_length(config['head_dim'])
    writer.add_layer_norm_rms_eps(config['rms_norm_eps'])
    writer.add_rope_freq_base(config['rope_theta'])
    writer.add_rope_dimension_count(int(config['head_dim'] * config.get('partial_rotary_factor', 1)))
    if 'num_experts' in config:
        writer.add_expert_count(config['num_experts'])
        writer.add_expert_used_count(config['num_experts_per_tok'])
        writer.add_expert_feed_forward_length(config['moe_intermediate_size'])
    if 'shared_expert_intermediate_size' in config:
        writer.add_expert_shared_feed_forward_length(config['shared_expert_intermediate_size'])
    if 'linear_conv_kernel_dim' in config:
        writer.add_ssm_conv_kernel(config['linear_conv_kernel_dim'])
        writer.add_ssm_state_size(config['linear_key_head_dim'])
        writer.add_ssm_group_count(config['linear_num_key_heads'])
        writer.add_ssm_time_step_rank(config['linear_num_value_heads'])
        writer.add_ssm_inner_size(config['linear_num_value_heads'] * config['linear_value_head_dim'])
        writer.add_full_attention_interval(config['full_attention_interval'])
        writer.add_rope_dimension_sections([11, 11, 10, 0])


def add_tensor(writer, names, name, codes, quantize):
    name = name.replace('.dt_bias', '.dt_proj.bias')
    found = names.get_name(name, try_suffixes=('.weight', '.bias'))
    if found is None:
        sys.exit(f'GGUF has no name for {name}')
    if 'conv1d' in name or 'shared_expert_gate' in name:
        codes = codes.squeeze()
    is_matrix = codes.ndim > 1 and 'conv1d' not in name
    if name.endswith('A_log'):
        writer.add_tensor(found, -np.exp(widen(codes)))
    elif not is_matrix or 'mlp.gate.weight' in name:
        writer.add_tensor(found, widen(codes))
    elif quantize:
        packed = gguf.quants.quantize(widen(codes), gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(found, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    else:
        raw = np.ascontiguousarray(codes).view(np.uint8)
        writer.add_tensor(found, raw, raw_dtype=gguf.GGMLQuantizationType.BF16)


def main():
    folder, out, kind = sys.argv[1:]
    config = json.loads((Path(folder) / 'config.json').read_text())
    arch = ARCHITECTURES[config['model_type']]
    names = gguf.get_tensor_name_map(arch, config['num_hidden_layers'])
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[arch])
    write_tokenizer(writer, Path(folder) / 'tokenizer.json')
    write_parameters(writer, config)
    tensors = read_tensors(Path(folder) / 'model.safetensors')
    for name, codes in split_projections(merge_experts(tensors), config):
        add_tensor(writer, names, name, codes, kind == 'q8_0')
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
