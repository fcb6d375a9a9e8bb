// A replica under load, in small: what test/bench/streams.ts and test/bench/soak.ts do for minutes. Counts and outcomes
// only: how fast it goes is theirs to measure.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { disagreements } from '../load/accounting.js';
import { badClients } from '../load/chaos.js';
import { LoadReplica } from '../load/load-replica.js';
import { ManyStreams, untilBusy } from '../load/many-streams.js';
import { soak } from '../load/soak.js';

jest.setTimeout(300_000);

test.each([
  [
    'that is not in the log',
    { id: 'b', tokens: 1, usage: null },
    5,
    /^b: 1 tokens came, and it is not in the log/,
  ],
  [
    'of more tokens than the log has',
    { id: 'a', tokens: 6, usage: null },
    5,
    /^a: 6 tokens came, the log has 5/,
  ],
  [
    'whose usage is not the log’s',
    { id: 'a', tokens: 5, usage: { prompt_tokens: 3, completion_tokens: 5 } },
    5,
    /its usage/,
  ],
  [
    'that is as the log has it, while the metric has more',
    { id: 'a', tokens: 5, usage: { prompt_tokens: 2, completion_tokens: 5 } },
    6,
    /^the log has 5 tokens, the metric 6/,
  ],
])('finds an answer %s', (_, seen, metric, line) => {
  const found = disagreements([seen], [{ id: 'a', promptTokens: 2, completionTokens: 5 }], metric);
  expect(found).toEqual([expect.stringMatching(line)]);
});

describe('leaves nothing behind, with sums that agree', () => {
  let replica: LoadReplica;
  beforeEach(async () => {
    replica = await LoadReplica.start({ maxNumSeqs: 32, maxWaiting: 200, threads: null });
  });
  afterEach(() => replica.stop());

  test('32 streams that generate and 200 that wait', async () => {
    const streams = new ManyStreams(replica.port);
    streams.open(32, 400);
    streams.open(200, 8);
    await untilBusy(replica, 32, 200);
    const seen = await streams.finish();
    expect(streams.errors).toEqual([]);
    expect(seen).toHaveLength(232);
    expect(seen.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(32 * 400 + 200 * 8);
    expect(await replica.faultsAfterLoad(seen)).toEqual([]);
  });

  test('232 streams that all go away at once', async () => {
    const streams = new ManyStreams(replica.port);
    streams.open(232, 900);
    await untilBusy(replica, 32, 200);
    const seen = await streams.leave();
    expect(streams.errors).toEqual([]);
    expect(await replica.faultsAfterLoad(seen)).toEqual([]);
  });

  test('ten seconds of clients that behave badly among such that do not', async () => {
    const { seen, errors, counts } = await soak(replica, {
      seconds: 10,
      seed: 1,
      goodWorkers: 16,
      badWorkers: 24,
      enough: (so) => so.counts.size === badClients.length + 1 && so.seen.length > 50,
    });
    expect(errors).toEqual([]);
    expect(counts.size).toBe(badClients.length + 1);
    expect(seen.length).toBeGreaterThan(50);
    expect(await replica.faultsAfterLoad(seen)).toEqual([]);
  });
});
