import { expect, test } from '@jest/globals';
import { StepsInFlight } from './steps-in-flight.js';

const turn = () => new Promise(setImmediate);

/** Whether it has come to pass. */
function watch(promise: Promise<void>): { settled: boolean } {
  const state = { settled: false };
  void promise.then(() => (state.settled = true));
  return state;
}

test('who waits, waits for the steps that there are, and for no others', async () => {
  const steps = new StepsInFlight();
  await steps.settled();
  steps.began();
  steps.began();
  const both = watch(steps.settled());
  steps.ended();
  const second = watch(steps.settled());
  steps.began();
  await turn();
  expect([both, second]).toEqual([{ settled: false }, { settled: false }]);
  steps.ended();
  await turn();
  expect([both, second]).toEqual([{ settled: true }, { settled: true }]);
});

test('nobody waits for a step that was taken back', async () => {
  const steps = new StepsInFlight();
  steps.began();
  steps.began();
  const waiting = watch(steps.settled());
  steps.withdrawn();
  steps.began();
  steps.ended();
  await turn();
  expect(waiting).toEqual({ settled: true });
});
