// What a call in XML, whose parameters are bare texts, becomes by the tool's schema: the same in every protocol, streamed or
// not, in one step and byte by byte.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { scriptOf } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { protocols, type Said } from './whole-answer.fixture.js';

let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start({ tools: 'qwenXml' });
});
afterAll(() => server.stop());

const { begin, end } = ScriptedServer.markers;
const $defs = {
  Any: {},
  Count: { type: 'integer' },
  Unit: { type: 'string', enum: ['celsius', 'kelvin'] },
  Point: { type: 'object', properties: { x: { type: 'number' } } },
};
const nothing = { type: 'null' };

interface Case {
  /** Undefined: the tool has no such parameter. */
  readonly schema: object | true | undefined;
  readonly text: string;
  readonly value: unknown;
}

const cases: Readonly<Record<string, Case>> = {
  'a list, where nothing is said of the type': { schema: {}, text: '[1]', value: [1] },
  'an object, where there is a description alone': {
    schema: { description: 'whatever' },
    text: '{"a": [1, null]}',
    value: { a: [1, null] },
  },
  'a number, where anything may be': { schema: true, text: ' 5 ', value: 5 },
  'words, where nothing is said of the type': { schema: {}, text: 'a b', value: 'a b' },
  'digits that are no number, where nothing is said of the type': { schema: {}, text: '0012', value: '0012' },
  'a list that is cut, where nothing is said of the type': { schema: {}, text: '[1', value: '[1' },
  'null, by a reference to a schema that says nothing': {
    schema: { $ref: '#/$defs/Any' },
    text: 'null',
    value: null,
  },
  'a list, where the tool has no such parameter': { schema: undefined, text: '[1]', value: '[1]' },
  'a list, where a string is to be': { schema: { type: 'string' }, text: '[1]', value: '[1]' },
  'null, where a string is to be': { schema: { type: 'string' }, text: 'null', value: 'null' },
  'null, where a string or nothing is to be': {
    schema: { type: ['string', 'null'] },
    text: 'null',
    value: null,
  },
  'null, where one of two schemas is nothing': {
    schema: { anyOf: [{ type: 'string' }, nothing] },
    text: 'null',
    value: null,
  },
  'a number, where a list of types has one': { schema: { type: ['integer', 'string'] }, text: '5', value: 5 },
  'words, where a list of types has a string': {
    schema: { type: ['integer', 'string'] },
    text: 'five',
    value: 'five',
  },
  'a number, by a reference': { schema: { $ref: '#/$defs/Count' }, text: ' 1 ', value: 1 },
  'an object, by a reference within anyOf': {
    schema: { anyOf: [{ $ref: '#/$defs/Point' }, nothing] },
    text: '{"x": 1.5}',
    value: { x: 1.5 },
  },
  'a choice, by a reference within anyOf': {
    schema: { anyOf: [{ $ref: '#/$defs/Unit' }, nothing] },
    text: ' celsius ',
    value: 'celsius',
  },
  'a list as Python writes it': { schema: { type: 'array' }, text: "['a', True]", value: ['a', true] },
  'words, where a number is to be': { schema: { type: 'number' }, text: 'many', value: 'many' },
};

const all = Object.keys(protocols) as (keyof typeof protocols)[];
const ended = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' } as const;

describe.each(all)('in %s', (protocol) => {
  test.each(Object.entries(cases))('%s', async (_name, { schema, text, value }) => {
    const properties = schema === undefined ? {} : { x: schema };
    const body = `\n<function=time>\n<parameter=x>\n${text}\n</parameter>\n</function>\n`;
    const said: Said = {
      text: '',
      calls: [`time ${JSON.stringify({ x: value })}`],
      ended: ended[protocol],
    };
    for (const steps of [[body], Array.from(body)])
      for (const stream of [true, false]) {
        server.script = scriptOf(begin, ...steps, end);
        const answer = await protocols[protocol](server, stream, 'auto', {
          type: 'object',
          properties,
          $defs,
        });
        expect({ steps: steps.length, stream, answer }).toEqual({
          steps: steps.length,
          stream,
          answer: said,
        });
      }
  });
});
