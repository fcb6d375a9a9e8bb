// Answers with calls in JSON, as Qwen writes them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** The dialects that write so, of vocabularies with the markers and without. */
export const qwen = ['qwenJson', 'spelled'] as const;

export const json = (name: string, text: string): string =>
  `${begin}\n{"name": "${name}", "arguments": ${text}}\n${end}`;

export const jsonAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call': { dialects: qwen, answer: json('f', '{"text": "x"}'), calls: [['f', '{"text": "x"}']] },
  'a marker quoted in arguments': {
    dialects: ['qwenJson'],
    answer: json('f', '{"text": "</tool_call> }} <tool_call>"}'),
    calls: [['f', '{"text": "</tool_call> }} <tool_call>"}']],
  },
  'text before, between and after': {
    dialects: qwen,
    answer: `Let me see.\n${json('ping', '{}')}\nAnd also \n${json('ping', '{}')}\n\nDone. \n`,
    content: 'Let me see.\n\nAnd also \n\n\nDone.',
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'text after alone': {
    dialects: qwen,
    answer: `${json('ping', '{}')}\n Done`,
    content: 'Done',
    calls: [['ping', '{}']],
  },
  'fifty calls': {
    dialects: qwen,
    answer: fifty.map((i) => json('f', `{"count": ${String(i)}}`)).join('\n'),
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'several objects in one block': {
    dialects: qwen,
    answer: `${begin}{"name": "ping"}}\n{"arguments": {"count": 1}, "name": "f"}; {"name": "f", "arguments": "{}"}${end}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
      ['f', '{}'],
    ],
  },
  'several objects in a list in one block': {
    dialects: qwen,
    answer: `${begin}\n[{"name": "ping"},\n {"name": "f", "arguments": {"count": 1}}]\n${end}\n${json('ping', '{}')} So.`,
    content: 'So.',
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
      ['ping', '{}'],
    ],
  },
  'the first object of a list alone, where several are not wanted': {
    dialects: qwen,
    answer: `${begin}[{"name": "ping"}, {"name": "f"}]${end} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a list that is no calls': {
    dialects: qwen,
    answer: `${begin}[1, 2]${end}`,
    content: '<tool_call>[1, 2]</tool_call>',
    calls: [],
  },
  'a call that is whole but for its marker, which a limit cut': {
    dialects: qwen,
    answer: `${begin}{"name": "ping"}\n`,
    calls: [['ping', '{}']],
    options: { cut: true },
  },
  'the first object alone, where several are not wanted': {
    dialects: qwen,
    answer: `${begin}{"name": "ping"}\n{"name": "f"}${end} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'the first call alone, where several are not wanted': {
    dialects: qwen,
    answer: `${json('ping', '{}')}\n${json('f', '{}')} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a call that another begins in': {
    dialects: ['qwenJson'],
    answer: `${begin}{"name": "f", "arguments": {"text": "x", ${json('ping', '{}')}`,
    calls: [
      ['f', '{"text": "x", '],
      ['ping', '{}'],
    ],
  },
  'a begin marker in a text of the arguments': {
    dialects: ['qwenJson'],
    answer: json('f', `{"text": "a ${begin} c"}`) + json('ping', '{}'),
    calls: [
      ['f', '{"text": "a <tool_call> c"}'],
      ['ping', '{}'],
    ],
  },
  'no arguments': { dialects: qwen, answer: `${begin}{"name": "ping"}${end}`, calls: [['ping', '{}']] },
  'null and empty arguments': {
    dialects: qwen,
    answer: json('ping', 'null') + json('ping', '""') + json('ping', '{}'),
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'arguments as a string': {
    dialects: qwen,
    answer: json('f', '"{\\"text\\": \\"\\u00e9\\"}"'),
    calls: [['f', '{"text": "\u00e9"}']],
  },
  'arguments before the name, among other keys': {
    dialects: qwen,
    answer: `${begin}{"arguments": {"a": [1, {}]}, "id": {"name": "x"}, "n": -1.5e3, "name": "f"}${end}`,
    calls: [['f', '{"a": [1, {}]}']],
  },
  'unicode and escapes': {
    dialects: qwen,
    answer: json('f', '{"text": "\\"\\\\ \\u4f60 好 \u{1f600} \\n }{ ]["}'),
    calls: [['f', '{"text": "\\"\\\\ \\u4f60 好 \u{1f600} \\n }{ ]["}']],
  },
  'line breaks in strings, which JSON does not have': {
    dialects: qwen,
    answer: json('f', '{"text": "a\nb\tc"}'),
    calls: [['f', '{"text": "a\\nb\\tc"}']],
  },
  'nested objects': {
    dialects: qwen,
    answer: json('f', '{"a": {"b": [[{"c": {}}], []]}, "d": "}"}'),
    calls: [['f', '{"a": {"b": [[{"c": {}}], []]}, "d": "}"}']],
  },
  'a tool that nobody offered': {
    dialects: qwen,
    answer: json('other', '{"a": 1}'),
    calls: [['other', '{"a": 1}']],
  },
  'what is not JSON': {
    dialects: qwen,
    answer: `${begin}{name: f}${end}`,
    content: '<tool_call>{name: f}</tool_call>',
    calls: [],
  },
  'an object without a name': {
    dialects: qwen,
    answer: `${begin}{"arguments": {}}${end} x`,
    content: '<tool_call>{"arguments": {}}</tool_call> x',
    calls: [],
  },
  'JSON that breaks behind the name': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"a": ]}${end}`,
    calls: [['f', '{"a": ]']],
  },
  'a call inside of what was none': {
    dialects: ['spelled'],
    answer: `${begin} oops ${json('ping', '{}')}`,
    content: '<tool_call> oops',
    calls: [['ping', '{}']],
  },
  'an unclosed block that the model ended': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x"}}`,
    calls: [['f', '{"text": "x"}']],
  },
  'arguments that a limit cut': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x`,
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'text that a limit cut behind a call': {
    dialects: qwen,
    answer: `${json('ping', '{}')} and`,
    content: 'and',
    calls: [['ping', '{}']],
    options: { cut: true },
  },
};
