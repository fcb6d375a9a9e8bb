import { describe, expect, test } from '@jest/globals';
import { type MemoryPlan } from '@llmservice/checkpoint';
import { conditionTypes, formatTerminationMessage } from '@llmservice/crds';
import { buildStatus, pendingConditions } from './build-status.js';
import { base, ended, pod, verdict } from './observed.fixture.js';
import type { Observed } from './observed.js';

describe('conditions', () => {
  test('are all there, about this generation', () => {
    const { conditions } = buildStatus(base);
    expect(conditions?.map(({ type }) => type)).toEqual(conditionTypes);
    expect(new Set(conditions?.map(({ observedGeneration }) => observedGeneration))).toEqual(new Set([2]));
  });

  const ready = pod('a', { ready: true });
  const old = pod('o', { ready: true, revision: 'old' });
  const crashed = formatTerminationMessage({ reason: 'EngineFault', message: 'boom' });
  const e = pod('e');
  const evicted = { ...e, status: { ...e.status, phase: 'Failed', reason: 'Evicted' } };
  const noGpu = '0/2 nodes are available: 2 Insufficient amd.com/gpu. preemption: none.';
  test.each<[string, Partial<Observed>, string, string]>([
    ['a ready pod of this revision', { pods: [ready] }, 'Ready', 'True Serving'],
    ['a ready pod of the old revision', { pods: [old] }, 'Ready', 'False NoPods'],
    ['a ready pod of the old revision', { pods: [old] }, 'Serving', 'True Answering'],
    [
      'a ready pod that is to go',
      { pods: [pod('a', { ready: true, deleted: true })] },
      'Serving',
      'False NoReadyPod',
    ],
    ['one of two', { pods: [ready], wantedReplicas: 2 }, 'Ready', 'False ReplicasStarting'],
    ['no replica wanted', { wantedReplicas: 0 }, 'Ready', 'False ScaledToZero'],
    ['no replica wanted', { wantedReplicas: 0 }, 'Reconciling', 'False Settled'],
    ['stopped', { wantedReplicas: 0, stopped: true }, 'Ready', 'False Stopped'],
    ['stopped', { wantedReplicas: 0, stopped: true }, 'Scheduled', 'Unknown Stopped'],
    ['stopped', { wantedReplicas: 0, stopped: true }, 'Loaded', 'Unknown Stopped'],
    ['stopped', { wantedReplicas: 0, stopped: true }, 'Reconciling', 'False Settled'],
    ['stopped', { wantedReplicas: 0, stopped: true }, 'Stalled', 'False NotStalled'],
    ['a running pod', { pods: [pod('a')] }, 'Loaded', 'False Starting'],
    ['a pod without a node', { pods: [pod('a', { scheduled: noGpu })] }, 'Scheduled', 'False Unschedulable'],
    ['a pod without a node', { pods: [pod('a', { scheduled: noGpu })] }, 'Reconciling', 'True Unschedulable'],
    ['a reported failure', { pods: [pod('a', ended(1, crashed))] }, 'Loaded', 'False EngineFault'],
    ['what was evicted', { pods: [evicted] }, 'Loaded', 'False Crashed'],
    ['what came for it', { pods: [evicted, pod('f')] }, 'Loaded', 'False Starting'],
    ['a crash', { pods: [pod('a', ended(139, 'Segmentation fault'))] }, 'Loaded', 'False Crashed'],
    ['an OOM kill', { pods: [pod('a', ended(137, '', 'OOMKilled'))] }, 'Loaded', 'False OutOfMemory'],
    ['an end in good order', { pods: [pod('a', ended(0, ''))] }, 'Loaded', 'False Starting'],
    [
      'an image that is not there',
      {
        pods: [
          pod('a', { container: { state: { waiting: { reason: 'ImagePullBackOff', message: 'no such' } } } }),
        ],
      },
      'Loaded',
      'False ImagePullFailed',
    ],
    [
      'a config error',
      { pods: [pod('a', { container: { state: { waiting: { reason: 'CreateContainerConfigError' } } } })] },
      'Loaded',
      'False CreateContainerConfigError',
    ],
    [
      'S3 away while pods serve',
      {
        pods: [ready],
        resolution: { state: 'unavailable', failure: { reason: 'S3Unavailable', message: 'x' } },
      },
      'Ready',
      'True Serving',
    ],
    [
      'a refused checkpoint while old pods serve',
      {
        pods: [old],
        revision: null,
        resolution: { state: 'failed', failure: { reason: 'ModelNotFound', message: 'x' } },
      },
      'Ready',
      'False ModelNotFound',
    ],
    [
      'an invalid spec',
      { resolution: { state: 'invalid', violations: [{ path: 'spec.x', message: 'is wrong' }] } },
      'Stalled',
      'True InvalidSpec',
    ],
    [
      'a host without a gateway',
      { pods: [ready], routing: { state: 'noGateway', host: 'h', provider: 'auto' } },
      'Ready',
      'False GatewayNotConfigured',
    ],
    [
      'a host without the API',
      { pods: [ready], routing: { state: 'noApi', host: 'h', provider: 'gatewayApi', forbidden: [] } },
      'Routed',
      'False GatewayApiMissing',
    ],
    [
      'a route that nobody judged',
      {
        pods: [ready],
        routing: {
          state: 'planned',
          host: 'h',
          pathPrefix: '',
          gateway: { name: 'g', namespace: 'n', provider: 'gatewayApi' },
        },
      },
      'Ready',
      'False RoutePending',
    ],
  ])('%s → %j: %s is %s', (_name, change, type, expected) => {
    expect(verdict(change, type)).toBe(expected);
  });

  describe('while the checkpoint is read anew', () => {
    const reading: Partial<Observed> = {
      resolution: { state: 'reading', message: 'x' },
      fit: { state: 'unresolved' },
    };
    const plan = { rows: [], maxModelLen: 64, maxConcurrencyAtMaxLen: 1 } as unknown as MemoryPlan;
    const known = buildStatus({ ...base, fit: { state: 'fits', plan, memoryBytes: 1, devices: 1 } });

    test('what was found of this generation stands', () => {
      const status = buildStatus({ ...base, ...reading, previous: known });
      expect(status).toEqual(known);
      expect(verdict({ ...reading, previous: status }, 'Fits')).toBe('True Fits');
    });

    test('of another generation nothing stands, nor what was reported before anything was found', () => {
      const later = { ...reading, previous: known, generation: 3 };
      expect(verdict(later, 'ModelResolved')).toBe('Unknown Reading');
      expect(verdict(later, 'Fits')).toBe('Unknown ModelNotResolved');
      expect(verdict(later, 'Stalled')).toBe('False NotStalled');
      expect(buildStatus({ ...base, ...later }).memoryPlan).toBeUndefined();
      const pending = { ...reading, previous: { conditions: pendingConditions(2, base.now) } };
      expect(verdict(pending, 'ModelResolved')).toBe('Unknown Reading');
    });
  });

  test('are cut where others say more than a status takes, whatever it ends with', () => {
    const message = `${'x'.repeat(50_000)}${'.'.repeat(50_000)}`;
    const unavailable: Observed['resolution'] = {
      state: 'failed',
      failure: { reason: 'S3AccessDenied', message },
    };
    const { conditions } = buildStatus({ ...base, resolution: unavailable });
    expect(Math.max(...(conditions ?? []).map((each) => each.message.length))).toBe(8193);
  });

  test('a missing device is named, with what to do', () => {
    const status = buildStatus({ ...base, pods: [pod('a', { scheduled: noGpu })] });
    const message = status.conditions?.find(({ type }) => type === 'Scheduled')?.message;
    expect(message).toContain('Free amd.com/gpu on a node');
  });

  test('keep their time while their status stands, and take a new one when it turns', () => {
    const before = buildStatus({ ...base, pods: [pod('a')] });
    const after = buildStatus({ ...base, pods: [ready], previous: before, now: '2026-01-02T00:00:00Z' });
    const time = (type: string) => after.conditions?.find((each) => each.type === type)?.lastTransitionTime;
    expect(time('Ready')).toBe('2026-01-02T00:00:00Z');
    expect(time('ModelResolved')).toBe('2026-01-01T00:00:00Z');
  });

  test('equal observations give equal statuses at any time', () => {
    const before = buildStatus({ ...base, pods: [pod('a', ended(139, 'x'))] });
    const after = buildStatus({
      ...base,
      pods: [pod('a', ended(139, 'x'))],
      previous: before,
      now: '2027-01-01T00:00:00Z',
    });
    expect(after).toEqual(before);
  });
});
