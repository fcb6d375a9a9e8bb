// A sequence while the scheduler has it: its tokens, and, while it runs, its slot, blocks and progress.

import type { GenerateRequest } from './generation.js';

/** Prompt and generated tokens of one request. Survives preemption. */
export class Sequence {
  readonly request: GenerateRequest;
  /** Tokens, prompt included, at which generation ends. */
  readonly maxLength: number;
  readonly generated: number[] = [];
  /** How many prompt tokens have been counted as computed; recomputation does not count again. */
  promptCounted = 0;

  constructor(request: GenerateRequest, maxModelLen: number) {
    this.request = request;
    this.maxLength = Math.min(request.prompt.length + request.maxTokens, maxModelLen);
  }

  /** Known tokens. */
  get length(): number {
    return this.request.prompt.length + this.generated.length;
  }

  /** Prompt, then what was generated: what a slot is admitted with. */
  tokens(): Int32Array {
    const { prompt } = this.request;
    if (this.generated.length === 0) return prompt;
    const tokens = new Int32Array(this.length);
    tokens.set(prompt);
    tokens.set(this.generated, prompt.length);
    return tokens;
  }
}

/** A sequence that holds a slot. Known tokens minus `computed` is at least 1: the last token is always to come. */
export interface Running {
  readonly sequence: Sequence;
  readonly slot: number;
  readonly blocks: number[];
  /** Tokens whose KV and state are in the engine once the planned steps have run. */
  computed: number;
}
