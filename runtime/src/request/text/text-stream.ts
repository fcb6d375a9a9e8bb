// Engine output of one generation as text: whole characters, stop strings found, reasoning and calls of tools separated,
// tokens counted. Pure and incremental; one instance per generation.

import type { EngineOutput, FinishReason, TokenLogprobs } from '../../engine/protocol.js';
import { RepetitionDetector } from '../../tokens/repetition-detector.js';
import { StopMatcher } from '../../tokens/stop-matcher.js';
import type { AnswerReader, ReadAnswer } from './answer-reader.js';
import { ChannelReader } from './channel-reader.js';
import type { TextStreamOptions } from './text-stream-options.js';
import { ThinkingReader } from './thinking-reader.js';

export interface GeneratedToken {
  readonly id: number;
  /** Null of the first token of an echoed prompt. */
  readonly logprobs: TokenLogprobs | null;
  /** Of a prompt's token: whether the echoed text has nothing of it. */
  readonly isLeftOut?: boolean;
  /** Whether it writes the answer's text: it is neither reasoning, nor a token around it, nor of a call. */
  readonly isText?: boolean;
}

/** What ended the tokens: the model or a stop string, a limit, or that they repeat themselves. */
type TokensEnd = FinishReason | 'repetition';

/** As vLLM says so. */
const repetitionDetected = 'repetition_detected';

/** What one engine output adds. */
export interface TextDelta extends ReadAnswer {
  /** Tokens with their log probabilities, the stop token only where its id or text is reported; empty unless asked for. */
  readonly logprobs: readonly GeneratedToken[];
  /** Ids of what was generated, the one that ended it included; null: not asked for. */
  readonly tokenIds: readonly number[] | null;
  /** On the first delta: the prompt's ids. Null: not asked for. */
  readonly promptTokenIds: readonly number[] | null;
  readonly finish: TokensEnd | 'tool_calls' | null;
  /** The stop string, pattern or id of the client that ended the text, or that it repeats itself; null: none of them. */
  readonly stopReason: string | number | null;
}

/** Nothing new. */
export const silentDelta: TextDelta = {
  content: '',
  reasoning: '',
  toolCalls: [],
  logprobs: [],
  tokenIds: null,
  promptTokenIds: null,
  finish: null,
  stopReason: null,
};

export class TextStream {
  private readonly options: TextStreamOptions;
  private readonly reader: AnswerReader;
  private readonly repetition: RepetitionDetector | null;
  private tokens = 0;
  private reasoning = 0;

  constructor(options: TextStreamOptions) {
    this.options = options;
    const { stopStrings, includeStopString: include, stopPatterns: patterns, channels } = options;
    const matcher = new StopMatcher(stopStrings, { include, patterns });
    this.reader =
      channels === null
        ? new ThinkingReader(options, matcher)
        : new ChannelReader(channels, options.newDetokenizer, matcher);
    this.repetition = options.repetition === null ? null : new RepetitionDetector(options.repetition);
  }

  /** Tokens generated so far, the stop token included, what followed a stop string not. */
  get completionTokens(): number {
    return this.tokens;
  }

  get reasoningTokens(): number {
    return this.reasoning;
  }

  /** After a delta with `finish` nothing more may be pushed. */
  push(output: EngineOutput): TextDelta {
    const { minTokens } = this.options;
    const gathered: Gathered = { logprobs: [], ids: [] };
    for (const [i, id] of output.tokens.entries()) {
      this.tokens += 1;
      gathered.ids.push(id);
      if (this.reader.isReasoning) this.reasoning += 1;
      this.score(id, output.logprobs?.[i], gathered);
      const stop = this.reader.push(id, this.tokens > minTokens);
      if (stop !== null || this.reader.isFull) return this.last(gathered, 'stop', stop);
      const repeats = this.repetition?.push(id) === true && this.tokens >= minTokens;
      // Where the answer ends with this token in any case, that is why.
      const endsAnyway = output.finish === 'length' && i === output.tokens.length - 1;
      if (repeats && !endsAnyway) return this.close(gathered, 'repetition', repetitionDetected);
    }
    if (output.finish === null) return { ...this.deltaOf(gathered), finish: null, stopReason: null };

    if (output.stopToken !== null) this.endWith(output.stopToken, output.stopLogprobs, gathered);
    const ownStop = output.stopToken !== null && this.options.stopTokenIds.includes(output.stopToken);
    return this.close(gathered, output.finish, ownStop ? output.stopToken : null);
  }

  /** The end of the text may complete a stop string yet. */
  private close(gathered: Gathered, finish: TokensEnd, stopReason: string | number | null): TextDelta {
    const stop = this.reader.close();
    return stop === null ? this.last(gathered, finish, stopReason) : this.last(gathered, 'stop', stop);
  }

  private endWith(id: number, logprobs: TokenLogprobs | null, gathered: Gathered): void {
    const { reportsIds, includeStopString } = this.options;
    this.tokens += 1;
    gathered.ids.push(id);
    // Who gets the ids finds as many log probabilities; in OpenAI's answers are those of the text alone.
    if (reportsIds || includeStopString) this.score(id, logprobs, gathered);
    if (!includeStopString) return;
    // The token has ended the text: no stop string can any more.
    this.reader.flush();
    this.reader.push(id, false);
  }

  private score(id: number, scores: TokenLogprobs | null | undefined, { logprobs }: Gathered): void {
    const { logprobs: alternatives } = this.options;
    if (scores == null || alternatives === null) return;
    const top =
      alternatives === 'named'
        ? [{ token: id, logprob: scores.logprob }, ...scores.top.filter(({ token }) => token !== id)]
        : scores.top.slice(0, alternatives);
    logprobs.push({ id, logprobs: { ...scores, top }, isText: this.reader.writesText(id) });
  }

  private last(gathered: Gathered, finish: TokensEnd, stopReason: string | number | null): TextDelta {
    const { eosIds } = this.options;
    const ownStop = typeof stopReason === 'number' && !eosIds.includes(stopReason);
    this.reader.end(finish === 'length' || typeof stopReason === 'string' || ownStop);
    const calls = finish === 'stop' && this.reader.asksForCalls;
    return { ...this.deltaOf(gathered), finish: calls ? 'tool_calls' : finish, stopReason };
  }

  private deltaOf({ logprobs, ids }: Gathered): Omit<TextDelta, 'finish' | 'stopReason'> {
    const tokenIds = this.options.reportsIds ? ids : null;
    return { ...this.reader.take(), logprobs, tokenIds, promptTokenIds: null };
  }
}

/** Of one engine output. */
interface Gathered {
  readonly logprobs: GeneratedToken[];
  readonly ids: number[];
}
