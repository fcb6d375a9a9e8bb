// Answers with calls in a list between two markers, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** Of a vocabulary with the markers, and of one without. */
const lists = ['aprielJson', 'spelledNemotron'] as const;

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
};
