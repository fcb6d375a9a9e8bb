// Clients that behave badly, each four times at once beside an honest stream.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { badClients } from '../load/chaos.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

let replica: ReplicaProcess;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
});
afterAll(() => replica.stop());

test.each(badClients.map(({ client }) => [client.name, client] as const))(
  '%s: a stream beside it loses no token',
  async (_, client) => {
    const port = Number(new URL(replica.url).port);
    const over = new AbortController();
    const witness = await Witness.begin({ port });
    const ended = Promise.all(
      Array.from({ length: 4 }, (_, i) => client({ port, random: randomFrom(i), over: over.signal })),
    );
    await Promise.race([ended, witness.end()]);
    over.abort();
    await ended;
    await witness.end();
    expect(witness.faults).toEqual([]);
  },
);
