// A batch as pods run it: to its end, and through whatever keeps them from it.

import { beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { cancel, type Batch } from './batch.js';
import { BatchWorld, okAnswer, rowLine } from './batch-world.fixture.js';
import { placeOf } from './stored-batches.js';
import { partBytes } from './stored-files.js';

let world: BatchWorld;
beforeEach(() => {
  world = new BatchWorld();
});

const ids = (count: number): string[] => Array.from({ length: count }, (_, id) => String(id));
const lines = (count: number): string[] => ids(count).map((id) => rowLine(id));
/** Until nobody waits for it. */
const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

const cancelled = (batch: Batch): Promise<Batch> =>
  world.batches.change(placeOf(batch), (before) => cancel(before, world.clock()));

const refusal = (status: number, code: string) => ({
  status,
  requestId: 'r',
  body: JSON.stringify({ error: { code, message: 'no' } }),
});

describe('a batch', () => {
  test('is answered row by row, and each row is in one of its files', async () => {
    world.answer = (prompt) =>
      Promise.resolve(prompt === '3' ? refusal(400, 'invalid_request') : okAnswer(prompt));
    const batch = await world.create(lines(10));
    expect(await world.run(batch)).toBe(true);
    const over = await world.now(batch);
    expect(over).toMatchObject({
      status: 'completed',
      total: 10,
      completed: 9,
      failed: 1,
      usage: { inputTokens: 18, outputTokens: 27 },
      lease: null,
    });
    expect(Object.keys(over.at)).toEqual(['in_progress', 'finalizing', 'completed']);
    const { outputs, errors } = await world.results(batch);
    expect(outputs.map(({ custom_id }) => custom_id)).toEqual(ids(10).filter((id) => id !== '3'));
    expect(outputs[0]!.response).toMatchObject({ status_code: 200, body: { text: '0' } });
    expect(errors).toEqual([
      expect.objectContaining({
        custom_id: '3',
        response: expect.objectContaining({ status_code: 400 }),
        error: null,
      }),
    ]);
    expect(world.ended).toEqual(['completed']);
    expect(await world.batches.queue()).toEqual([]);
  });

  test('with a line that is wrong fails before anything is sent', async () => {
    const batch = await world.create([...lines(2), 'x']);
    expect(await world.run(batch)).toBe(true);
    expect(await world.now(batch)).toMatchObject({
      status: 'failed',
      errors: [{ code: 'invalid_json_line', line: 3 }],
    });
    expect(world.sent).toEqual([]);
  });

  test('whose file was deleted fails, before it begins and while it runs', async () => {
    const before = await world.create(lines(1));
    await world.files.delete('a', before.inputFileId);
    expect(await world.run(before)).toBe(true);
    world.answer = async () => {
      await world.files.delete('a', during.inputFileId).catch(() => undefined);
      return okAnswer();
    };
    // Two parts of content, of which the second is read when the first is answered.
    const blankLines = `${' '.repeat(8_000)}\n`.repeat(partBytes / 4_000);
    const during = await world.create([rowLine('0'), blankLines, rowLine('1')]);
    expect(await world.run(during, { slots: 1 })).toBe(true);
    for (const batch of [before, during])
      expect(await world.now(batch)).toMatchObject({
        status: 'failed',
        errors: [{ code: 'input_file_not_found' }],
      });
  });

  test('has no more rows under way than there are places', async () => {
    let open = 0;
    let most = 0;
    world.answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await wait(5);
      open -= 1;
      return okAnswer();
    };
    await world.run(await world.create(lines(30)), { slots: 3 });
    expect(most).toBe(3);
  });

  test('with a stream is not sent, and answered with why', async () => {
    const batch = await world.create([rowLine('1', { prompt: 'x', stream: true })]);
    await world.run(batch);
    expect((await world.results(batch)).errors).toMatchObject([
      { response: { status_code: 400, body: { error: { param: 'stream' } } } },
    ]);
    expect(world.sent).toEqual([]);
  });
});

describe('a row', () => {
  test('that finds no room is sent again, and has one line', async () => {
    let tries = 0;
    world.answer = () => {
      tries += 1;
      return Promise.resolve(tries < 3 ? refusal(503, 'queue_full') : okAnswer());
    };
    const batch = await world.create(lines(1));
    await world.run(batch);
    expect(await world.now(batch)).toMatchObject({ completed: 1, failed: 0 });
    expect(tries).toBe(3);
  });

  test('that the server fails with again and again is an error', async () => {
    world.answer = () => Promise.resolve(refusal(500, 'internal_error'));
    const batch = await world.create(lines(1));
    await world.run(batch);
    expect((await world.results(batch)).errors).toMatchObject([{ response: { status_code: 500 } }]);
    expect(world.sent).toHaveLength(3);
  });

  test('that waits to be sent again keeps no place from others', async () => {
    let refused = true;
    world.answer = (prompt) =>
      Promise.resolve(prompt === '0' && refused ? refusal(429, 'rate_limit_exceeded') : okAnswer());
    const batch = await world.create(lines(20));
    const run = world.run(batch, { slots: 1 });
    while (!world.sent.includes('0')) await wait(5);
    refused = false;
    await run;
    expect((await world.now(batch)).completed).toBe(20);
  });
});

