import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import type { KubeClient, KubeRequest } from '../kube/client.js';
import { LeaderElection } from './leader-election.js';

/** An answer that never comes: as one of KubeClient, it ends with its signal. */
function nothing({ signal }: Pick<KubeRequest, 'signal'>): Promise<never> {
  return once(new EventEmitter(), 'never', signal === undefined ? {} : { signal }) as Promise<never>;
}

afterEach(() => void jest.restoreAllMocks());

/** An election of `a`, whose clock moves where a try's time is over, by a Lease whose n-th read the function answers instead, where it gives anything. */
function election(
  instead: (read: number, request: Pick<KubeRequest, 'signal'>) => Promise<never> | null,
  insteadOfCreating: typeof instead = () => null,
) {
  const state = { reads: 0, holder: null as string | null };
  const take = (body: unknown): Promise<unknown> => {
    state.holder = (body as { spec: { holderIdentity: string } }).spec.holderIdentity;
    return Promise.resolve(body);
  };
  let nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let endTry: () => void = () => undefined;
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const late = new AbortController();
    endTry = () => {
      nowMs += ms;
      late.abort();
    };
    return late.signal;
  });
  const client = {
    find: (_path: string, request: Pick<KubeRequest, 'signal'> = {}): Promise<unknown> => {
      state.reads += 1;
      const { holder } = state;
      const lease =
        holder === null ? null : { metadata: { resourceVersion: '1' }, spec: { holderIdentity: holder } };
      return instead(state.reads, request) ?? Promise.resolve(lease);
    },
    create: (
      _resource: unknown,
      _namespace: string,
      body: unknown,
      request: Pick<KubeRequest, 'signal'> = {},
    ) => insteadOfCreating(state.reads, request) ?? take(body),
    request: ({ body }: KubeRequest) => take(body),
  };
  const elected = new LeaderElection({
    client: client as unknown as KubeClient,
    namespace: 'n',
    name: 'l',
    identity: 'a',
    logger: createLogger({ silent: true }),
    leaseMs: 15_000,
    renewDeadlineMs: 10_000,
    retryMs: 1,
  });
  return { elected, state, endTry: () => endTry() };
}

test('a read that is not answered leaves time for another try', async () => {
  const { elected, state, endTry } = election((read, request) => (read === 3 ? nothing(request) : null));
  const stop = new AbortController();
  await elected.acquire(stop.signal);
  const kept = elected.keep(stop.signal);
  while (state.reads < 3) await turn();
  endTry();
  while (state.reads < 5) await turn();
  expect(elected.held).toBe(true);
  stop.abort();
  expect(await kept).toBe('aborted');
});

test('a Lease whose making is not answered is tried again', async () => {
  const made = new EventEmitter();
  const { elected, endTry } = election(
    () => null,
    (read, request) => {
      made.emit('asked');
      return read === 1 ? nothing(request) : null;
    },
  );
  const asked = once(made, 'asked');
  const acquired = elected.acquire(new AbortController().signal);
  await asked;
  endTry();
  await acquired;
  expect(elected.held).toBe(true);
});

test('the lease is given up when that is asked for, and not held before', async () => {
  const { elected, state } = election(() => null);
  const stop = new AbortController();
  await elected.acquire(stop.signal);
  stop.abort();
  expect(await elected.keep(stop.signal)).toBe('aborted');
  expect(elected.held).toBe(false);
  expect(state.holder).toBe('a');
  await elected.release();
  expect(state.holder).toBe('');
});
