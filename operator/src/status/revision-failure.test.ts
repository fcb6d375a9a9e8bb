import { describe, expect, test } from '@jest/globals';
import { formatTerminationMessage } from '@llmservice/crds';
import type { ContainerStatus, Pod } from '../kube/types.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import type { Revision } from '../plan/rollouts/revision.js';
import { outcomeOf } from './failure-hold.js';
import { base, pod } from './observed.fixture.js';
import type { Observed } from './observed.js';
import { judgeRevision } from './revision-failure.js';

const patience = { imagePullMs: 300_000, noProgressMs: 300_000 };
const at = (time: string): string => `2026-01-01T${time}Z`;

/** At nine o'clock. */
function verdict(
  standing: RevisionPlan['standing'],
  pods: readonly Pod[],
  change: Partial<Observed> = {},
): string {
  const observed = { ...base, now: at('09:00:00'), wantedReplicas: pods.length, pods, ...change };
  const judged = judgeRevision(observed, standing, patience);
  return judged.state === 'open'
    ? `open ${judged.recheckMs ?? ''}`.trim()
    : `${judged.failure.reason}: ${judged.failure.message}`;
}

interface Run {
  /** The one that failed. */
  readonly started: string;
  readonly message?: string;
  readonly restarts: number;
  /** Of what runs now; undefined: it waits to be started again. */
  readonly runsSince?: string;
  /** Since when the pod is not Ready. */
  readonly unreadySince: string;
}

/** Without a message it was killed for its memory. */
function failing(name: string, { started, message, restarts, runsSince, unreadySince }: Run): Pod {
  const container: Partial<ContainerStatus> = {
    restartCount: restarts,
    state:
      runsSince === undefined
        ? { waiting: { reason: 'CrashLoopBackOff' } }
        : { running: { startedAt: at(runsSince) } },
    lastState: {
      terminated: {
        ...(message === undefined ? { exitCode: 137, reason: 'OOMKilled' } : { exitCode: 1, message }),
        startedAt: at(started),
        finishedAt: at('08:59:00'),
      },
    },
  };
  return since(pod(name, { container }), { type: 'Ready', status: 'False', time: at(unreadySince) });
}

interface Dated {
  readonly type: string;
  readonly status: string;
  readonly time: string;
}

function since(of: Pod, ...dated: readonly Dated[]): Pod {
  const types = new Set(dated.map(({ type }) => type));
  const others = of.status?.conditions?.filter(({ type }) => !types.has(type)) ?? [];
  const conditions = dated.map(({ time, ...rest }) => ({ ...rest, lastTransitionTime: time }));
  return { ...of, status: { ...of.status, conditions: [...others, ...conditions] } };
}

const denied = formatTerminationMessage({ reason: 'S3AccessDenied', message: 'refused' });
const again: Run = { started: '08:58:00', restarts: 3, unreadySince: '08:50:00' };

describe('a revision that has been Ready is given up', () => {
  test.each<[string, Pod[], string]>([
    [
      'not for what killed a run before the one that has answered since',
      [
        failing('a', {
          started: '01:00:00',
          restarts: 3,
          runsSince: '02:00:00',
          unreadySince: '08:59:50',
        }),
        pod('b'),
      ],
      'open',
    ],
    ['not at the end of a run that answered', [failing('a', { ...again, unreadySince: '08:59:00' })], 'open'],
    ['not before it was started again', [failing('a', { ...again, restarts: 0 })], 'open'],
    ['not while it is tried again', [failing('a', { ...again, runsSince: '08:59:10' })], 'open'],
    ['not while another pod may come', [failing('a', again), pod('b')], 'open'],
    ['not for a failure that may pass', [failing('a', { ...again, message: 'Segmentation fault' })], 'open'],
    ['not without pods', [], 'open'],
    [
      'for its memory, when every pod keeps failing so',
      [failing('a', again)],
      'OutOfMemory: pod a used more memory than its limit allows',
    ],
    [
      'for a reason that it reported, when every pod keeps failing so',
      [failing('a', { ...again, message: denied }), failing('b', { ...again, message: denied })],
      'S3AccessDenied: refused',
    ],
  ])('%s', (_, pods, expected) => {
    expect(verdict('good', pods)).toBe(expected);
    const revisions = { standing: 'challenger', good: { template: { revision: 'new' } } as Revision };
    const outcome = outcomeOf({ ...revisions, target: null, attempt: null } as RevisionPlan, {
      ...base,
      pods,
    });
    expect(outcome).toBe(expected === 'open' ? 'rolledBack' : 'stopped');
  });
});

test.each(['first', 'challenger'] as const)('a %s is given up at its first terminal failure', (standing) => {
  const run = { ...again, message: denied, restarts: 0 };
  expect(verdict(standing, [failing('a', run)])).toBe('S3AccessDenied: refused');
});

describe('a challenger', () => {
  const pulling = (restartCount: number): Pod => {
    const ended = { terminated: { exitCode: 1, message: 'boom' } };
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const waiting = pod('a', { container: { state: { waiting: { reason: 'PodInitializing' } } } });
    const weights = { name: 'weights', ready: false, restartCount, state, lastState: ended };
    return { ...waiting, status: { ...waiting.status, initContainerStatuses: [weights] } };
  };

  test('is given up when what pulls for it was restarted three times', () => {
    expect(verdict('challenger', [pulling(2)])).toBe('open');
    expect(verdict('challenger', [pulling(3)])).toContain('Crashed: pod a ended with exit code 1');
    expect(verdict('first', [pulling(3)])).toBe('open');
  });

  const creating = pod('a', { container: { state: { waiting: { reason: 'ContainerCreating' } } } });
  const prepared = (status: string, time: string): Pod =>
    since(creating, { type: 'PodReadyToStartContainers', status, time: at(time) });
  test.each([
    ['without its volumes for a minute', prepared('False', '08:59:00'), 'open 240000'],
    ['without its volumes for long', prepared('False', '08:00:00'), 'LoadStalled: pod a does not start'],
    ['whose image is pulled for long', prepared('True', '01:00:00'), 'open'],
  ])('%s', (_, waiting, expected) => {
    expect(verdict('challenger', [waiting])).toMatch(new RegExp(`^${expected}`));
  });

  const evicted = (name: string, creationTimestamp: string): Pod => ({
    ...pod(name),
    metadata: { ...pod(name).metadata, creationTimestamp },
    // As it stays: without a sandbox.
    status: {
      ...prepared('False', '01:00:00').status,
      phase: 'Failed',
      reason: 'Evicted',
      message: 'disk pressure',
    },
  });
  test('is given up when three of its pods were evicted', () => {
    const pods = ['a', 'b', 'c'].map((name) => evicted(name, at('08:00:00')));
    expect(verdict('challenger', pods.slice(1))).toBe('open');
    expect(verdict('challenger', pods)).toContain('was evicted: disk pressure (3 evictions');
    const before = pods.map(({ metadata }) => evicted(metadata.name, '2025-12-31T00:00:00Z'));
    expect(verdict('challenger', before)).toBe('open');
  });
});
