// A batch as it is stored, as its client sees it, and what may become of it. Invariants: a status only follows as `next`
// says; what the pod that runs it writes, it writes under its lease; rows that are done have their lines in the parts. Pure.

import { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';
import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import type { LineError } from './batch-row.js';
import { withRows, type RowRanges } from './row-ranges.js';
import type { ContentPart } from './stored-file.js';

/** `cancelling` and `finalizing`: it ends soon, as the pod that runs it comes to it. */
export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';

export interface BatchUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** A pod that runs the batch. */
export interface Lease {
  readonly holder: string;
  /** Unix milliseconds, after which another pod may take the batch over. */
  readonly until: number;
}

export interface Batch {
  readonly id: string;
  /** Id of its API key. */
  readonly owner: string;
  readonly endpoint: BatchEndpoint;
  readonly inputFileId: string;
  readonly metadata: Fields | null;
  readonly status: BatchStatus;
  /** When it came to be what it is or was, in Unix milliseconds. */
  readonly at: Readonly<Partial<Record<BatchStatus, number>>>;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly errors: readonly LineError[];
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly usage: BatchUsage;
  /** Rows that have been answered, from 0. */
  readonly done: RowRanges;
  readonly outputFileId: string;
  readonly errorFileId: string;
  readonly outputs: readonly ContentPart[];
  readonly failures: readonly ContentPart[];
  /** Null: no pod runs it. */
  readonly lease: Lease | null;
  /** Times in a row that a pod that ran it was lost before it had answered anything. */
  readonly losses: number;
}

/** What a pod has answered since it wrote last. */
export interface Progress {
  readonly rows: readonly number[];
  readonly completed: number;
  readonly failed: number;
  readonly usage: BatchUsage;
  /** Null: there is no line for that file. */
  readonly output: ContentPart | null;
  readonly failure: ContentPart | null;
}

export const noUsage: BatchUsage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };

const next: Readonly<Record<BatchStatus, readonly BatchStatus[]>> = {
  validating: ['in_progress', 'failed', 'cancelling', 'expired'],
  in_progress: ['finalizing', 'cancelling', 'expired', 'failed'],
  finalizing: ['completed', 'expired'],
  cancelling: ['cancelled'],
  completed: [],
  failed: [],
  expired: [],
  cancelled: [],
};

export const isOver = ({ status }: Batch): boolean => next[status].length === 0;

/** The batch in another status; as it is, where that does not follow. */
export function become(batch: Batch, status: BatchStatus, now: number): Batch {
  if (!next[batch.status].includes(status)) return batch;
  const changed = { ...batch, status, at: { ...batch.at, [status]: now } };
  return isOver(changed) ? { ...changed, lease: null } : changed;
}

/** It is cancelled by the pod that runs it, or by the next that does. @throws ApiError invalid_request: it has ended */
export function cancel(batch: Batch, now: number): Batch {
  if (batch.status === 'cancelling' || batch.status === 'cancelled') return batch;
  if (batch.status === 'finalizing' || isOver(batch)) {
    const message = `the batch is ${batch.status}: only one that is validating or in progress can be cancelled`;
    throw ApiError.of('invalid_request', message);
  }
  return become(batch, 'cancelling', now);
}

/** The batch under a lease of this pod; null: it needs none, or another pod has one. */
export function claim(batch: Batch, lease: Lease, now: number): Batch | null {
  const others = batch.lease !== null && batch.lease.holder !== lease.holder ? batch.lease : null;
  if (isOver(batch) || (others !== null && others.until > now)) return null;
  // A lease that is still there was not given back.
  const wasLost = others !== null;
  return { ...batch, lease, losses: wasLost ? batch.losses + 1 : batch.losses };
}

/** What was written already is not written again: a write may have succeeded whose answer was lost. */
export function advance(batch: Batch, progress: Progress): Batch {
  const { rows, output, failure } = progress;
  const isNew = (part: ContentPart | null): part is ContentPart =>
    part !== null && ![...batch.outputs, ...batch.failures].some(({ key }) => key === part.key);
  if (!isNew(output) && !isNew(failure)) return batch;
  return {
    ...batch,
    done: withRows(batch.done, rows),
    completed: batch.completed + progress.completed,
    failed: batch.failed + progress.failed,
    usage: addUsage(batch.usage, progress.usage),
    outputs: isNew(output) ? [...batch.outputs, output] : batch.outputs,
    failures: isNew(failure) ? [...batch.failures, failure] : batch.failures,
    losses: 0,
  };
}

export const addUsage = (a: BatchUsage, b: BatchUsage): BatchUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});

/** As OpenAI's clients read it. */
export function batchBody(batch: Batch, model: string): Fields {
  const { at, status, outputs, failures, errors } = batch;
  const time = (which: BatchStatus): number | null => seconds(at[which]);
  const isDone = isOver(batch);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model,
    errors: errors.length === 0 ? null : { object: 'list', data: errors },
    input_file_id: batch.inputFileId,
    completion_window: completionWindow,
    status,
    output_file_id: isDone && outputs.length > 0 ? batch.outputFileId : null,
    error_file_id: isDone && failures.length > 0 ? batch.errorFileId : null,
    created_at: seconds(batch.createdAt),
    in_progress_at: time('in_progress'),
    expires_at: seconds(batch.expiresAt),
    finalizing_at: time('finalizing'),
    completed_at: time('completed'),
    failed_at: time('failed'),
    expired_at: time('expired'),
    cancelling_at: time('cancelling'),
    cancelled_at: time('cancelled'),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    usage: usageBody(batch.usage),
    metadata: batch.metadata,
  };
}

export const completionWindow = '24h';
export const completionWindowMs = 24 * 3_600_000;

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

const usageBody = ({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: BatchUsage): Fields => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});
