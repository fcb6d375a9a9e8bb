// Answers of single rows: each is sent until it has an answer that a second try would not change.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../../request/body/api-error.js';
import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import type { AnsweredRow } from './answered-rows.js';
import { usageOf } from './answer-usage.js';
import { noUsage } from './batch.js';
import {
  answerLine,
  errorLine,
  readRow,
  refusedAnswer,
  sentBody,
  type BatchRow,
  type RowAnswer,
} from './batch-row.js';
import type { Line } from './line-reader.js';
import type { SendRow } from './send-row.js';
import type { Slots } from './slots.js';

interface RowAnswering {
  readonly send: SendRow;
  readonly slots: Slots;
  readonly owner: string;
  readonly endpoint: BatchEndpoint;
  readonly maxLineBytes: number;
  /** Aborted: nothing is waited for. */
  readonly ending: AbortSignal;
  /** Aborted: nothing is sent any more. */
  readonly over: AbortSignal;
}

/** Of a server that has no room now, or of a key that has used up what it may for now. */
const passing = [
  'queue_full',
  'rate_limit_exceeded',
  'server_busy',
  'model_not_ready',
  'draining',
  'request_timeout',
];
/** Of a request that ends in an error of the server. */
const maxAttempts = 3;
const firstWaitMs = 500;
const longestWaitMs = 30_000;

export class RowAnswers {
  constructor(private readonly parts: RowAnswering) {}

  /** Null: it has no answer yet, and gets none here. */
  async of(line: Line, row: number): Promise<AnsweredRow | null> {
    const { endpoint, maxLineBytes } = this.parts;
    const id = newRequestId();
    const read = readRow(line, endpoint, maxLineBytes);
    // It was checked: the file is another one now.
    if (!read.ok) {
      const { code, message } = read.error;
      return { row, isOk: false, line: errorLine(id, '', code, message), usage: noUsage };
    }
    const { customId, refusal } = read.row;
    const answer = refusal === null ? await this.#answer(read.row) : refusedAnswer(refusal, id);
    if (answer === null) return null;
    const isOk = answer.status === 200;
    const usage = isOk ? usageOf(answer.body) : noUsage;
    return { row, isOk, line: answerLine(id, customId, answer), usage };
  }

  async #answer(row: BatchRow): Promise<RowAnswer | null> {
    const { over, ending } = this.parts;
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#sendInTurn(row);
        // What was ended here ends with an error that is not its own.
        if (ending.aborted) return null;
        if (!isForLater(answer, attempt)) return answer;
        await wait(waitMs(attempt), undefined, { signal: over });
      } catch (error) {
        if (over.aborted) return null;
        if (attempt >= maxAttempts) return refusedAnswer(unanswered(error), '');
      }
    }
  }

  /** Who waits to send again keeps no place from others. */
  async #sendInTurn(row: BatchRow): Promise<RowAnswer> {
    const { send, slots, owner, endpoint, ending, over } = this.parts;
    const leave = await slots.take(over);
    try {
      return await send(owner, endpoint, sentBody(row), ending);
    } finally {
      leave();
    }
  }
}

const unanswered = (error: unknown): ApiError =>
  ApiError.of('internal_error', `the request could not be answered: ${String(error)}`);

export const newRequestId = (): string => `batch_req_${randomUUID().replaceAll('-', '')}`;

function isForLater({ status, body }: RowAnswer, attempt: number): boolean {
  if (status < 400) return false;
  if (passing.includes(codeOf(body))) return true;
  return status >= 500 && attempt < maxAttempts;
}

/** Empty: it has none. */
function codeOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly code?: string } };
    return error?.code ?? '';
  } catch {
    return '';
  }
}

const waitMs = (attempt: number): number =>
  Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
