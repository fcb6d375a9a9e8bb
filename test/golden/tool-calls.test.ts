// Calls of tools as public chat templates write them: each is read back as it was given, however the answer comes.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import {
  begin,
  dialects,
  end,
  readPieces,
  type DialectName,
} from '../../runtime/src/tools/tool-reader.fixture.js';

interface Answer {
  readonly template: string;
  readonly form: DialectName;
  readonly case: string;
  readonly calls: readonly (readonly [name: string, values: unknown])[];
  readonly answer: string;
}

const { answers } = JSON.parse(readFileSync(new URL('tool-calls.json', import.meta.url), 'utf8')) as {
  readonly answers: readonly Answer[];
};

/** Markers as tokens, but those that texts spell. */
function asTokens(form: DialectName, answer: string): string {
  const { begin: first, end: last } = dialects[form];
  const tokens = answer.replaceAll(first.text, begin);
  return spelled(form, last === null ? tokens : tokens.replaceAll(last.text, end));
}

function spelled(form: DialectName, text: string): string {
  const { begin: first, end: last } = dialects[form];
  return text.replaceAll('@BEGIN@', first.text).replaceAll('@END@', last?.text ?? '');
}

function read(form: DialectName, ...pieces: readonly string[]): unknown {
  const { content, calls } = readPieces(form, pieces);
  return { content, calls: calls.map((call) => [call.name, JSON.parse(call.arguments) as unknown]) };
}

test.each(answers.map((each) => [each.template, each.case, each] as const))(
  '%s: %s',
  (_template, _case, { form, calls, answer }) => {
    const expected = { content: '', calls: JSON.parse(spelled(form, JSON.stringify(calls))) as unknown };
    const characters = Array.from(asTokens(form, answer));
    expect(read(form, characters.join(''))).toEqual(expected);
    expect(read(form, ...characters)).toEqual(expected);
    const splits = characters.map((_each, i) =>
      JSON.stringify(read(form, characters.slice(0, i).join(''), characters.slice(i).join(''))),
    );
    expect(new Set(splits).size).toBe(1);
  },
);
