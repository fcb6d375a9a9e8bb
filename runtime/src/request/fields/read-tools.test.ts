import { expect, test } from '@jest/globals';
import { schemaOfArguments } from './read-tools.js';

const text = { type: 'string', pattern: 'a\\n"' };
const patternsIn = (value: unknown): unknown[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
        name === 'pattern' ? [each] : patternsIn(each),
      );

test.each<[style: 'json' | 'qwen_xml', properties: object, quoted: boolean]>([
  ['json', { input: text }, true],
  ['qwen_xml', { input: text }, false],
  ['qwen_xml', { input: text, other: { type: 'string' } }, false],
  // Within an array texts stand in quotes.
  ['qwen_xml', { inputs: { type: 'array', items: text } }, true],
])('patterns of arguments in %s of %j are of texts as they stand there', (style, properties, quoted) => {
  const parameters = { type: 'object', properties, required: [], additionalProperties: false };
  const [pattern] = patternsIn(schemaOfArguments({ name: 'a', parameters, strict: true }, style));
  expect(pattern).toBe(quoted ? '^([a]\\\\[n]\\\\[\\u{22}])$' : '^([a][\\u{a}][\\u{22}])$');
});
