import { describe, expect, test } from '@jest/globals';
import {
  advance,
  batchBody,
  become,
  cancel,
  claim,
  isOver,
  noUsage,
  type BatchStatus,
  type Progress,
} from './batch.js';
import { batchWith } from './batch.fixture.js';

const now = 5_000;
const mine = { holder: 'pod-a', until: now + 100 };
const others = { holder: 'pod-b', until: now + 50 };

describe('its status', () => {
  test.each<[BatchStatus, BatchStatus, BatchStatus]>([
    ['validating', 'in_progress', 'in_progress'],
    ['validating', 'failed', 'failed'],
    ['in_progress', 'finalizing', 'finalizing'],
    ['in_progress', 'validating', 'in_progress'],
    ['finalizing', 'completed', 'completed'],
    ['finalizing', 'cancelling', 'finalizing'],
    ['cancelling', 'in_progress', 'cancelling'],
    ['cancelling', 'completed', 'cancelling'],
    ['cancelling', 'cancelled', 'cancelled'],
    ['completed', 'failed', 'completed'],
    ['cancelled', 'in_progress', 'cancelled'],
  ])('%s, asked to be %s, is %s', (status, asked, then) => {
    const after = become(batchWith({ status, lease: mine }), asked, now);
    expect(after.status).toBe(then);
    expect(after.at[then]).toBe(then === status ? undefined : now);
    expect(after.lease).toEqual(isOver(after) && then !== status ? null : mine);
  });

  test.each<[BatchStatus, BatchStatus | 'refused']>([
    ['validating', 'cancelling'],
    ['in_progress', 'cancelling'],
    ['cancelling', 'cancelling'],
    ['cancelled', 'cancelled'],
    ['finalizing', 'refused'],
    ['completed', 'refused'],
    ['failed', 'refused'],
    ['expired', 'refused'],
  ])('%s, when its client cancels it, is %s', (status, then) => {
    const batch = batchWith({ status });
    if (then === 'refused')
      expect(() => cancel(batch, now)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    else expect(cancel(batch, now).status).toBe(then);
  });
});

describe('its lease', () => {
  test('is one pod’s until it has run out, and then another’s', () => {
    const claimed = claim(batchWith(), others, now)!;
    expect(claimed).toMatchObject({ lease: others, losses: 0 });
    expect(claim(claimed, mine, now)).toBeNull();
    expect(claim(claimed, { ...others, until: now + 90 }, now)).toMatchObject({ losses: 0 });
    const taken = claim(claimed, mine, others.until)!;
    expect(taken).toMatchObject({ lease: mine, losses: 1 });
  });

  test('that was given back is no loss, and what is over needs none', () => {
    expect(claim(batchWith({ lease: null, losses: 2 }), mine, now)).toMatchObject({ losses: 2 });
    expect(claim(batchWith({ status: 'completed' }), mine, now)).toBeNull();
  });
});

const part = (key: string) => ({ key, bytes: 10 });
const progress = (changes: Partial<Progress>): Progress => ({
  rows: [0],
  completed: 1,
  failed: 0,
  usage: { ...noUsage, inputTokens: 3, outputTokens: 4 },
  output: null,
  failure: null,
  ...changes,
});

test('progress counts once, however often it is written', () => {
  const batch = batchWith({ status: 'in_progress', total: 3, losses: 3 });
  const first = progress({ output: part('o1') });
  const once = advance(batch, first);
  expect(advance(once, first)).toEqual(once);
  const second = advance(once, progress({ rows: [2], completed: 0, failed: 1, failure: part('f1') }));
  expect(second).toMatchObject({
    done: [
      [0, 1],
      [2, 3],
    ],
    completed: 1,
    failed: 1,
    outputs: [part('o1')],
    failures: [part('f1')],
    usage: { inputTokens: 6, outputTokens: 8 },
    losses: 0,
  });
});

test('its client sees its files once it is over, and those alone that have something', () => {
  const running = batchWith({ status: 'in_progress', outputs: [part('o')], at: { in_progress: 2_500 } });
  expect(batchBody(running, 'tiny')).toMatchObject({
    output_file_id: null,
    error_file_id: null,
    created_at: 1,
    in_progress_at: 2,
    completed_at: null,
    errors: null,
    model: 'tiny',
  });
  const done = batchWith({ status: 'cancelled', outputs: [part('o')] });
  expect(batchBody(done, 'tiny')).toMatchObject({ output_file_id: done.outputFileId, error_file_id: null });
});
