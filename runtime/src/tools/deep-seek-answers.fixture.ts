// Answers with calls as DeepSeek's models write them, that are easily misread: a name, then arguments in a fence.

import { begin, end, type AnswerCase } from './tool-reader.fixture.js';

/** Of vocabularies with the markers and without. */
const deepSeek = ['deepSeek', 'spelledDeepSeek'] as const;

const call = (name: string, text: string): string =>
  `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${text}\n\`\`\`<｜tool▁call▁end｜>`;

const bare = (name: string, given: string): string =>
  `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${given}<｜tool▁call▁end｜>`;

export const deepSeekAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call of DeepSeek': {
    dialects: deepSeek,
    answer: `${begin}${call('f', '{"text": "x"}')}${end}`,
    calls: [['f', '{"text": "x"}']],
  },
  'calls of DeepSeek in one block, among text': {
    dialects: deepSeek,
    answer: `Let me see.\n${begin}${call('ping', '{}')}\n${call('f', '{\n  "text": "```"\n}')}${end}\nSo.`,
    content: 'Let me see.\n\nSo.',
    calls: [
      ['ping', '{}'],
      ['f', '{\n  "text": "```"\n}'],
    ],
  },
  'markers of DeepSeek in a text of the arguments': {
    dialects: deepSeek,
    answer: `${begin}${call('f', `{"text": "a ${end} <｜tool▁call▁end｜> b"}`)}${end}`,
    calls: [['f', '{"text": "a <｜tool▁calls▁end｜> <｜tool▁call▁end｜> b"}']],
  },
  'the first call of DeepSeek alone, where several are not wanted': {
    dialects: deepSeek,
    answer: `${begin}${call('ping', '{}')}\n${call('f', '{}')}${end} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a block of DeepSeek that the model left open': {
    dialects: deepSeek,
    answer: `${begin}<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"count": 1}`,
    calls: [['f', '{"count": 1}']],
  },
  'a text of DeepSeek that was left open, and prose behind its call': {
    dialects: deepSeek,
    answer: `${begin}<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"text": "x${end}\nand prose`,
    content: 'and prose',
    calls: [['f', '{"text": "x']],
  },
  'a text of DeepSeek that was left open, and another call': {
    dialects: deepSeek,
    answer: `${begin}<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"text": "x${end}\n${begin}${call('ping', '{}')}${end}`,
    calls: [
      ['f', '{"text": "x'],
      ['ping', '{}'],
    ],
  },
  'arguments of DeepSeek that a limit cut': {
    dialects: deepSeek,
    answer: `${begin}${call('ping', '{}')}\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"text": "x`,
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "x'],
    ],
    options: { cut: true },
    asksForCalls: false,
  },
  'another call of DeepSeek that has no name': {
    dialects: deepSeek,
    answer: `${begin}${call('ping', '{}')}\n{"a": 1}${end} So.`,
    content: 'So.',
    calls: [['ping', '{}']],
  },
  'a block of DeepSeek that is no call': {
    dialects: deepSeek,
    answer: `${begin}f({"a": 1})${end} So.`,
    content: '<｜tool▁calls▁begin｜>f({"a": 1})<｜tool▁calls▁end｜> So.',
    calls: [],
  },
  'the name of a call of DeepSeek that is required and that a limit cut': {
    dialects: deepSeek,
    answer: `${begin}<｜tool▁call▁begin｜>func`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'calls of DeepSeek without fences, behind text': {
    dialects: ['deepSeekBare'],
    answer: `I look.${begin}${bare('ping', '{}')}${bare('f', `{"text": "a ${end} b"}`)}${end}`,
    content: 'I look.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text": "a <｜tool▁calls▁end｜> b"}'],
    ],
  },
  'the first call of DeepSeek without fences alone, where several are not wanted': {
    dialects: ['deepSeekBare'],
    answer: `${begin}${bare('ping', '{}')}${bare('ping', '{}')}${end}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'arguments of DeepSeek without fences that a limit cut': {
    dialects: ['deepSeekBare'],
    answer: `${begin}<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"text": "x`,
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
};
