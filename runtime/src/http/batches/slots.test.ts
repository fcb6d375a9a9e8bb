import { expect, test } from '@jest/globals';
import { Slots } from './slots.js';

const never = new AbortController().signal;

test('places are taken in turn, and one that is given back twice is one', async () => {
  const slots = new Slots(2);
  const [first, second] = [await slots.take(never), await slots.take(never)];
  const order: number[] = [];
  const third = slots.take(never).then((leave) => (order.push(3), leave));
  const fourth = slots.take(never).then((leave) => (order.push(4), leave));
  first();
  first();
  (await third)();
  await fourth;
  expect(order).toEqual([3, 4]);
  second();
  await slots.take(never);
});

test('who does not wait any more takes no place', async () => {
  const slots = new Slots(1);
  const leave = await slots.take(never);
  const gone = new AbortController();
  const waiting = slots.take(gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(slots.take(gone.signal)).rejects.toThrow('gone');
  leave();
  await slots.take(never);
});
