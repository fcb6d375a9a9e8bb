// Clients that behave badly, each four times at once alongside an honest stream.

import { expect, jest, test } from '@jest/globals';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { badClients } from '../load/chaos.js';
import { attackedReplica, portOf } from './attacked-replica.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

const replica = attackedReplica();

test.each(badClients.map(({ client }) => [client.name, client] as const))(
  '%s: a stream alongside it loses no token',
  async (_, client) => {
    const port = portOf(replica());
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
