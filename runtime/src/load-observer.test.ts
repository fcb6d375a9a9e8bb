import { beforeEach, expect, jest, test } from '@jest/globals';
import { describeLoad } from './cli/load-display.js';
import { Lifecycle } from './http/replica/lifecycle.js';
import { LoadObserver } from './load-observer.js';
import { makeLogger } from './log/logger.js';
import { UnavailableError } from './weights/checkpoint-source.js';
import { StallWatch } from './weights/stall-watch.js';

let nowMs: number;
let lifecycle: Lifecycle;
let stall: StallWatch;
let observer: LoadObserver;
beforeEach(() => {
  nowMs = 0;
  const now = (): number => nowMs;
  lifecycle = new Lifecycle('tiny');
  stall = new StallWatch(10_000, now);
  observer = new LoadObserver(lifecycle, stall, makeLogger('error'), now);
  observer.started();
});

/** The pull has 4 of 10 GiB, the engine 2 of 8. */
function halfWay(): void {
  observer.begin(2 ** 30, 10 * 2 ** 30);
  nowMs += 1000;
  observer.received(3 * 2 ** 30);
  observer.loaded({ bytesDone: 2 ** 31, bytesTotal: 2 ** 33 });
}

test('pull and load are reported side by side, and the pull is the one that is waited for', () => {
  halfWay();
  expect(lifecycle.health()).toMatchObject({
    state: 'pulling',
    load: {
      phase: 'pull',
      bytesDone: 2 ** 32,
      pulled: { bytesDone: 2 ** 32, bytesTotal: 10 * 2 ** 30 },
      loaded: { bytesDone: 2 ** 31, bytesTotal: 2 ** 33 },
    },
  });
  expect(describeLoad(lifecycle.health())).toMatch(/^pulling \[#+\.+\] 40 % of 10\.00 GiB.*; loaded 25 %$/);
});

test('once all is on disk the load is reported, from where it is', () => {
  halfWay();
  observer.pulled();
  expect(lifecycle.health()).toMatchObject({
    state: 'loading',
    load: { phase: 'load', bytesDone: 2 ** 31, bytesTotal: 2 ** 33 },
  });
  expect(describeLoad(lifecycle.health())).toMatch(/^loading .* 25 % of 8\.00 GiB/);
});

test('a load from a folder has no pull', () => {
  observer.pulled();
  observer.loaded({ bytesDone: 1, bytesTotal: 4 });
  expect(lifecycle.load).toMatchObject({
    phase: 'load',
    pulled: null,
    loaded: { bytesDone: 1, bytesTotal: 4 },
  });
});

test('only what moves is progress: an engine that waits for a pull that stalls is a stall', () => {
  halfWay();
  nowMs += 9_000;
  observer.loaded({ bytesDone: 2 ** 31, bytesTotal: 2 ** 33 });
  expect(stall.check()).toBeNull();
  nowMs += 1_000;
  expect(stall.check()).toMatchObject({ reason: 'LoadStalled' });
});

test('an engine that is started again must make progress too, from when it is', () => {
  const engineIs = (kind: 'loading' | 'restarting', bytesDone: number, restarts: number): boolean => {
    const cause = { reason: 'EngineFault', message: 'lost' } as const;
    const loaded = { bytesDone, bytesTotal: 4 };
    return observer.engineLoads({ state: { kind, cause, loaded, warmup: null, waitingFor: '' }, restarts });
  };
  expect(engineIs('loading', 4, 0)).toBe(true);
  nowMs += 60_000; // of serving
  expect(engineIs('restarting', 0, 1)).toBe(true);
  nowMs += 9_000;
  expect(engineIs('restarting', 4, 1)).toBe(true);
  nowMs += 9_000;
  expect(stall.check()).toBeNull();
  engineIs('restarting', 4, 1);
  nowMs += 1_000;
  expect(stall.check()?.message).toContain('the engine loaded 4 of 4 bytes');
  engineIs('restarting', 0, 2);
  expect(stall.check()).toBeNull();
});

test('the next model begins anew', () => {
  halfWay();
  lifecycle.unloaded();
  expect(lifecycle.health()).toMatchObject({ state: 'unloaded', load: null, engine: null });
  observer.started();
  expect(lifecycle.health()).toMatchObject({ state: 'pulling', load: null });
});

test('an outage is reported of each load that waits for its end', () => {
  const logger = makeLogger('error');
  const warn = jest.spyOn(logger, 'warn');
  observer = new LoadObserver(lifecycle, stall, logger, () => nowMs);
  for (let load = 1; load <= 2; load++) {
    observer.started();
    observer.unavailable(new UnavailableError('s3', 'away'));
    observer.unavailable(new UnavailableError('s3', 'away'));
    expect(warn).toHaveBeenCalledTimes(load);
    lifecycle.unloaded();
  }
});

test('what failed stays failed when its model is put away', () => {
  lifecycle.fail({ reason: 'LoadStalled', message: 'no progress' });
  lifecycle.unloaded();
  expect(lifecycle.health()).toMatchObject({ state: 'failed', failure: { reason: 'LoadStalled' } });
});

test('a warm-up follows the load, and is a phase of its own', () => {
  observer.pulled();
  observer.loaded({ bytesDone: 4, bytesTotal: 4 });
  observer.warmedUp({ done: 3, total: 12 });
  expect(lifecycle.load).toMatchObject({ phase: 'warmup', bytesDone: 4, warmup: { done: 3, total: 12 } });
  expect(describeLoad(lifecycle.health())).toBe('warming up 3/12');
  expect(() => lifecycle.requireServing()).toThrow('warms up: 3 of 12 shapes');
  observer.started();
  expect(lifecycle.load).toBeNull();
});
