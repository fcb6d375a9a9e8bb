// Typed reading of a GGUF file's tokenizer: each miss names the key and what it should hold.

import { type GgufHeader } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';

/** Kinds of tokens in tokenizer.ggml.token_type; 1 is an ordinary one. */
export const tokenKinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** The keys below tokenizer.ggml. */
export class TokenizerKeys {
  constructor(private readonly header: GgufHeader) {}

  get(key: string): unknown {
    return this.header.values.get(`tokenizer.ggml.${key}`);
  }

  texts(key: string): readonly string[] {
    const value = this.get(key);
    if (isArrayOf(value, 'string')) return value as readonly string[];
    throw this.invalid(key, 'is not a list of texts');
  }

  /** Null where the key is absent. */
  numbers(key: string, length: number): readonly number[] | null {
    const value = this.get(key);
    if (value === undefined) return null;
    if (isArrayOf(value, 'number') && (value as readonly number[]).length === length)
      return value as readonly number[];
    throw this.invalid(key, `is not a list of ${String(length)} numbers`);
  }

  /** A token's id; null where the key is absent. */
  id(key: string, tokens: number): number | null {
    const value = this.get(key);
    if (value === undefined) return null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < tokens) return value;
    throw this.invalid(key, `is ${quote(value)}; expected the id of one of ${String(tokens)} tokens`);
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.get(key) ?? otherwise;
    if (typeof value === 'boolean') return value;
    throw this.invalid(key, 'is not true or false');
  }

  invalid(key: string, problem: string): FailureError {
    const { file } = this.header;
    return new FailureError('TokenizerInvalid', `${file}: key tokenizer.ggml.${key} ${problem}`, { file });
  }
}

function isArrayOf(value: unknown, kind: 'string' | 'number'): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === kind);
}

export function quote(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
}
