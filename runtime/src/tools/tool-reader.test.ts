// The corpus of answers that are easily misread: each is read alike whole, cut in two at every place, and in single
// characters.

import { describe, expect, test } from '@jest/globals';
import { cpuClock } from '../cpu-time.fixture.js';
import { json, jsonAnswers, qwen } from './json-answers.fixture.js';
import { quotedAnswers } from './quoted-answers.fixture.js';
import { functionaryAnswers } from './functionary-answers.fixture.js';
import { gemmaAnswers } from './gemma-answers.fixture.js';
import { glmAnswers } from './glm-answers.fixture.js';
import { llamaAnswers } from './llama-answers.fixture.js';
import { miniMaxAnswers } from './mini-max-answers.fixture.js';
import { mistralAnswers } from './mistral-answers.fixture.js';
import { deepSeekAnswers } from './deep-seek-answers.fixture.js';
import { listAnswers } from './list-answers.fixture.js';
import {
  begin,
  end,
  readPieces,
  spelled,
  type AnswerCase,
  type DialectName,
  type Read,
} from './tool-reader.fixture.js';
import { coder, xmlAnswers } from './xml-answers.fixture.js';

/** Of dialects of both kinds. */
const anyAnswers: Readonly<Record<string, AnswerCase>> = {
  'no call': {
    dialects: [...qwen, ...coder],
    answer: ' Hi, \n there \n',
    content: ' Hi, \n there \n',
    calls: [],
  },
  'a marker quoted in prose': {
    dialects: ['qwenJson', 'qwenXml'],
    answer: 'Write <tool_call>{"name": "f", "arguments": {}}</tool_call> to call.',
    content: 'Write <tool_call>{"name": "f", "arguments": {}}</tool_call> to call.',
    calls: [],
  },
  'a marker quoted in prose of a vocabulary without it, when no call follows': {
    dialects: ['spelled', 'spelledXml'],
    answer: 'The <tool_call> tag, <tool',
    content: 'The <tool_call> tag, <tool',
    calls: [],
  },
  'an end marker alone': {
    dialects: [...qwen, ...coder],
    answer: `a ${end} b`,
    content: 'a </tool_call> b',
    calls: [],
  },
  'a name that a limit cut': {
    dialects: [...qwen, ...coder],
    answer: `x ${begin}\n{"na`,
    content: 'x <tool_call>\n{"na',
    calls: [],
    options: { cut: true },
  },
  'the name of a call that is required and that a limit cut': {
    dialects: qwen,
    answer: `${begin}\n{"na`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'the name of a call in XML that is required and that a limit cut': {
    dialects: coder,
    answer: `${begin}\n<function=pi`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'the marker of a call that is named and that a limit cut': {
    dialects: ['spelled', 'spelledXml'],
    answer: '<tool_c',
    calls: [],
    options: { cut: true, choice: { name: 'f' } },
  },
};

const cases = Object.entries({
  ...anyAnswers,
  ...jsonAnswers,
  ...xmlAnswers,
  ...quotedAnswers,
  ...glmAnswers,
  ...gemmaAnswers,
  ...miniMaxAnswers,
  ...functionaryAnswers,
  ...llamaAnswers,
  ...mistralAnswers,
  ...deepSeekAnswers,
  ...listAnswers,
}).flatMap(([name, each]) =>
  each.dialects.map((dialect): [string, DialectName, AnswerCase] => [name, dialect, each]),
);

describe('ToolReader', () => {
  test('reads arguments as a string in a time that grows with them alone', () => {
    const text = 'x'.repeat(200_000);
    const pieces = json('f', JSON.stringify(JSON.stringify({ text }))).match(/[^]{1,4}/g) ?? [];
    const cpuMs = cpuClock();
    const { calls } = readPieces('qwenJson', pieces);
    expect(cpuMs()).toBeLessThan(2000);
    expect(calls).toEqual([{ name: 'f', arguments: JSON.stringify({ text }) }]);
  });

  test.each<[string, DialectName, string, string]>([
    ['line breaks before an answer', 'qwenJson', '', '\n'],
    ['line breaks where a call begins', 'qwenXml', begin, '\n'],
    ['line breaks where a call of GLM begins', 'glmXml', begin, '\n'],
    ['blocks within blocks that are none', 'spelled', '', '<tool_call>{"a":['],
    ['spaces before a call of Gemma', 'gemma', begin, ' '],
  ])('reads %s (%s) in a time that grows with them alone', (_name, dialect, first, piece) => {
    const pieces = Array.from({ length: 150_000 / piece.length }, () => piece);
    const cpuMs = cpuClock();
    expect(readPieces(dialect, [first, ...pieces]).calls).toEqual([]);
    expect(cpuMs()).toBeLessThan(2000);
  });

  test.each([
    ['lists in lists', 'list:', '['],
    ['a number without end', 'count:', '1'],
    ['a text without end', 'text:<|"|>', '<|'],
    ['a text of JSON without end', '"text":"', '\\'],
  ])('reads %s in arguments of Gemma in a time that grows with them alone', (_name, first, piece) => {
    const pieces = Array.from({ length: 150_000 / piece.length }, () => piece);
    const cpuMs = cpuClock();
    const { calls } = readPieces('gemma', [`${begin}call:f{${first}`, ...pieces]);
    expect(cpuMs()).toBeLessThan(2000);
    expect(calls.map(({ name }) => name)).toEqual(['f']);
  });

  test.each(cases)('reads %s (%s) alike in any pieces', (_name, dialect, each) => {
    const answer = dialect.startsWith('spelled') ? spelled(dialect, each.answer) : each.answer;
    const expected: Read = {
      content: each.content ?? '',
      calls: each.calls.map(([name, text]) => ({ name, arguments: text })),
      asksForCalls: each.asksForCalls ?? each.calls.length > 0,
    };
    const read = (...pieces: string[]): Read => readPieces(dialect, pieces, each.options);
    expect(read(answer)).toEqual(expected);
    const characters = Array.from(answer);
    expect(read(...characters)).toEqual(expected);
    // In fifty calls that are alike, some 13th place meets every place of a call.
    const places = characters.map((_, i) => i).filter((i) => characters.length < 1000 || i % 13 === 0);
    const splits = places.map((i) => [characters.slice(0, i).join(''), characters.slice(i).join('')]);
    const text = JSON.stringify(expected);
    expect(splits.filter((pieces) => JSON.stringify(read(...pieces)) !== text)).toEqual([]);
  });
});
