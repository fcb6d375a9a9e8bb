import { FailureError } from '@llmservice/crds';
import { expect, test } from '@jest/globals';
import { failureOf } from './failure-of.js';

test('an error of the native engine keeps its reason and its figures', () => {
  const error = Object.assign(new Error('too small'), {
    reason: 'KvCacheTooSmall',
    detail: { fits: 960, freeBytes: 180 },
  });
  expect(failureOf(error)).toEqual({
    reason: 'KvCacheTooSmall',
    message: 'too small',
    detail: { fits: 960, freeBytes: 180 },
  });
});

test('without figures there is no detail, and without a reason of the contract it is a fault', () => {
  expect(failureOf(Object.assign(new Error('lost'), { reason: 'DeviceFault' }))).toEqual({
    reason: 'DeviceFault',
    message: 'lost',
  });
  expect(failureOf(Object.assign(new Error('odd'), { reason: 'Nonsense' })).reason).toBe('EngineFault');
  expect(failureOf('thrown')).toEqual({ reason: 'EngineFault', message: 'thrown' });
});

test('a failure of this side is reported as it is', () => {
  expect(failureOf(new FailureError('ModelTooLarge', 'large', { needed: 2 }))).toEqual({
    reason: 'ModelTooLarge',
    message: 'large',
    detail: { needed: 2 },
  });
});
