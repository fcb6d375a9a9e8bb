// Typed reading of a GGUF file's metadata: each miss names the key and what it should hold.

import { FailureError } from '@llmservice/crds';
import type { GgufHeader } from './gguf-header.js';
import type { GgufValue } from './gguf-values.js';

export const ggufArchitectures = [
  ...([
    'llama',
    'qwen2',
    'qwen3',
    'qwen3moe',
    'qwen35',
    'qwen35moe',
    'qwen3next',
    'gpt-oss',
    'glm4moe',
    'gemma2',
    'gemma3',
    'gemma4',
  ] as const),
] as const;
export type GgufArchitecture = (typeof ggufArchitectures)[number];

export class GgufKeys {
  readonly architecture: GgufArchitecture;
  private readonly header: GgufHeader;

  /** @throws FailureError UnsupportedArchitecture */
  constructor(header: GgufHeader) {
    this.header = header;
    const name = header.values.get('general.architecture');
    const known = ggufArchitectures.find((architecture) => architecture === name);
    if (known === undefined) {
      const found = name === undefined ? 'missing' : JSON.stringify(name).slice(0, 80);
      throw this.unsupported(
        `general.architecture is ${found}; supported in GGUF files: ${ggufArchitectures.join(', ')}`,
      );
    }
    this.architecture = known;
  }

  get hybrid(): boolean {
    return this.architecture.startsWith('qwen35') || this.isQwen3Next;
  }

  /** Files of Mixtral are `llama` with experts. */
  get sparse(): boolean {
    if (this.isGemma4) return this.number('expert_count', 0) > 0;
    return this.architecture.endsWith('moe') || this.isQwen3Next || this.isMixtral || this.isGptOss;
  }

  get isGemma(): boolean {
    return this.architecture.startsWith('gemma');
  }

  get isGemma4(): boolean {
    return this.architecture === 'gemma4';
  }

  get isQwen3Next(): boolean {
    return this.architecture === 'qwen3next';
  }

  get isGptOss(): boolean {
    return this.architecture === 'gpt-oss';
  }

  get isGlm(): boolean {
    return this.architecture === 'glm4moe';
  }

  get isMixtral(): boolean {
    return this.architecture === 'llama' && this.number('expert_count', 0) > 0;
  }

  /** Layers of the model itself, without those that only draft tokens. */
  get layers(): number {
    const drafting = this.number('nextn_predict_layers', 0);
    const layers = this.count('block_count') - drafting;
    // Each has tensors, so that a wrong number takes no memory.
    if (layers > this.header.tensors.length) {
      throw this.corrupt('block_count', `is ${String(layers)}, more than the file has tensors`);
    }
    if (!(drafting >= 0 && layers >= 1))
      throw this.corrupt('nextn_predict_layers', 'leaves no layer of block_count');
    return layers;
  }

  /** A positive integer; keys are those of the architecture, without its name and the dot. */
  count(key: string, otherwise?: number): number {
    const value = this.get(key) ?? otherwise;
    if (value === undefined || Array.isArray(value)) {
      throw this.corrupt(key, 'is missing, or differs from layer to layer');
    }
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 2 ** 30) return value;
    throw this.corrupt(key, 'is not a positive integer');
  }

  /** A positive integer of each layer, or one of all. */
  counts(key: string, layers: number): number[] {
    const value = this.get(key);
    if (!Array.isArray(value)) return Array.from({ length: layers }, () => this.count(key));
    const each: unknown[] = [...(value as readonly unknown[])];
    const isCount = (n: unknown): n is number =>
      typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= 2 ** 30;
    if (each.length === layers && each.every(isCount)) return each;
    throw this.corrupt(key, `is not a positive integer, or ${String(layers)} of them`);
  }

  /** True or false of each layer. */
  flags(key: string, layers: number): boolean[] {
    const value = this.get(key);
    const each: unknown[] = Array.isArray(value) ? [...(value as readonly unknown[])] : [];
    const isFlag = (flag: unknown): flag is boolean => typeof flag === 'boolean';
    if (each.length === layers && each.every(isFlag)) return each;
    throw this.corrupt(key, `is not a list of true and false for ${String(layers)} layers`);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  number(key: string, otherwise: number): number {
    const value = this.get(key) ?? otherwise;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.corrupt(key, 'is not a finite number');
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.get(key) ?? otherwise;
    if (typeof value === 'boolean') return value;
    throw this.corrupt(key, 'is not true or false');
  }

  text(key: string, otherwise: string): string {
    const value = this.get(key) ?? otherwise;
    if (typeof value === 'string') return value;
    throw this.corrupt(key, 'is not a text');
  }

  corrupt(key: string, problem: string): FailureError {
    return new FailureError(
      'CheckpointCorrupt',
      `${this.header.file}: key ${this.architecture}.${key} ${problem}`,
      {
        file: this.header.file,
      },
    );
  }

  unsupported(problem: string): FailureError {
    return new FailureError('UnsupportedArchitecture', `${this.header.file}: ${problem}`);
  }

  private get(key: string): GgufValue | undefined {
    return this.header.values.get(`${this.architecture}.${key}`);
  }
}
