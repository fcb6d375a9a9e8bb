import { describe, expect, test } from '@jest/globals';
import { buildStatus } from './build-status.js';
import { base, pod, verdict } from './observed.fixture.js';
import type { Observed } from './observed.js';

describe('StreamingVerified', () => {
  const routed: Partial<Observed> = {
    pods: [pod('a', { ready: true })],
    streaming: { state: 'route', route: 'r1', outcome: null },
  };
  const known = buildStatus({
    ...base,
    ...routed,
    streaming: { state: 'route', route: 'r1', outcome: { state: 'buffered', heldMs: 800 } },
  });

  test.each<[string, Partial<Observed>, string]>([
    ['no route', { streaming: { state: 'noRoute' } }, 'Unknown NotRouted'],
    ['vLLM', { streaming: { state: 'unpaced' } }, 'Unknown NotChecked'],
    ['nobody looked yet', {}, 'Unknown NotChecked'],
    [
      'out of reach',
      { streaming: { state: 'route', route: 'r1', outcome: { state: 'failed', message: 'refused' } } },
      'Unknown NotReached',
    ],
    ['what was found before the operator restarted', { previous: known }, 'False Buffered'],
    [
      'what was found and is out of reach now',
      {
        previous: known,
        streaming: { state: 'route', route: 'r1', outcome: { state: 'failed', message: 'refused' } },
      },
      'False Buffered',
    ],
    [
      'a remedy that helped',
      {
        previous: known,
        streaming: {
          state: 'route',
          route: 'r1',
          outcome: { state: 'streams', minGapMs: 199, maxGapMs: 201 },
        },
      },
      'True Streams',
    ],
    [
      'another route than was checked',
      { previous: known, streaming: { state: 'route', route: 'r2', outcome: null } },
      'Unknown NotChecked',
    ],
  ])('%s', (_, change, expected) => {
    expect(verdict({ ...routed, ...change }, 'StreamingVerified')).toBe(expected);
    expect(verdict({ ...routed, ...change }, 'Ready')).toBe('True Serving');
  });

  test('another look that finds the same writes nothing else', () => {
    const again: Partial<Observed> = {
      previous: known,
      streaming: { state: 'route', route: 'r1', outcome: { state: 'buffered', heldMs: 793 } },
    };
    expect(buildStatus({ ...base, ...routed, ...again })).toEqual(known);
  });
});
