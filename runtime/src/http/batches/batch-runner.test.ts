// Which batches a pod runs, and when.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { BatchRunner } from './batch-runner.js';
import { BatchWorld, okAnswer, rowLine } from './batch-world.fixture.js';

let world: BatchWorld;
let runner: BatchRunner;
let isServing: boolean;
/** Ends every answer. */
let finish: () => void;
beforeEach(() => {
  world = new BatchWorld();
  isServing = true;
  runner = new BatchRunner({ ...world.parts(), isServing: () => isServing });
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  world.answer = () => finished.then(() => okAnswer());
});
afterEach(async () => {
  finish();
  await runner.close();
});

/** Of the batches that run. */
const prompts = (): string[] => [...world.sent].sort();

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('batches that are there run, and those that come, once the pod serves', async () => {
  isServing = false;
  const first = await world.create([rowLine('1')]);
  runner.look();
  await sleep(50);
  expect(runner.running).toBe(0);
  isServing = true;
  runner.look();
  await eventually(() => runner.running === 1);
  const second = await world.create([rowLine('2')]);
  runner.changed(second.id);
  await eventually(() => world.sent.length === 2);
  finish();
  for (const batch of [first, second]) await world.until(batch, ({ status }) => status === 'completed');
});

test('a key with many batches leaves a place to another, and the next runs when one is over', async () => {
  for (const number of ['1', '2', '3', '4', '5']) {
    await world.create([rowLine(number)]);
    world.later += 1;
  }
  const other = await world.create([rowLine('other')], 'b');
  runner.look();
  await eventually(() => world.sent.length === 4);
  expect(prompts()).toEqual(['1', '2', '3', 'other']);
  finish();
  await world.until(other, ({ status }) => status === 'completed');
  await eventually(() => world.sent.length === 6);
  expect(prompts()).toEqual(['1', '2', '3', '4', '5', 'other']);
});

test('two pods run each batch once', async () => {
  const others = new BatchRunner({ ...world.parts(), isServing: () => true });
  const batches = await Promise.all(['1', '2', '3'].map((number) => world.create([rowLine(number)])));
  runner.look();
  others.look();
  finish();
  for (const batch of batches) await world.until(batch, ({ status }) => status === 'completed');
  await others.close();
  expect(prompts()).toEqual(['1', '2', '3']);
});

test('a pod that is to stop begins nothing, and gives back what it runs', async () => {
  const batch = await world.create([rowLine('1'), rowLine('2')]);
  runner.look();
  await eventually(() => world.sent.length === 2);
  runner.leave();
  const late = await world.create([rowLine('3')]);
  runner.look();
  finish();
  await runner.close();
  expect(await world.now(batch)).toMatchObject({ status: 'completed' });
  expect(await world.now(late)).toMatchObject({ status: 'validating', lease: null });
});
