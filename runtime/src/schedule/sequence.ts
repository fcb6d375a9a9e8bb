// A sequence while the scheduler has it: its tokens, and, while it runs, its slot, blocks and progress.

import type { CompiledGrammar, Constraint } from '@llmservice/native';
import type { GenerateRequest } from './generation.js';
import type { CachedBlock } from './cached-block.js';

/** Prompt and generated tokens of one request. Survives preemption. */
export class Sequence {
  readonly request: GenerateRequest;
  readonly constraint: Constraint | null;
  /** Tokens, prompt included, at which generation ends. */
  readonly maxLength: number;
  readonly generated: number[] = [];
  /** Whether it has held a slot before. */
  started = false;
  /** Tokens of the prompt that have been scored, where scores are wanted: from the second on, each given those before it. */
  scored = 0;

  /** Of the tokens that the prefix cache has, those that nobody computed for its sake; more: all of them. */
  readonly reusedAtMost: number;

  constructor(
    request: GenerateRequest,
    maxModelLen: number,
    grammar: CompiledGrammar | null = null,
    reusedAtMost = Infinity,
  ) {
    this.request = request;
    this.reusedAtMost = reusedAtMost;
    const reasoning = request.grammar?.after ?? null;
    const after = reasoning === null ? null : { ...reasoning, stops: request.stopTokens };
    this.constraint = grammar === null ? null : { grammar, after };
    this.maxLength = Math.min(request.prompt.length + request.maxTokens, maxModelLen);
  }

  /** Whether tokens of the prompt are still to be scored: their positions have to be computed. */
  get wantsScores(): boolean {
    return this.request.promptLogprobs && this.scored < this.request.prompt.length - 1;
  }

  /** Most tokens whose KV it can come to need: all of the prompt, and never the last one that is generated. */
  get maxComputed(): number {
    return Math.max(this.request.prompt.length, this.maxLength - 1);
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

  /** The tokens of a whole block as text, two UTF-16 units each: equal texts are equal tokens. */
  blockText(index: number, blockSize: number): string {
    const { prompt } = this.request;
    const first = index * blockSize;
    const tokens = new Int32Array(blockSize);
    const inPrompt = prompt.subarray(first, first + blockSize);
    tokens.set(inPrompt);
    for (let i = inPrompt.length; i < blockSize; i++)
      tokens[i] = this.generated[first + i - prompt.length] ?? NaN;
    // `apply` takes the array as it is; spreading it would cost several times as much, and this runs in every step.
    return String.fromCharCode.apply(null, new Uint16Array(tokens.buffer) as unknown as number[]);
  }
}

/**
 * A sequence that holds a slot. Where no step is in flight, known tokens minus `computed` is at least 1: the last token
 * is always to come, and what is pooled leaves with the step that computes it.
 */
export interface Running {
  readonly sequence: Sequence;
  readonly slot: number;
  /** Block table; the first `path.length` blocks are shared or may come to be. */
  readonly blocks: number[];
  /** What the cache knows of them. */
  readonly path: CachedBlock[];
  /** Positions, ascending, whose state is still to be saved. */
  readonly savePlaces: number[];
  /** Tokens whose KV and state are in the engine once the planned steps have run. */
  computed: number;
  /** Drafts that the slot holds: guesses of its next tokens, which the next step may verify. */
  drafts: number;
  /** Drafts that the first step in flight verifies. */
  verifying: number;
  /** Drafts that the step planned ahead verifies at most: so many of those that the step in flight makes. */
  verifyingAhead: number;
}
