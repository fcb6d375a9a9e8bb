// Calls with arguments of any kind, written as the chat templates write them: what a reader must give back.

import { randomNumbers } from '../../../checkpoint/src/formats/gguf.fixture.js';
import type { CallFormName } from './call-forms.js';
import { begin, end } from './tool-reader.fixture.js';

/** Below its argument, from 0. */
export type Random = (below: number) => number;

/** The same numbers for the same seed. */
export function randomFrom(seed: number): Random {
  const next = randomNumbers(seed);
  return (below) => next() % below;
}

export const pick = <T>(random: Random, from: readonly T[]): T => {
  const item = from[random(from.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
};

const letters = [
  'a',
  ' ',
  '\n',
  '"',
  '\\',
  '{',
  '}',
  '<',
  '/',
  'é',
  '好',
  '\u{1f600}',
  '\u2028',
  '\u0007',
  '</',
  ': ',
];

/** Markers as texts quote them. */
export const quotedBegins = [`a${begin}b`, `"${begin}"`];
export const quotedMarkers = [`a${begin}b`, `a${end}b`, `${begin}a${end}`, `"${end}"`, `\n${end}.\n`];

const randomText = (random: Random, others: readonly string[]): string =>
  Array.from({ length: random(8) }, () => pick(random, [...letters, ...others])).join('');

export interface WrittenCall {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Of the tools of the fixture.
 * @param others what texts may have beside letters
 */
export function randomCall(random: Random, others: readonly string[] = []): WrittenCall {
  if (random(4) === 0) return { name: 'ping', values: {} };
  const values: Record<string, unknown> = {};
  if (random(2) === 0) values['text'] = randomText(random, others);
  if (random(2) === 0) values['count'] = random(100) - 50;
  if (random(2) === 0) values['ratio'] = random(1000) / 8;
  if (random(2) === 0) values['flag'] = random(2) === 0;
  if (random(2) === 0) values['list'] = Array.from({ length: random(3) }, () => random(9));
  if (random(2) === 0)
    values['place'] = { x: random(9), [randomText(random, others)]: { deep: [randomText(random, others)] } };
  return { name: 'f', values };
}

const objectOf = ({ name, values }: WrittenCall, key: 'arguments' | 'parameters'): string =>
  JSON.stringify({ name, [key]: values });

const textsOf = (values: WrittenCall['values']): (readonly [string, string])[] =>
  Object.entries(values).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);

function inXml({ name, values }: WrittenCall): string {
  const parameters = textsOf(values).map(([key, text]) => `<parameter=${key}>\n${text}\n</parameter>\n`);
  return `${begin}\n<function=${name}>\n${parameters.join('')}</function>\n${end}`;
}

function inGlm({ name, values }: WrittenCall): string {
  const parameters = textsOf(values).map(
    ([key, text]) => `<arg_key>${key}</arg_key>\n<arg_value>${text}</arg_value>\n`,
  );
  return `${begin}${name}\n${parameters.join('')}${end}`;
}

const asList = (calls: readonly WrittenCall[]): string =>
  `[${calls.map((call) => objectOf(call, 'arguments')).join(', ')}]`;

const inList = (calls: readonly WrittenCall[]): string => begin + asList(calls);

const inFence = ({ name, values }: WrittenCall): string =>
  `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${JSON.stringify(values)}\n\`\`\`<｜tool▁call▁end｜>`;

function inInvoke({ name, values }: WrittenCall): string {
  const parameters = textsOf(values).map(([key, text]) => `<parameter name="${key}">${text}</parameter>\n`);
  return `<invoke name="${name}">\n${parameters.join('')}</invoke>\n`;
}

const inBareMarkers = ({ name, values }: WrittenCall): string =>
  `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${JSON.stringify(values)}<｜tool▁call▁end｜>`;

/** @param quote around texts */
function inPairs(value: unknown, quote: string): string {
  if (typeof value === 'string') return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((each) => inPairs(each, quote)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${nameIn(key, quote)}:${inPairs(each, quote)}`);
  return `{${pairs.join(',')}}`;
}

/** Templates write names bare, whatever they have; random ones need marks around them. */
const nameIn = (key: string, quote: string): string => (/^\w+$/.test(key) ? key : quote + key + quote);

const inGemma =
  (quote: string) =>
  (calls: readonly WrittenCall[]): string =>
    calls.map(({ name, values }) => `${begin}call:${name}${inPairs(values, quote)}${end}`).join('');

/** An answer that is these calls. */
export const writers: Readonly<Record<CallFormName, (calls: readonly WrittenCall[]) => string>> = {
  qwenJson: (calls) => calls.map((call) => `${begin}\n${objectOf(call, 'arguments')}\n${end}`).join('\n'),
  qwenXml: (calls) => calls.map(inXml).join('\n'),
  glmXml: (calls) => calls.map(inGlm).join('\n'),
  miniMaxXml: (calls) => `${begin}\n${calls.map(inInvoke).join('')}${end}`,
  seedXml: (calls) => calls.map(inXml).join('\n'),
  llamaJson: (calls) => calls.map((call) => objectOf(call, 'parameters')).join('; '),
  mistralNamed: (calls) =>
    calls.map(({ name, values }) => `${begin}${name}[ARGS]${JSON.stringify(values)}`).join(''),
  mistralJson: inList,
  deepSeek: (calls) => `${begin}${calls.map(inFence).join('\n')}${end}`,
  deepSeekBare: (calls) => begin + calls.map(inBareMarkers).join('') + end,
  miniMaxJson: (calls) =>
    `${begin}\n${calls.map((call) => `${objectOf(call, 'arguments')}\n`).join('')}${end}`,
  functionary: (calls) =>
    calls.map(({ name, values }) => `${begin}${name}>${JSON.stringify(values)}${end}`).join(''),
  nemotronJson: (calls) => inList(calls) + end,
  aprielJson: (calls) => inList(calls) + end,
  xlamJson: asList,
  gemma: inGemma('<|"|>'),
  functionGemma: inGemma('<escape>'),
};
