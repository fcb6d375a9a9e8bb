// What is known of a request when all of it has ended: what the access log, the traces and the request log are made from.

import type { TokenCounts } from '../keys/token-counts.js';
import type { WholeCall } from '../tools/whole-calls.js';

/** One generation, or embedding, of a request. Times are monotonic, in milliseconds. */
export interface FinishedGeneration {
  readonly id: string;
  /** Of the first answer to the same prompt. */
  readonly promptId: string;
  /** The name that the answer carries. */
  readonly model: string;
  readonly stream: boolean;
  /** Null: what the context leaves, or an embedding. */
  readonly maxTokens: number | null;
  readonly promptTokens: number;
  /** Of the prompt's tokens, those that the prefix cache had. */
  readonly cachedTokens: number;
  /** Times that it lost its room to others and waited again. */
  readonly preemptions: number;
  /** As the answer's usage has it: of several answers to one prompt the first alone counts it, if it ran at all. */
  readonly usage: TokenCounts;
  /** `stop`, `length`, `abort` (the client went away) or `error`. */
  readonly finishReason: string;
  /** The error's code; null: none. */
  readonly errorCode: string | null;
  readonly arrivedAt: number;
  /** When the engine was asked. Null, as what follows: it ended before. */
  readonly submittedAt: number | null;
  /** When its first row ran. */
  readonly startedAt: number | null;
  readonly firstTokenAt: number | null;
  readonly lastTokenAt: number | null;
  readonly endedAt: number;
  /** Null unless texts are kept. */
  readonly answer: AnswerText | null;
}

/** What a generation said. */
export interface AnswerText {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly WholeCall[];
}

export interface EndedRequest {
  /** The answer's id; null: it was refused before it got one. */
  readonly id: string | null;
  /** What the client calls it, by the header x-request-id or in its body; null: it did not say. */
  readonly clientRequestId: string | null;
  /** As the table of routes writes it; null: there is no such route. */
  readonly route: string | null;
  readonly model: string | null;
  /** Id of the API key; null: none was asked for, or none was recognised. */
  readonly key: string | null;
  /** Null: the client went away before it was answered. */
  readonly status: number | null;
  /** Of the answer, or of the first generation that failed; null: no error. */
  readonly errorCode: string | null;
  /** Whether it was let in to generate. */
  readonly admitted: boolean;
  /** In the order of the answers: of prompts, and of each prompt's choices. */
  readonly generations: readonly FinishedGeneration[];
  /** Unix time in milliseconds. */
  readonly arrivedAtMs: number;
  /** On the clock of the generations. */
  readonly arrivedAt: number;
  readonly endedAt: number;
  readonly traceContext: TraceContext;
  /** As JSON gave it; undefined unless texts are kept. */
  readonly body: unknown;
}

/** W3C's headers, as the client sent them. */
export interface TraceContext {
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

export type RequestObserver = (request: EndedRequest) => void;
