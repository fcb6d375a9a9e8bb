// The model architectures that the engine runs, and the names that checkpoints have for them.

export const architectures = ['llama', 'qwen3', 'qwen3_moe', 'qwen3_next', 'qwen3_5', 'qwen3_5_moe'] as const;
export type Architecture = (typeof architectures)[number];

/** Architectures whose layers are mostly Gated DeltaNet ones. */
export const hybrids: ReadonlySet<Architecture> = new Set(['qwen3_next', 'qwen3_5', 'qwen3_5_moe']);

/** `model_type` values that are accepted, and the architecture each one names. */
export const supportedModelTypes: Readonly<Record<string, Architecture>> = {
  llama: 'llama',
  qwen3: 'qwen3',
  qwen3_moe: 'qwen3_moe',
  qwen3_next: 'qwen3_next',
  qwen3_5: 'qwen3_5',
  qwen3_5_text: 'qwen3_5',
  qwen3_5_moe: 'qwen3_5_moe',
  qwen3_5_moe_text: 'qwen3_5_moe',
};

/** Architectures some of whose feed-forward layers are mixtures of experts. */
export const withExperts: ReadonlySet<Architecture> = new Set(['qwen3_moe', 'qwen3_next', 'qwen3_5_moe']);
