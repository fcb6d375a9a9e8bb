import { expect, test } from '@jest/globals';
import { numericalFailure } from './numerical-failure.js';
import { NumericalWatch } from './numerical-watch.js';

const failure = (kind: 'notFinite' | 'collapsed') =>
  numericalFailure({ slot: 0, position: 3, kind, layer: 2, part: 'input norm' });

test('the third fault in a row is suspicious, and again the sixth', () => {
  const watch = new NumericalWatch();
  const suspicions = Array.from({ length: 6 }, () => watch.faulted(failure('notFinite')));
  expect(suspicions).toEqual([false, false, true, false, false, true]);
});

test('an answer between them clears the suspicion, and counts stay', () => {
  const watch = new NumericalWatch();
  for (let i = 0; i < 4; i++) {
    expect([watch.faulted(failure('notFinite')), watch.faulted(failure('collapsed'))]).toEqual([
      false,
      false,
    ]);
    watch.answered();
  }
  expect(watch.counts).toEqual({ notFinite: 4, collapsed: 4, stuck: 0 });
});

test('a failure names the layer, the op, the token and what was seen', () => {
  expect(failure('notFinite')).toEqual({
    reason: 'EngineNumericalFault',
    message:
      'a value that is not finite (NaN or infinity) came out of the model (layer 2, input norm) at token 3 of the sequence',
    detail: { kind: 'notFinite', layer: 2, part: 'input norm', position: 3 },
  });
});
