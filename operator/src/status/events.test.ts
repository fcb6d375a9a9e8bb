import { describe, expect, test } from '@jest/globals';
import { buildStatus } from './build-status.js';
import { transitions } from './events.js';
import { base, ended, pod } from './observed.fixture.js';

describe('transitions', () => {
  test('are reported once: a problem, then Ready, and nothing for the same again', () => {
    const pending = buildStatus(base);
    const broken = buildStatus({ ...base, pods: [pod('a', ended(139, 'x'))], previous: pending });
    const ready = buildStatus({ ...base, pods: [pod('a', { ready: true })], previous: broken });
    expect(transitions({}, pending)).toEqual([]);
    expect(transitions(pending, broken).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning Crashed',
    ]);
    expect(transitions(broken, ready).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Normal Serving',
    ]);
    expect(transitions(ready, ready)).toEqual([]);
  });
});
