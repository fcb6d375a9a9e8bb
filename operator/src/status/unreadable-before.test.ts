import { expect, test } from '@jest/globals';
import { failureKinds, type LlmServiceStatus } from '@llmservice/crds';
import { sentences } from './answer.js';
import { unreadableBefore } from './unreadable-before.js';

const reason = 'CheckpointUnreadable';
const status = (change: object = {}): LlmServiceStatus => ({
  conditions: [
    {
      type: 'ModelResolved',
      status: 'False',
      reason,
      message: sentences('reading s3://a/b. c/ took more than 384 MiB', failureKinds[reason].remedy),
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      ...change,
    },
  ],
});

test('a status says that the checkpoint ended its reader', () => {
  expect(unreadableBefore(status(), 2)).toEqual({
    reason,
    message: 'reading s3://a/b. c/ took more than 384 MiB',
  });
});

test.each([
  ['of another generation', status(), 3],
  ['with another reason', status({ reason: 'CheckpointCorrupt' }), 2],
  ['that is resolved', status({ status: 'True' }), 2],
  ['of nothing yet', {}, 2],
])('one %s does not', (_, reported, generation) => {
  expect(unreadableBefore(reported, generation)).toBeNull();
});
