import { describe, expect, test } from '@jest/globals';
import { PromptPace } from './prompt-pace.js';
import { Scheduler, type SchedulerLimits } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { limits, request } from './workload.fixture.js';

describe('PromptPace', () => {
  test('has no limit where a step may take any time', () => {
    const pace = new PromptPace(Infinity);
    pace.observe(100, 1e9);
    expect(pace.rows).toBe(Infinity);
  });

  test.each([
    ['as many as take so long, in chunks', 500, 448],
    ['few on a slow machine', 10_000, 128],
  ])('gives %s', (_, microsOfRow, rows) => {
    const pace = new PromptPace(250);
    expect(pace.rows).toBe(128);
    pace.observe(8, 1);
    expect(pace.rows).toBe(128);
    pace.observe(128, 128 * microsOfRow);
    expect(pace.rows).toBe(rows);
  });

  test('follows a machine that others slow down, and forgets a slow step', () => {
    const pace = new PromptPace(250);
    for (let i = 0; i < 20; i++) pace.observe(128, 128 * 500);
    pace.observe(128, 128 * 5000);
    expect(pace.rows).toBe(128);
    for (let i = 0; i < 20; i++) pace.observe(128, 128 * 500);
    expect(pace.rows).toBe(448);
  });
});

/** Rows of prompts by step where a row takes 3 ms, until no prompt is left. */
function promptRows(lengths: readonly number[], changes: Partial<SchedulerLimits> = {}): number[][] {
  const room = { ...limits, maxNumSeqs: 8, maxNumBatchedTokens: 512, numBlocks: 256, ...changes };
  const scheduler = new Scheduler({ ...room, promptStepMs: 250 });
  const model = new StepModel(room);
  lengths.forEach((length, i) => scheduler.add(request(String(i), length, 50)));
  const steps: number[][] = [];
  for (;;) {
    const { plan } = scheduler.plan()!;
    const counts = [...plan.rows].filter((count, i) => i % 2 === 1 && count > 1);
    if (counts.length === 0) return steps;
    steps.push(counts);
    const result = model.step(plan);
    scheduler.postprocess({ ...result, computeMicros: result.rows * 3000 });
  }
}

describe('a scheduler with a pace', () => {
  test.each<[string, number[], number[][]]>([
    ['computes one prompt after the other, beside decodes', [128, 128, 128], [[128], [128], [128]]],
    ['leaves no rest of a prompt to a step of its own', [130, 191], [[130], [191]]],
    [
      'divides a prompt that does not fit, and continues behind its rest',
      [100, 100, 100],
      [
        [100, 64],
        [36, 100],
      ],
    ],
    ['leaves room for a short prompt beside a long one', [440, 100], [[128], [100, 64], [128], [120]]],
  ])('%s', (_, lengths, steps) => {
    expect(promptRows(lengths)).toEqual(steps);
  });

  test('computes a text whole that must be, one a step', () => {
    expect(promptRows([400, 300], { bidirectional: true })).toEqual([[400], [300]]);
  });

  test('keeps within the rows that a step has', () => {
    const steps = promptRows([500, 440, 130], { maxNumBatchedTokens: 160 });
    const rows = steps.map((counts) => counts.reduce((sum, count) => sum + count, 0));
    expect(Math.max(...rows)).toBeLessThanOrEqual(160);
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(500 + 440 + 130);
  });
});
