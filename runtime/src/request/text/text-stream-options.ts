// What the text of one generation is to be read with: the tokenizer, what ends it, and what of it is reported.

import type { Detokenizer } from '../../tokens/detokenizer.js';
import type { RepetitionRule } from '../../tokens/repetition-detector.js';
import type { StopPattern } from '../../tokens/stop-pattern.js';
import type { ToolReader } from '../../tools/tool-reader.js';
import type { ChannelOptions } from './channel-reader.js';
import type { ThinkIds } from './think-ids.js';

export interface TextStreamOptions {
  readonly newDetokenizer: () => Detokenizer;
  /** One token as text, also one that a detokenizer leaves out. */
  readonly textOf: (id: number) => string;
  readonly stopStrings: readonly string[];
  /** What matches one ends the text and is part of it. */
  readonly stopPatterns: readonly StopPattern[];
  /** Whether what ended the text, a stop string or a stop token, is part of it. */
  readonly includeStopString: boolean;
  /** Ids that the client itself asked to stop at: only these are reported as the reason. */
  readonly stopTokenIds: readonly number[];
  /** Ids with which the model ends an answer by itself. */
  readonly eosIds: readonly number[];
  /** Tokens of which none ends a stop string or a repetition that counts; the engine sees to stop ids. */
  readonly minTokens: number;
  /** Null: the answer may repeat itself. */
  readonly repetition: RepetitionRule | null;
  /** Alternatives to report per token; `named`: the token itself, then those that the client named; null: no log probabilities. */
  readonly logprobs: number | 'named' | null;
  /** Whether ids are reported with the text. */
  readonly reportsIds: boolean;
  /** Null where the tokenizer has none or the route does not separate reasoning. */
  readonly think: ThinkIds | null;
  /** Whether the prompt opened the reasoning already. */
  readonly inReasoning: boolean;
  /** What separates calls from text behind the reasoning; null: all of it is text. */
  readonly tools: ToolReader | null;
  /** Whether calls that end the reasoning are calls: not where a grammar holds them to what comes behind it. */
  readonly callsInReasoning: boolean;
  /** Of an answer in channels, of which the four before are none; null: of any other. */
  readonly channels: ChannelOptions | null;
}
