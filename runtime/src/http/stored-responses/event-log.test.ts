import { expect, test } from '@jest/globals';
import { EventLog } from './event-log.js';

const read = async (
  log: EventLog,
  sequence: number,
  signal = new AbortController().signal,
): Promise<string[]> => {
  const events: string[] = [];
  for await (const some of log.after(sequence, signal)) events.push(...some);
  return events;
};

test('readers get what follows the event that they have, while it is written and after', async () => {
  const log = new EventLog(() => undefined);
  await log.send('0', '1');
  const readers = [-1, 0, 3].map((sequence) => read(log, sequence));
  await log.send('2');
  await log.send('3', '4');
  log.end('5');
  const all = ['0', '1', '2', '3', '4', '5'];
  expect(await Promise.all([...readers, read(log, 4)])).toEqual([all, all.slice(1), ['4', '5'], ['5']]);
  expect(await read(EventLog.of(log.events), 2)).toEqual(['3', '4', '5']);
});

test('a reader that is gone waits for nothing', async () => {
  const log = new EventLog(() => undefined);
  const gone = new AbortController();
  const events = read(log, -1, gone.signal);
  await log.send('0');
  gone.abort();
  expect(await events).toEqual(['0']);
});

test('many events come in parts that a function can take', async () => {
  const log = EventLog.of(Array.from({ length: 2_500 }, (_, index) => String(index)));
  const lengths: number[] = [];
  for await (const events of log.after(-1, new AbortController().signal)) lengths.push(events.length);
  expect(lengths).toEqual([1_000, 1_000, 500]);
});

test('an event that there is no room for is not kept', () => {
  const log = new EventLog((bytes) => {
    if (bytes > 2) throw new Error('no room');
  });
  expect(() => log.send('123')).toThrow('no room');
  expect(log.events).toEqual([]);
});
