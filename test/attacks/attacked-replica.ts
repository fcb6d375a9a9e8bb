// The server that the attacks of a file have in common: the demo model, with its port.

import { afterAll, beforeAll } from '@jest/globals';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';

/** Starts before the first test of the file and ends after the last. @returns it, while a test runs */
export function attackedReplica(): () => ReplicaProcess {
  let replica: ReplicaProcess;
  beforeAll(async () => {
    replica = await ReplicaProcess.start({ uri: demoCheckpoint });
    await replica.ready();
  });
  afterAll(() => replica.stop());
  return () => replica;
}

export const portOf = ({ url }: ReplicaProcess): number => Number(new URL(url).port);
