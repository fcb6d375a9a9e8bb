import { expect, test } from '@jest/globals';
import { answer } from './conditions.js';
import { buildStatus } from './build-status.js';
import { base, ended, pod, verdict } from './observed.fixture.js';
import type { GroupLoss, Observed } from './observed.js';
import { judgeRevision } from './revision-failure.js';

const patience = { imagePullMs: 300_000, noProgressMs: 300_000 };
const failure = {
  reason: 'EngineFault',
  message: 'device lost',
  terminal: false,
  pod: 'w',
  at: null,
} as const;
const lost = (change: Partial<GroupLoss> = {}): GroupLoss => ({
  ...{ group: 'demo-group-0', pod: 'demo-group-0-1', worker: 1, revision: 'new' },
  ...{ failure: null, how: 'deleted', failures: 0, ...change },
});
const messages = (change: Partial<Observed>) => answer({ ...base, ...change });

test('a group that starts again says for which pod, and a failure is the last one', () => {
  const deleted = { pods: [pod('demo-group-0')], groupLosses: [lost()] };
  expect(messages(deleted).Loaded).toMatchObject({
    reason: 'GroupRestarted',
    message:
      'The group demo-group-0 starts again as one, since its pod demo-group-0-1 (worker 1) was deleted.',
  });
  const broken = { ...deleted, groupLosses: [lost({ failure, how: 'ended', failures: 1 })] };
  expect(messages(broken).Loaded.message).toContain('(worker 1) ended with EngineFault: device lost. ');
  expect(buildStatus({ ...base, ...broken }).lastFailure).toMatchObject({ reason: 'EngineFault', pod: 'w' });
  const leader = lost({ pod: 'demo-group-0', worker: 0 });
  expect(messages({ ...deleted, groupLosses: [leader] }).Loaded.message).toContain(
    'since its leader demo-group-0 was',
  );
});

test('beside a group that answers, the number of replicas says it; another revision’s losses do not', () => {
  const two = { wantedReplicas: 2, pods: [pod('demo-group-0', { ready: true }), pod('demo-group-1')] };
  expect(messages({ ...two, groupLosses: [lost({ group: 'demo-group-1' })] }).Ready.message).toBe(
    '1 of 2 pods of this generation answer. The group demo-group-1 starts again as one, since its pod demo-group-0-1 (worker 1) was deleted.',
  );
  expect(messages({ ...two, groupLosses: [lost({ revision: 'old' })] }).Ready.message).toBe(
    '1 of 2 pods of this generation answer.',
  );
});

test('a worker without a node or with a failure of its own is reported as a leader is', () => {
  const pods = [pod('demo-group-0')];
  const waiting = pod('demo-group-0-1', {
    scheduled: '0/2 nodes are available: 2 Insufficient amd.com/gpu.',
  });
  expect(verdict({ pods, workers: [waiting] }, 'Scheduled')).toBe('False Unschedulable');
  const broken = pod('demo-group-0-1', ended(1, JSON.stringify({ reason: 'EngineFault', message: 'x' })));
  expect(verdict({ pods, workers: [broken] }, 'Loaded')).toBe('False EngineFault');
});

test.each([
  [
    'challenger',
    lost({ failure, failures: 3 }),
    'EngineFault: device lost (3 starts of the group demo-group-0)',
  ],
  ['challenger', lost({ failure, failures: 2 }), 'open'],
  ['first', lost({ failure, failures: 9 }), 'open'],
  ['first', lost({ failure: { ...failure, terminal: true }, failures: 1 }), 'EngineFault: device lost'],
  ['good', lost({ failure: { ...failure, terminal: true }, failures: 1 }), 'open'],
  ['challenger', lost({ failure, failures: 3, revision: 'old' }), 'open'],
] as const)('a %s whose group is lost for %o is judged', (standing, loss, expected) => {
  const judged = judgeRevision({ ...base, groupLosses: [loss] }, standing, patience);
  const text = judged.state === 'open' ? 'open' : `${judged.failure.reason}: ${judged.failure.message}`;
  expect(text).toBe(expected);
});
