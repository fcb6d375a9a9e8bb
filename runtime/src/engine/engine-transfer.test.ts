import { expect, jest, test } from '@jest/globals';
import type { Engine, FetchState } from '@llmservice/native';
import { TransferFailed } from '../schedule/kv-transfer.js';
import { EngineTransfer } from './engine-transfer.js';

const from = { host: '10.0.0.7', port: 8040, ticket: 't' };
const running: FetchState = { ended: false, failure: 'none', message: '', bytes: 0, snapshotAt: null };

/** An engine whose fetches say these things, one at each ask. */
function engineOf(states: readonly FetchState[]) {
  const left = [...states];
  return {
    info: { kvLayout: 'alike' },
    offerKv: jest.fn(() => Promise.resolve()),
    withdrawKv: jest.fn(() => Promise.resolve()),
    fetchKv: jest.fn<Engine['fetchKv']>(() => Promise.resolve()),
    fetchedKv: jest.fn((id: number) => Promise.resolve(left.shift() ?? { ...running, bytes: id })),
    endFetch: jest.fn(() => Promise.resolve()),
  };
}

const transferBy = (
  engine: ReturnType<typeof engineOf>,
  untilAsked = () => Promise.resolve(),
): EngineTransfer =>
  new EngineTransfer(engine as unknown as ConstructorParameters<typeof EngineTransfer>[0], untilAsked);

test('a fetch is asked for until all ranks have it', async () => {
  const engine = engineOf([running, running, { ...running, ended: true, bytes: 96, snapshotAt: 64 }]);
  const transfer = transferBy(engine);
  expect(transfer.layout).toBe('alike');
  expect(await transfer.fetch(from, [4, 2], 1)).toEqual({ bytes: 96, snapshotAt: 64 });
  expect(engine.fetchKv).toHaveBeenCalledWith({ id: 1, ...from, blocks: Int32Array.of(4, 2), snapshot: 1 });
  expect(engine.fetchedKv.mock.calls).toEqual([[1], [1], [1]]);
  expect(engine.endFetch).not.toHaveBeenCalled();
});

test('a failure is named as the engine names it', async () => {
  const failed: FetchState = {
    ...running,
    ended: true,
    failure: 'corrupt',
    message: '10.0.0.7:8040: part 3',
  };
  await expect(transferBy(engineOf([failed])).fetch(from, [4], null)).rejects.toEqual(
    new TransferFailed('corrupt', '10.0.0.7:8040: part 3'),
  );
});

test('who cancels waits until nothing is written any more', async () => {
  const engine = engineOf([]);
  const going = new AbortController();
  const transfer = transferBy(engine, () => {
    going.abort();
    return Promise.resolve();
  });
  let ended = false;
  engine.endFetch.mockImplementation(() => {
    ended = true;
    return Promise.resolve();
  });
  const fetching = transfer.fetch(from, [4], null, going.signal);
  await expect(fetching.finally(() => expect(ended).toBe(true))).rejects.toMatchObject({
    reason: 'cancelled',
  });
});

test('an engine without transfer is refused', () => {
  const engine = { ...engineOf([]), info: { kvLayout: null } };
  expect(() => new EngineTransfer(engine as never)).toThrow('loaded without transfer');
});
