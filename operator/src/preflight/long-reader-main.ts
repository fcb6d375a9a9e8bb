// Entry of the process that reads one long checkpoint for the operator: it gets its job, answers, and is ended.

import { once } from 'node:events';
import { FailureError } from '@llmservice/crds';
import { AddressGuard } from './address-guard.js';
import { judgeCheckpoint } from './judge-checkpoint.js';
import type { LongReaderAnswer, LongReaderJob } from './long-reader-job.js';
import { openStores } from './open-stores.js';

// Nobody would read the answer.
process.once('disconnect', () => process.exit(0));

async function look({ service, endpoints, maxMs, ...secrets }: LongReaderJob): Promise<LongReaderAnswer> {
  const { signal } = new AbortController();
  try {
    const guard = new AddressGuard(endpoints);
    const source = { open: () => Promise.resolve(openStores(service, secrets, guard)) };
    const checkpoint = await judgeCheckpoint(source, service, { long: true, maxMs, signal });
    return { state: 'resolved', checkpoint };
  } catch (error) {
    if (error instanceof FailureError) return { state: 'failed', failure: error.failure };
    return { state: 'error', message: (error as Error).message };
  }
}

const [job] = (await once(process, 'message')) as [LongReaderJob];
process.send?.(await look(job));
