// Answers with calls as Llama writes them, that are easily misread.

import { begin, type AnswerCase } from './tool-reader.fixture.js';

export const llamaAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call of Llama': {
    dialects: ['llamaJson'],
    answer: ' {"name": "f", "parameters": {"text": "x"}}',
    content: '',
    calls: [['f', '{"text": "x"}']],
  },
  'a call of Llama behind its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "f", "parameters": {"text": "x"}}`,
    calls: [['f', '{"text": "x"}']],
  },
  'several calls of Llama': {
    dialects: ['llamaJson'],
    answer:
      '{"name": "ping", "parameters": {}}; {"type": "function", "name": "f", "parameters": {"count": 1}}',
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'an object of Llama that names no tool': {
    dialects: ['llamaJson'],
    answer: '{"name": "Bob", "parameters": {"age": 3}}\nis Bob',
    content: '{"name": "Bob", "parameters": {"age": 3}}\nis Bob',
    calls: [],
  },
  'an object of Llama behind prose': {
    dialects: ['llamaJson'],
    answer: 'So: {"name": "f", "parameters": {}}',
    content: 'So: {"name": "f", "parameters": {}}',
    calls: [],
  },
  'several calls of Llama behind one marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}}; {"name": "f", "parameters": {"count": 1}}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'text behind a call of Llama that has its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}} and text`,
    content: 'and text',
    calls: [['ping', '{}']],
  },
  'the first call of Llama alone behind its marker, where several are not wanted': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}}; {"name": "f", "parameters": {}}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'the name of a call of Llama that is required and that a limit cut': {
    dialects: ['llamaJson'],
    answer: '{"name": "f',
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'nested arguments of Llama, of other scripts': {
    dialects: ['llamaJson'],
    answer: '{"name": "f", "parameters": {"place": {"x": 1, "a": [{"b": "}; {"}]}, "text": "東京 👩‍🚀"}}',
    calls: [['f', '{"place": {"x": 1, "a": [{"b": "}; {"}]}, "text": "東京 👩‍🚀"}']],
  },
  'calls of Llama on lines': {
    dialects: ['llamaJson'],
    answer: '{"name": "ping", "parameters": {}}\n{"name": "f", "parameters": {"count": 1}}\n',
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'arguments of Llama before the name': {
    dialects: ['llamaJson'],
    answer: '{"parameters": {"count": 1}, "name": "f"}',
    calls: [['f', '{"count": 1}']],
  },
  'a call of Llama without arguments': {
    dialects: ['llamaJson'],
    answer: '{"name": "ping"}',
    calls: [['ping', '{}']],
  },
  'a call of Llama that the model left open': {
    dialects: ['llamaJson'],
    answer: '{"name": "f", "parameters": {"text": "x',
    calls: [['f', '{"text": "x']],
  },
  'a call of Llama that a limit cut': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "f", "parameters": {"text": "x`,
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'what is no JSON behind arguments of Llama': {
    dialects: ['llamaJson'],
    answer: '{"name": "f", "parameters": {"count": 1}, oops}',
    content: 'oops}',
    calls: [['f', '{"count": 1}']],
  },
  'an answer of Llama in JSON': {
    dialects: ['llamaJson'],
    answer: '{"city": "Bern", "days": [{"name": "f", "parameters": {}}]}',
    content: '{"city": "Bern", "days": [{"name": "f", "parameters": {}}]}',
    calls: [],
  },
  'a call of Llama behind an object that is none': {
    dialects: ['llamaJson'],
    answer: '{"name": "Bob"}; {"name": "ping", "parameters": {}}',
    content: '{"name": "Bob"}; {"name": "ping", "parameters": {}}',
    calls: [],
  },
  'a marker of Llama that is spelled in prose': {
    dialects: ['llamaJson'],
    answer: 'Write <|python_tag|>{"name": "ping", "parameters": {}} to call.',
    content: 'Write <|python_tag|>{"name": "ping", "parameters": {}} to call.',
    calls: [],
  },
  'code of Llama behind its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}print({"a": 1})`,
    content: 'print({"a": 1})',
    calls: [],
  },
  'a begin marker of Llama in a text of the arguments': {
    dialects: ['llamaJson'],
    answer: `{"name": "f", "parameters": {"text": "a ${begin} c"}}`,
    calls: [['f', '{"text": "a <|python_tag|> c"}']],
  },
};
