// The parts of an answer, whatever pieces it comes in.

import { describe, expect, test } from '@jest/globals';
import { silentDelta, type TextDelta } from '../../request/text/text-stream.js';
import { AnswerParts, type AnswerPart } from './answer-parts.js';

const delta = (fields: Partial<TextDelta>): TextDelta => ({ ...silentDelta, ...fields });
const begins = (index: number, name: string, fragment = ''): TextDelta['toolCalls'][number] => ({
  index,
  start: { id: `call_${String(index)}`, name },
  arguments: fragment,
});
const goesOn = (index: number, fragment: string): TextDelta['toolCalls'][number] => ({
  index,
  start: null,
  arguments: fragment,
});
const summaries = (parts: readonly AnswerPart[]): string[] =>
  parts.map(({ kind, text, call }) => `${kind} ${call?.name ?? ''}${text}`);

test('thinking, text and calls come one after the other, each once', () => {
  const parts = AnswerParts.of([
    delta({ reasoning: 'h' }),
    delta({ reasoning: 'm', content: 'I ' }),
    delta({ content: 'look' }),
    delta({ toolCalls: [begins(0, 'a', '{'), goesOn(0, '}'), begins(1, 'b')] }),
    delta({ toolCalls: [goesOn(1, '{}')], finish: 'tool_calls' }),
  ]);
  expect(summaries(parts)).toEqual(['reasoning hm', 'text I look', 'call a{}', 'call b{}']);
  expect(parts.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
});

test('text behind a call is a part of its own, and what ends the call before it is the call’s', () => {
  const parts = AnswerParts.of([
    delta({ content: 'x', toolCalls: [begins(0, 'a', '{')] }),
    delta({ content: 'y', toolCalls: [goesOn(0, '}'), begins(1, 'b', '{}')] }),
    delta({ content: 'z', finish: 'stop' }),
  ]);
  expect(summaries(parts)).toEqual(['text x', 'call a{}', 'text y', 'call b{}', 'text z']);
});

describe('every part is opened, grown and closed in this order', () => {
  test.each([
    ['with text', delta({ content: 'x' }), ['opened 0', 'grown 0', 'closed 0']],
    ['without arguments', delta({ toolCalls: [begins(0, 'a')] }), ['opened 0', 'closed 0']],
    [
      'in two',
      delta({ reasoning: 'x', content: 'y' }),
      ['opened 0', 'grown 0', 'closed 0', 'opened 1', 'grown 1', 'closed 1'],
    ],
    ['of nothing', silentDelta, []],
  ])('%s', (_, first, events) => {
    const parts = new AnswerParts();
    const seen = [first, delta({ finish: 'stop' })].flatMap((each) => parts.take(each));
    expect(seen.map(({ kind, part }) => `${kind} ${String(part.index)}`)).toEqual(events);
  });
});
