import { expect, test } from '@jest/globals';
import { EngineAdapters } from './engine-adapters.js';
import type { ServerMessage } from './protocol.js';

const adapter = (number: number) => ({ number, name: `a${String(number)}`, dir: '/there' });
const lost = { reason: 'EngineFault', message: 'gone' } as const;

test('the next process gets what the one before had, and forgets what was unloaded while it started', async () => {
  const sent: ServerMessage[] = [];
  const adapters = new EngineAdapters((message) => void sent.push(message));
  adapters.keep(adapter(1));
  expect(adapters.give()).toEqual([adapter(1)]);
  await expect(adapters.load(adapter(2))).rejects.toThrow('being started');
  adapters.ready();
  const loading = adapters.load(adapter(2));
  expect(sent).toEqual([{ type: 'loadAdapter', adapter: adapter(2) }]);
  adapters.ended(2, null);
  await loading;

  adapters.lost(lost);
  expect(adapters.give()).toEqual([adapter(1), adapter(2)]);
  adapters.unload(1);
  expect(sent).toHaveLength(1);
  adapters.ready();
  expect(sent.slice(1)).toEqual([{ type: 'unloadAdapter', number: 1 }]);
  adapters.unload(2);
  expect(sent.at(-1)).toEqual({ type: 'unloadAdapter', number: 2 });
  expect(adapters.kept).toEqual([]);
});