describe('cancelled', () => {
  test('it ends within a beat, with what was answered', async () => {
    world.answer = (prompt, signal) => (Number(prompt) < 3 ? Promise.resolve(okAnswer()) : never(signal));
    const batch = await world.create(lines(10));
    const run = world.run(batch);
    await world.until(batch, ({ completed }) => completed === 3);
    expect((await cancelled(batch)).status).toBe('cancelling');
    expect(await run).toBe(true);
    const over = await world.now(batch);
    expect(over).toMatchObject({ status: 'cancelled', completed: 3, total: 10 });
    const { outputs, errors } = await world.results(batch);
    expect([outputs.length, errors.length]).toEqual([3, 0]);
  });

  test('before it runs, it is over when a pod comes to it', async () => {
    const batch = await world.create(lines(3));
    await cancelled(batch);
    expect(await world.run(batch)).toBe(true);
    expect((await world.now(batch)).status).toBe('cancelled');
    expect(world.sent).toEqual([]);
  });
});

test('what has no answer when its time is over has an error instead', async () => {
  world.answer = (prompt, signal) => (Number(prompt) < 2 ? Promise.resolve(okAnswer()) : never(signal));
  const batch = await world.create(lines(5));
  const run = world.run(batch, { leaseMs: 10_000, slots: 5 });
  await world.until(batch, ({ status }) => status === 'in_progress');
  // Of a pod that begins now: its own timer was set before.
  world.later = 24 * 3_600_000 + 20_001;
  expect(await world.run(batch, { holder: 'pod-b' })).toBe(true);
  expect(await run).toBe(false);
  const { outputs, errors } = await world.results(batch);
  expect((await world.now(batch)).status).toBe('expired');
  expect(outputs.length + errors.length).toBe(5);
  expect(errors.at(-1)).toMatchObject({ custom_id: '4', response: null, error: { code: 'batch_expired' } });
});

describe('left', () => {
  test('by a pod that drains, it continues elsewhere at once, and no row is there twice', async () => {
    const leaving = new AbortController();
    world.answer = async (prompt) => {
      await wait(5);
      if (prompt === '7') leaving.abort(new Error('drain'));
      return okAnswer();
    };
    const batch = await world.create(lines(40));
    expect(await world.run(batch, { leaving: leaving.signal })).toBe(false);
    const left = await world.now(batch);
    expect(left).toMatchObject({ status: 'in_progress', lease: null });
    expect(left.completed).toBeGreaterThanOrEqual(8);
    expect(await world.run(batch, { holder: 'pod-b' })).toBe(true);
    expect(await world.now(batch)).toMatchObject({ status: 'completed', completed: 40, losses: 0 });
    expect((await world.results(batch)).outputs.map(({ custom_id }) => custom_id)).toEqual(ids(40));
    expect(world.sent).toHaveLength(40);
  });

  test('by a pod that is lost, it continues elsewhere once its lease has run out', async () => {
    let isLost = false;
    world.answer = (prompt, signal) =>
      isLost || Number(prompt) < 5 ? Promise.resolve(okAnswer()) : never(signal);
    const batch = await world.create(lines(10));
    // Held up for so long that another takes the batch over.
    const lost = world.run(batch, { leaseMs: 100 });
    await world.until(batch, ({ completed }) => completed === 5);
    expect(await world.run(batch, { holder: 'pod-b' })).toBeNull();
    isLost = true;
    world.later = 200;
    expect(await world.run(batch, { holder: 'pod-b', leaseMs: 100 })).toBe(true);
    expect(await lost).toBe(false);
    expect(await world.now(batch)).toMatchObject({ status: 'completed', completed: 10 });
    expect((await world.results(batch)).outputs.map(({ custom_id }) => custom_id)).toEqual(ids(10));
  });

  test('by one pod after the other before anything was answered, it fails', async () => {
    const batch = await world.create(lines(2));
    for (let pod = 0; pod < 7; pod++) {
      world.later += 1_000;
      await world.batches.claim(placeOf(batch), { holder: String(pod), until: world.clock() + 100 });
    }
    world.later += 1_000;
    expect(await world.run(batch)).toBe(true);
    expect(await world.now(batch)).toMatchObject({ status: 'failed', errors: [{ code: 'server_error' }] });
  });
});

describe('while the store is away', () => {
  test('nothing is lost, and nothing is there twice', async () => {
    world.answer = async (prompt) => {
      world.store.isAway = prompt === '5' || (world.store.isAway && prompt !== '8');
      await wait(5);
      return okAnswer();
    };
    const batch = await world.create(lines(20));
    const run = world.run(batch, { slots: 2 });
    await wait(300);
    world.store.isAway = false;
    expect(await run).toBe(true);
    expect((await world.results(batch)).outputs.map(({ custom_id }) => custom_id)).toEqual(ids(20));
  });

  test('a write whose answer is lost counts once', async () => {
    world.answer = async (prompt) => {
      if (prompt === '5' || prompt === '19') world.store.lostAnswers = 2;
      await wait(5);
      return okAnswer();
    };
    const batch = await world.create(lines(20));
    expect(await world.run(batch, { slots: 2 })).toBe(true);
    expect(await world.now(batch)).toMatchObject({ status: 'completed', completed: 20, failed: 0 });
    expect((await world.results(batch)).outputs).toHaveLength(20);
  });
});
