// Answers with calls as MiniMax writes them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** The dialects that write so, of vocabularies with the markers and without. */
const miniMax = ['miniMaxXml', 'spelledMiniMax'] as const;

const invoke = (name: string, parameters: Readonly<Record<string, string>>): string => {
  const all = Object.entries(parameters).map(
    ([key, value]) => `<parameter name="${key}">${value}</parameter>\n`,
  );
  return `<invoke name="${name}">\n${all.join('')}</invoke>\n`;
};

export const miniMaxAnswers: Readonly<Record<string, AnswerCase>> = {
  'calls of MiniMax in one block, behind text': {
    dialects: miniMax,
    answer: `I look.\n${begin}\n${invoke('ping', {})}${invoke('f', { text: 'x', count: '1' })}${end}\nSo.`,
    content: 'I look.\n\nSo.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text":"x","count":1}'],
    ],
  },
  'fifty calls of MiniMax': {
    dialects: miniMax,
    answer: `${begin}\n${fifty.map((i) => invoke('f', { count: String(i) })).join('')}${end}`,
    calls: fifty.map((i) => ['f', `{"count":${String(i)}}`]),
  },
  'the first call of MiniMax alone, where several are not wanted': {
    dialects: miniMax,
    answer: `${begin}\n${invoke('ping', {})}${invoke('f', { text: 'x' })}${end}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'texts of MiniMax with the space around them': {
    dialects: miniMax,
    answer: `${begin}\n${invoke('f', { text: '\n<b a="1">\n</parameter \n' })}${end}`,
    calls: [['f', JSON.stringify({ text: '\n<b a="1">\n</parameter \n' })]],
  },
  'types of MiniMax by the schema': {
    dialects: miniMax,
    answer: `${begin}${invoke('f', { ratio: '1', flag: 'true', list: '[1, 2]', maybe: 'null', unknown: '7' })}${end}`,
    calls: [['f', '{"ratio":1,"flag":true,"list":[1, 2],"maybe":null,"unknown":"7"}']],
  },
  'markers in a text of MiniMax': {
    dialects: ['miniMaxXml'],
    answer: `${begin}\n${invoke('f', { text: `a ${end} b ${begin} c` })}${end}`,
    calls: [['f', '{"text":"a </minimax:tool_call> b <minimax:tool_call> c"}']],
  },
  'an end marker in a text of MiniMax whose markers are spelled': {
    dialects: ['spelledMiniMax'],
    answer: `${begin}\n${invoke('f', { text: `a ${end} b` })}${end}`,
    calls: [['f', '{"text":"a </minimax:tool_call> b"}']],
  },
  'a text of MiniMax that ends with its call': {
    dialects: miniMax,
    answer: `${begin}\n<invoke name="f">\n<parameter name="text">x\n</invoke>\n${end}\n${begin}\n${invoke('ping', {})}${end}`,
    calls: [
      ['f', '{"text":"x"}'],
      ['ping', '{}'],
    ],
  },
  'a text of MiniMax that ends where another parameter begins': {
    dialects: miniMax,
    answer: `${begin}\n<invoke name="f">\n<parameter name="text">x\n<parameter name="count">5</parameter>\n</invoke>\n${end}`,
    calls: [['f', '{"text":"x","count":5}']],
  },
  'a text of MiniMax that a limit cut': {
    dialects: miniMax,
    answer: `${begin}\n<invoke name="f">\n<parameter name="text">x</para`,
    calls: [['f', '{"text":"x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'the name of a call of MiniMax that is required and that a limit cut': {
    dialects: miniMax,
    answer: `${begin}\n<invoke name="f`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'what is no call of MiniMax': {
    dialects: miniMax,
    answer: `${begin}\n<invoke>f</invoke>\n${end}`,
    content: '<minimax:tool_call>\n<invoke>f</invoke>\n</minimax:tool_call>',
    calls: [],
  },
  'a call of Seed': {
    dialects: ['spelledSeed'],
    answer: `I look.\n${begin}\n<function=f>\n<parameter=text>x</parameter>\n<parameter=flag>True</parameter>\n</function>\n${end}`,
    content: 'I look.',
    calls: [['f', '{"text":"x","flag":true}']],
  },
};
