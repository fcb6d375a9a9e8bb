// Answers with calls as Functionary writes them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

const functionary = ['spelledFunctionary'] as const;

export const functionaryAnswers: Readonly<Record<string, AnswerCase>> = {
  'calls of Functionary behind text': {
    dialects: functionary,
    answer: `I look.\n${begin}ping>{}${end}${begin}f>{"text": "x", "list": [1]}${end}`,
    content: 'I look.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x", "list": [1]}'],
    ],
  },
  'fifty calls of Functionary': {
    dialects: functionary,
    answer: fifty.map((i) => `${begin}f>{"count": ${String(i)}}${end}`).join('\n'),
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'the first call of Functionary alone, where several are not wanted': {
    dialects: functionary,
    answer: `${begin}ping>{}${end}${begin}ping>{}${end}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'markers in a text of Functionary': {
    dialects: functionary,
    answer: `${begin}f>{"text": "a ${end} b ${begin}c> d"}${end}\nSo.`,
    content: 'So.',
    calls: [['f', '{"text": "a </function> b <function=c> d"}']],
  },
  'a text of Functionary that the model left open, before another call': {
    dialects: functionary,
    answer: `${begin}f>{"text": "x${end}\n${begin}ping>{}${end}`,
    calls: [
      ['f', '{"text": "x'],
      ['ping', '{}'],
    ],
  },
  'a call of Functionary that the model left open': {
    dialects: functionary,
    answer: `${begin}f>{"count": 1}`,
    calls: [['f', '{"count": 1}']],
  },
  'arguments of Functionary that a limit cut': {
    dialects: functionary,
    answer: `${begin}f>{"text": "x</func`,
    calls: [['f', '{"text": "x</func']],
    options: { cut: true },
    asksForCalls: false,
  },
  'the name of a call of Functionary that is required and that a limit cut': {
    dialects: functionary,
    answer: `${begin}f`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'what is no call of Functionary': {
    dialects: functionary,
    answer: `Write ${begin}a b>{}${end}, ${begin}f>text${end} or ${begin}.`,
    content: 'Write <function=a b>{}</function>, <function=f>text</function> or <function=.',
    calls: [],
  },
};
