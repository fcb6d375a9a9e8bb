// Answers with calls in a list, between two markers or alone, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** Of a vocabulary with the markers, and of one without. */
const lists = ['aprielJson', 'spelledNemotron'] as const;
const bare = ['xlamJson', 'spelledXlam'] as const;

export const listAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call in a list': {
    dialects: lists,
    answer: `${begin}[{"name": "f", "arguments": {"text": "x"}}]${end}`,
    calls: [['f', '{"text": "x"}']],
  },
  'calls in a list, with ids, among text': {
    dialects: lists,
    answer: `Let me see.\n${begin}[\n  {"name": "ping", "arguments": {}, "id": "1"},\n  {"name": "f", "arguments": {"text": "]"}, "id": "2"}\n]${end}\nSo.`,
    content: 'Let me see.\n\nSo.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "]"}'],
    ],
  },
  'fifty calls in a list': {
    dialects: lists,
    answer: `${begin}[${fifty.map((i) => `{"name": "f", "arguments": {"count": ${String(i)}}}`).join(', ')}]${end}`,
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'objects between markers of a list': {
    dialects: lists,
    answer: `${begin}\n{"name": "ping", "arguments": {}}\n{"name": "ping", "arguments": {}}\n${end}`,
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'an end marker of a list in a text of the arguments': {
    dialects: ['aprielJson'],
    answer: `${begin}[{"name": "f", "arguments": {"text": "a ${end} b"}}]${end}`,
    calls: [['f', '{"text": "a </tool_calls> b"}']],
  },
  'a list that the model left open': {
    dialects: lists,
    answer: `${begin}[{"name": "ping", "arguments": {}}`,
    calls: [['ping', '{}']],
  },
  'a list that a limit cut in arguments': {
    dialects: lists,
    answer: `${begin}[{"name": "ping", "arguments": {}}, {"name": "f", "arguments": {"text": "x`,
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x'],
    ],
    options: { cut: true },
    asksForCalls: false,
  },
  'a list of numbers between markers': {
    dialects: ['aprielJson'],
    answer: `${begin}[1, 2]${end}`,
    content: '<tool_calls>[1, 2]</tool_calls>',
    calls: [],
  },
  'a list of no calls': {
    dialects: ['aprielJson'],
    answer: `${begin}[]${end}\nSo.`,
    content: '<tool_calls>[]</tool_calls>\nSo.',
    calls: [],
  },
  'one call in a list alone': {
    dialects: bare,
    answer: ' [{"name": "f", "arguments": {"text": "x"}}]',
    calls: [['f', '{"text": "x"}']],
  },
  'calls in a list alone, and text behind it': {
    dialects: bare,
    answer:
      '[\n{"name": "ping", "arguments": {}},\n{"name": "f", "arguments": {"text": "]}", "list": [1]}}\n]\nSo.',
    content: 'So.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "]}", "list": [1]}'],
    ],
  },
  'the first call in a list alone, where several are not wanted': {
    dialects: bare,
    answer: '[{"name": "ping", "arguments": {}}, {"name": "f", "arguments": {}}]',
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a list in markers behind text': {
    dialects: bare,
    answer: `I look.\n${begin}[{"name": "ping", "arguments": {}}, {"name": "f", "arguments": {"text": "x"}}]${end}`,
    content: 'I look.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x"}'],
    ],
  },
  'a list in markers and nothing before': {
    dialects: bare,
    answer: `\n${begin}\n[{"name": "ping", "arguments": {}}]\n${end}`,
    calls: [['ping', '{}']],
  },
  'markers in a text of a list alone': {
    dialects: ['xlamJson'],
    answer: `[{"name": "f", "arguments": {"text": "a ${begin} b ${end} c"}}]`,
    calls: [['f', '{"text": "a <tool_call> b </tool_call> c"}']],
  },
  'a list behind prose': {
    dialects: bare,
    answer: 'So: [{"name": "ping", "arguments": {}}]',
    content: 'So: [{"name": "ping", "arguments": {}}]',
    calls: [],
  },
  'a list of what is no tool': {
    dialects: bare,
    answer: '[{"name": "Bob", "arguments": {"age": 3}}]\nis Bob',
    content: '[{"name": "Bob", "arguments": {"age": 3}}]\nis Bob',
    calls: [],
  },
  'a list of nothing': { dialects: bare, answer: '[]\n', content: '[]\n', calls: [] },
  'a link that begins an answer': {
    dialects: bare,
    answer: '[a](b) <tool',
    content: '[a](b) <tool',
    calls: [],
  },
  'a list alone that a limit cut in arguments': {
    dialects: bare,
    answer: '[{"name": "f", "arguments": {"text": "x',
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'the name in a list alone that is required and that a limit cut': {
    dialects: bare,
    answer: '[{"name": "f',
    calls: [],
    options: { cut: true, choice: 'required' },
  },
};
