// Thoughts, text and calls as the models of each family write them: read alike whole, cut in two at every token, and token
// by token. Answers in channels are in test/golden/harmony.test.ts, answers that are easily misread beside the tool reader.

import { expect, test } from '@jest/globals';
import {
  argsId,
  beginId,
  dialects,
  endId,
  quoteId,
  use,
  type DialectName,
} from '../../tools/tool-reader.fixture.js';
import { ToolReader } from '../../tools/tool-reader.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import { joinDeltas } from './join-deltas.js';
import { ids, step, stream, think } from './text-stream.fixture.js';

/** Tokens of a whole answer: texts are bytes. */
const tokensOf = (...parts: readonly (string | number)[]): number[] =>
  parts.flatMap((part) => (typeof part === 'string' ? ids(part) : [part]));

const thought = [think.begin, '\nWhich city? <tool_call> is for calls.\n', think.end, '\n\n'];
const args = '{"text": "Zürich \\"{"}';
const keys = '<arg_key>text</arg_key>\n<arg_value>Zürich "{</arg_value>\n';
const asJson = `{"name": "f", "arguments": ${args}}`;

/** Families, their dialect, and the call in it; the model says "I look." before, but where a call has no marker. */
const answers: readonly (readonly [family: string, dialect: DialectName, call: readonly (string | number)[]])[] = [
  ['Qwen and Hermes', 'qwenJson', [beginId, `\n${asJson}\n`, endId]],
  ['Qwen3-Coder', 'qwenXml', [beginId, '\n<function=f>\n<parameter=text>\nZürich "{\n</parameter>\n</function>\n', endId]],
  ['Gemma 2 and 3, to which a message describes tools', 'spelled', [`<tool_call>${asJson}</tool_call>`]],
  ['Gemma 4', 'gemma', [beginId, 'call:f{text:', quoteId, 'Zürich "{', quoteId, '}', endId]],
  ['Mistral Nemo', 'mistralJson', [beginId, `[${asJson}]`]],
  ['Devstral and Magistral', 'mistralNamed', [beginId, 'f', argsId, args]],
  ['GLM 4.5 and later', 'glmXml', [beginId, `f\n${keys}`, endId]],
  ['Llama 3 with a marker', 'llamaJson', [beginId, `{"name": "f", "parameters": ${args}}`]],
  ['Llama 3', 'llamaJson', [`{"name": "f", "parameters": ${args}}`]],
]; // prettier-ignore

function read(dialect: DialectName, steps: readonly (readonly number[])[]): unknown {
  let count = 0;
  const newCallId = (): string => String(count++);
  const tools = new ToolReader({ dialect: dialects[dialect], use, newCallId, skipSpecialTokens: true });
  const spellings = new Map([
    [argsId, '[ARGS]'],
    [quoteId, '<|"|>'],
  ]);
  const textOf = (id: number): string => spellings.get(id) ?? '';
  const text = stream({ tools, textOf, callsInReasoning: false });
  const deltas = steps.map((each) => text.push(step(each)));
  const { content, reasoning, toolCalls, finish } = joinDeltas([
    ...deltas,
    text.push(step([], { finish: 'stop' })),
  ]);
  const calls = wholeCalls(toolCalls).map((call) => [call.name, JSON.parse(call.arguments) as unknown]);
  return { content, reasoning: reasoning.trim(), calls, finish };
}

test.each(answers)('%s (%s)', (_family, dialect, call) => {
  const isBare = dialect === 'llamaJson' && call.length === 1;
  const all = tokensOf(...thought, ...(isBare ? [] : ['I look.\n']), ...call);
  const expected = {
    content: isBare ? '' : 'I look.',
    reasoning: 'Which city? <tool_call> is for calls.',
    calls: [['f', { text: 'Zürich "{' }]],
    finish: 'tool_calls',
  };
  expect(read(dialect, [all])).toEqual(expected);
  expect(read(dialect, all.map((id) => [id]))).toEqual(expected);
  const splits = all.map((_, i) => JSON.stringify(read(dialect, [all.slice(0, i), all.slice(i)])));
  expect(splits.filter((each) => each !== JSON.stringify(expected))).toEqual([]);
}); // prettier-ignore

test.each([
  ['a thought', 'Which city?', 'Which city?'],
  ['a thought with its label', 'thought\nWhich city?', 'Which city?'],
  ['a thought of its label', 'thought\nthought\n', 'thought\n'],
  ['no thought', 'thought\n', ''],
  ['a label without its line break', 'thought', ''],
  ['a thought that begins like the label', 'thoughtful', 'thoughtful'],
  ['half a label', 'thou', 'thou'],
])('Gemma 4: %s, at every split', (_, thought, reasoning) => {
  const all = tokensOf(think.begin, thought, think.end, 'Bern.');
  const readAll = (...steps: readonly (readonly number[])[]): unknown => {
    const text = stream({ think: { ...think, label: 'thought\n' } });
    const { content, reasoning: read } = joinDeltas([
      ...steps.map((each) => text.push(step(each))),
      text.push(step([], { finish: 'stop' })),
    ]);
    return { content, reasoning: read };
  };
  const expected = { content: 'Bern.', reasoning };
  expect(readAll(all)).toEqual(expected);
  const splits = all.map((_id, i) => readAll(all.slice(0, i), all.slice(i)));
  expect(splits).toEqual(splits.map(() => expected));
  expect(readAll(...all.map((id) => [id]))).toEqual(expected);
});
