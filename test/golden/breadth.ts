// How much a golden test runs: GOLDEN_WIDE=1 takes everything; the fast run, of what repeats what other tests show, one
// model of every architecture.

export const wide = process.env['GOLDEN_WIDE'] === '1';

export const oneOfEach: readonly string[] = [
  'gemma2-bf16',
  'gemma3_text-bf16',
  'gemma4-bf16-moe',
  'glm4_moe-bf16',
  'gpt_oss-mxfp4',
  'llama-bf16',
  'mistral-bf16',
  'mixtral-bf16',
  'qwen2-bf16',
  'qwen3-fp8',
  'qwen3_5-bf16',
  'qwen3_5_moe-bf16',
  'qwen3_5_text-fp8-channel',
  'qwen3_moe-bf16',
  'qwen3_next-fp8',
];
