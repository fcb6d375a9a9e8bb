// The table of architectures of the page of weight formats, in Markdown: every model_type that the checkpoint code reads, and every
// architecture of GGUF files, has a row, or there is no table. Pure.

import { architectures } from '../src/config/architectures.js';
import { ggufArchitectures, type GgufArchitecture } from '../src/formats/gguf-keys.js';
import { table } from './weight-formats.js';

interface Releases {
  /** For the page. */
  readonly names: string;
  readonly gguf?: readonly GgufArchitecture[];
}

const releases: Readonly<Record<string, Releases>> = {
  llama: { names: 'Llama 2 to 3.3, SmolLM2, distillations of R1', gguf: ['llama'] },
  mistral: { names: 'Mistral 7B, Nemo, Small 24B, Devstral', gguf: ['llama'] },
  mistral3: { names: 'Mistral Small 3.1 and 3.2, Magistral: the text' },
  mixtral: { names: 'Mixtral 8x7B and 8x22B', gguf: ['llama'] },
  qwen2: { names: 'Qwen2 and 2.5, QwQ, distillations of R1', gguf: ['qwen2'] },
  qwen3: { names: 'Qwen3, Qwen3-Embedding, Qwen3-Reranker', gguf: ['qwen3'] },
  qwen3_vl: { names: 'Qwen3-VL without experts: the text' },
  qwen3_moe: { names: 'Qwen3 30B-A3B and 235B-A22B, Qwen3-Coder', gguf: ['qwen3moe'] },
  qwen3_next: { names: 'Qwen3-Next 80B-A3B', gguf: ['qwen3next'] },
  qwen3_5: { names: 'Qwen3.5, 3.6 and 3.8 without experts', gguf: ['qwen35'] },
  qwen3_5_moe: { names: 'Qwen3.5 and 3.6 with experts', gguf: ['qwen35moe'] },
  gpt_oss: { names: 'gpt-oss, gpt-oss-safeguard', gguf: ['gpt-oss'] },
  glm4_moe: { names: 'GLM 4.5 to 4.7, but for Flash', gguf: ['glm4moe'] },
  gemma2: { names: 'Gemma 2', gguf: ['gemma2'] },
  gemma3: { names: 'Gemma 3, EmbeddingGemma', gguf: ['gemma3'] },
  gemma4: { names: 'Gemma 4', gguf: ['gemma4'] },
  eurobert: { names: 'EuroBERT' },
  modernbert: { names: 'ModernBERT' },
  'xlm-roberta': { names: 'XLM-RoBERTa, BGE-M3, multilingual E5, BGE rerankers' },
};

/** What is read with another name beside: the text of a wrapper alone. */
const beside = (type: string): string => type.replace(/_text$/, '');

/** @throws Error where the table and the checkpoint code differ */
export function modelTypesTable(): string {
  const types = [...new Set(architectures.flatMap(({ modelTypes }) => modelTypes))];
  const rows = new Map<string, string[]>();
  for (const type of types) rows.set(beside(type), [...(rows.get(beside(type)) ?? []), type]);
  const inGguf = new Set(Object.values(releases).flatMap(({ gguf = [] }) => gguf));
  const strays = [
    ...[...rows.keys()].filter((type) => releases[type] === undefined),
    ...Object.keys(releases).filter((type) => !rows.has(type)),
    ...ggufArchitectures.filter((name) => !inGguf.has(name)),
  ];
  if (strays.length > 0) throw new Error(`model-types.ts is not of what is read: ${strays.join(', ')}`);
  const isEncoder = (type: string): boolean =>
    architectures.some(({ modelTypes, encoder }) => encoder && modelTypes.includes(type));
  const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  return table(
    ['`model_type`', 'releases', '`general.architecture` of GGUF', 'generates'],
    [...rows].map(([type, names]) => {
      const { names: of, gguf = [] } = releases[type] ?? { names: type };
      return [
        quoted(names),
        of,
        gguf.length === 0 ? '–' : quoted(gguf),
        isEncoder(type) ? 'no, embeds' : 'yes',
      ];
    }),
  );
}
