// Requests for structured output, while their grammars are compiled.

import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CompiledGrammar } from '@llmservice/native';
import { generateRequest } from '../schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../schedule/generation.js';
import { Intake } from './intake.js';

const grammar = {} as CompiledGrammar;
const loop = { submit: jest.fn(), refuse: jest.fn(), cancel: jest.fn() };
let now: number;
let compiled: (grammar: CompiledGrammar) => void;
let wanted: AbortSignal;
let intake: Intake;
beforeEach(() => {
  Object.values(loop).forEach((each) => each.mockClear());
  now = 100;
  const compile = (_: unknown, _key: string, signal: AbortSignal): Promise<CompiledGrammar> => {
    wanted = signal;
    return new Promise((resolve) => (compiled = resolve));
  };
  intake = new Intake(loop, { compile }, () => now);
});

const formed = (changes: Partial<GenerateRequest> = {}): GenerateRequest =>
  generateRequest('a', [1], { grammar: { kind: 'regex', text: 'x', after: null }, ...changes });
const turn = () => new Promise(setImmediate);

test('the time of the compile is time that the request waited', async () => {
  const request = formed({ maxQueueMs: 5_000 });
  intake.submit(request);
  now += 30;
  compiled(grammar);
  await turn();
  expect(loop.submit.mock.calls).toEqual([[request, grammar, 100]]);
});

test('a request that may not wait so long is refused in time, and is not begun later', async () => {
  intake.submit(formed({ maxQueueMs: 10 }));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(loop.refuse.mock.calls).toEqual([['a', expect.objectContaining({ reason: 'QueueTimeout' })]]);
  expect(wanted.aborted).toBe(true);
  compiled(grammar);
  await turn();
  expect(loop.submit).not.toHaveBeenCalled();
});

test('the grammar of a request that is cancelled is not wanted any more', async () => {
  intake.submit(formed());
  intake.cancel('a');
  expect(wanted.aborted).toBe(true);
  compiled(grammar);
  await turn();
  expect(loop.submit).not.toHaveBeenCalled();
  expect(loop.cancel).not.toHaveBeenCalled();
  intake.cancel('a');
  expect(loop.cancel).toHaveBeenCalledTimes(1);
});

describe('where long prompts are computed elsewhere', () => {
  const long = generateRequest('long', [1, 2, 3]);
  let come: (cached: number | null) => void;
  let waiting: AbortSignal;
  beforeEach(() => {
    const bring = (_: unknown, signal: AbortSignal): Promise<number | null> => {
      waiting = signal;
      return new Promise((resolve) => (come = resolve));
    };
    const compile = (): Promise<CompiledGrammar> => Promise.resolve(grammar);
    intake = new Intake(loop, { compile }, () => now, { wants: ({ prompt }) => prompt.length > 2, bring });
  });

  test('one begins once it has come, or is not to come', async () => {
    intake.submit(long);
    expect(loop.submit).not.toHaveBeenCalled();
    come(16);
    await turn();
    intake.submit(long);
    come(null);
    await turn();
    expect(loop.submit.mock.calls).toEqual([
      [long, null, undefined, 16],
      [long, null, undefined, undefined],
    ]);
  });

  test('one for structured output has its grammar first', async () => {
    intake.submit(formed({ prompt: Int32Array.of(1, 2, 3) }));
    await turn();
    come(0);
    await turn();
    expect(loop.submit.mock.calls[0]!.slice(1)).toEqual([grammar, undefined, 0]);
  });

  test('a short one begins at once', () => {
    intake.submit(generateRequest('short', [1]));
    expect(loop.submit).toHaveBeenCalledTimes(1);
  });

  test('one that is cancelled is not waited for, and not begun', async () => {
    intake.submit(long);
    intake.cancel('long');
    expect(waiting.aborted).toBe(true);
    come(null);
    await turn();
    expect(loop.submit).not.toHaveBeenCalled();
    expect(loop.cancel).not.toHaveBeenCalled();
  });
});
