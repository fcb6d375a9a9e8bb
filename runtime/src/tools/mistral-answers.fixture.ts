// Answers with calls as Mistral's models write them, that are easily misread: a list behind the marker, or a name.

import { begin, fifty, type AnswerCase } from './tool-reader.fixture.js';

const both = ['mistralJson', 'mistralNamed'] as const;

export const mistralAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call of Mistral, with its id': {
    dialects: ['mistralJson'],
    answer: `${begin} [{"name": "f", "arguments": {"text": "x"}, "id": "abc123def"}]`,
    calls: [['f', '{"text": "x"}']],
  },
  'calls of Mistral in a list, behind text': {
    dialects: ['mistralJson'],
    answer: `Let me see.${begin}[{"name": "ping", "arguments": {}}, {"arguments": {"text": "]"}, "name": "f"}]`,
    content: 'Let me see.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "]"}'],
    ],
  },
  'fifty calls of Mistral in a list': {
    dialects: ['mistralJson'],
    answer: `${begin}[${fifty.map((i) => `{"name": "f", "arguments": {"count": ${String(i)}}}`).join(', ')}]`,
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'text behind a list of Mistral, and another list': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "ping"}] So ]. ${begin}[{"name": "f", "arguments": {"count": 1}}]`,
    content: 'So ].',
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'an object of Mistral without a list': {
    dialects: ['mistralJson'],
    answer: `${begin}{"name": "ping", "arguments": {}}\nSo.`,
    content: 'So.',
    calls: [['ping', '{}']],
  },
  'a list of Mistral that the model left open': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "ping", "arguments": {}}`,
    calls: [['ping', '{}']],
  },
  'a list of Mistral that a limit cut behind a call': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "ping", "arguments": {}}, `,
    calls: [['ping', '{}']],
    options: { cut: true },
  },
  'a list of Mistral that a limit cut in arguments': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "ping", "arguments": {}}, {"name": "f", "arguments": {"text": "x`,
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x'],
    ],
    options: { cut: true },
    asksForCalls: false,
  },
  'the first call of a list of Mistral alone, where several are not wanted': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "ping", "arguments": {}}, {"name": "f", "arguments": {}}] and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a list of Mistral that is no calls': {
    dialects: ['mistralJson'],
    answer: `${begin}[1, 2]`,
    content: '[1, 2]',
    calls: [],
  },
  'a call of Mistral behind its name': {
    dialects: ['mistralNamed'],
    answer: `${begin}f[ARGS]{"text": "x"}`,
    calls: [['f', '{"text": "x"}']],
  },
  'calls of Mistral behind their names, among text': {
    dialects: ['mistralNamed'],
    answer: `Let me see. ${begin}ping[ARGS]{}${begin}f[ARGS]{"text": "[ARGS]{}[CALL_ID]", "a": [{"b": "}"}]}\nSo.`,
    content: 'Let me see. \nSo.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "[ARGS]{}[CALL_ID]", "a": [{"b": "}"}]}'],
    ],
  },
  'a call of Mistral behind its name and id': {
    dialects: ['mistralNamed'],
    answer: `${begin}f[CALL_ID]abc123def[ARGS]{"text": "x"}`,
    calls: [['f', '{"text": "x"}']],
  },
  'a call of Mistral whose name is followed by its arguments': {
    dialects: ['mistralNamed'],
    answer: `${begin} f {"text": "x"}`,
    calls: [['f', '{"text": "x"}']],
  },
  'a call of Mistral whose name has more than letters': {
    dialects: ['mistralNamed'],
    answer: `${begin}a.b-c/d:e_1[ARGS]{"text": "é\n"}`,
    calls: [['a.b-c/d:e_1', '{"text": "é\\n"}']],
  },
  'fifty calls of Mistral behind their names': {
    dialects: ['mistralNamed'],
    answer: fifty.map((i) => `${begin}f[ARGS]{"count": ${String(i)}}`).join(''),
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'the first call of Mistral alone behind its name, where several are not wanted': {
    dialects: ['mistralNamed'],
    answer: `${begin}ping[ARGS]{}${begin}f[ARGS]{} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'arguments of Mistral that a limit cut': {
    dialects: ['mistralNamed'],
    answer: `${begin}f[ARGS]{"text": "x`,
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'markers of Mistral that are spelled in prose': {
    dialects: both,
    answer: 'Write [TOOL_CALLS][{"name": "ping", "arguments": {}}] or [TOOL_CALLS]ping[ARGS]{}.',
    content: 'Write [TOOL_CALLS][{"name": "ping", "arguments": {}}] or [TOOL_CALLS]ping[ARGS]{}.',
    calls: [],
  },
  'nested arguments of Mistral, of other scripts': {
    dialects: ['mistralNamed'],
    answer: `${begin}f[ARGS]{"place": {"x": 1, "a": [[], {"b": "]}"}]}, "text": "東京 👩‍🚀"}${begin}ping[ARGS]{}`,
    calls: [
      ['f', '{"place": {"x": 1, "a": [[], {"b": "]}"}]}, "text": "東京 👩‍🚀"}'],
      ['ping', '{}'],
    ],
  },
  'arguments of Mistral that the model left open': {
    dialects: ['mistralNamed'],
    answer: `${begin}ping[ARGS]{}${begin}f[ARGS]{"text": "x`,
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x'],
    ],
  },
  'arguments of Mistral without a name': {
    dialects: ['mistralNamed'],
    answer: `${begin}[ARGS]{"a": 1}`,
    content: '[ARGS]{"a": 1}',
    calls: [],
  },
  'prose and an object of Mistral behind the marker': {
    dialects: both,
    answer: `${begin}I call f with {"a": 1}`,
    content: 'I call f with {"a": 1}',
    calls: [],
  },
  'long prose of Mistral behind the marker': {
    dialects: both,
    answer: `${begin}${'word '.repeat(150)}{"a": 1}`,
    content: `${'word '.repeat(150)}{"a": 1}`,
    calls: [],
  },
  'a name of Mistral that a limit cut': {
    dialects: both,
    answer: `x ${begin}pi`,
    content: 'x pi',
    calls: [],
    options: { cut: true },
  },
  'the name of a call of Mistral that is required and that a limit cut': {
    dialects: both,
    answer: `${begin}[`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'a begin marker of Mistral in a text of a list': {
    dialects: ['mistralJson'],
    answer: `${begin}[{"name": "f", "arguments": {"text": "a ${begin} c"}}]`,
    calls: [['f', '{"text": "a [TOOL_CALLS] c"}']],
  },
  'a begin marker of Mistral in a text of named arguments': {
    dialects: ['mistralNamed'],
    answer: `${begin}f[ARGS]{"text": "a ${begin}ping[ARGS]{} c"}${begin}ping[ARGS]{}`,
    calls: [
      ['f', '{"text": "a [TOOL_CALLS]ping[ARGS]{} c"}'],
      ['ping', '{}'],
    ],
  },
};
