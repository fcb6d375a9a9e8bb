// Whatever an answer in channels says, in whatever steps it comes: the stream reports what the whole answer reports, and no
// word behind the header of a message is lost. FUZZ_CASES: how many random answers, else a few that are always the same.

import { expect, test } from '@jest/globals';
import { harmonyTexts, type HarmonyTokens } from '../../harmony/harmony-tokens.js';
import { Detokenizer } from '../../tokens/detokenizer.js';
import { randomFrom } from '../../tools/answer-writer.fixture.js';
import { joinDeltas } from './join-deltas.js';
import { step, stream } from './text-stream.fixture.js';

const cases = Number(process.env['FUZZ_CASES'] ?? 3000);

const marks = Object.keys(harmonyTexts);
const tokens = Object.fromEntries(marks.map((mark, i) => [mark, i])) as unknown as HarmonyTokens;
/** Behind the markers, tokens of more than a byte: what headers are made of, and a character in two parts. */
const words = [
  'assistant', 'user', 'analysis', 'final', 'commentary', ' to=', 'to', 'functions.', 'f', 'f json', ' json', 'json', ' ', '\n',
  '{"text": "', '"}', '{}', '\\', '<|end|>', 'browser.search', ' code', '.', 't', ' t', 'o=', 'a b c',
].map((word) => Buffer.from(word)); // prettier-ignore
const spelled = [
  ...words,
  Buffer.from([0xc3]),
  Buffer.from([0xa9]),
  Buffer.from([0x20, 0xe6]),
  Buffer.from([0x9d, 0xb1]),
];
/** Unlike each other, and any of the words: what must not be lost. */
const uniqueFrom = marks.length + spelled.length;
const bytesOf = (id: number): Uint8Array => {
  if (id >= uniqueFrom) return Buffer.from(`<${String(id)}>`);
  return spelled[id - marks.length] ?? new Uint8Array();
};

interface Read {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: string;
  readonly finish: unknown;
}

function read(steps: readonly (readonly number[])[], finish: 'stop' | 'length', parallel: boolean): Read {
  let count = 0;
  const use = { tools: [{ name: 'f', parameters: null, strict: false }], choice: 'auto', parallel } as const;
  const place = { at: 'header', hasRole: true } as const;
  const text = stream({
    think: null,
    newDetokenizer: () => new Detokenizer(bytesOf),
    channels: { tokens, place, use, newCallId: () => String(count++) },
  });
  const deltas = [];
  for (const each of steps) {
    deltas.push(text.push(step(each)));
    if (deltas.at(-1)?.finish !== null) break;
  }
  if (deltas.at(-1)?.finish == null) deltas.push(text.push(step([], { finish })));
  const { content, reasoning, toolCalls, finish: ended } = joinDeltas(deltas);
  const calls = toolCalls.map(
    ({ start, arguments: given }) => `${start === null ? '' : `|${start.name}|`}${given}`,
  );
  return { content, reasoning, calls: calls.join(''), finish: ended };
}

test(
  'answers are read alike in any steps, and keep their words',
  () => {
    const upTo = randomFrom(7);
    for (let n = 0; n < cases; n++) {
      const all = Array.from({ length: 1 + upTo(40) }, (_, i) => {
        const kind = upTo(10);
        if (kind < 4) return upTo(marks.length);
        return kind < 8 ? marks.length + upTo(spelled.length) : uniqueFrom + i;
      });
      const finish = upTo(2) === 0 ? 'stop' : 'length';
      const parallel = upTo(4) > 0;
      const whole = read([all], finish, parallel);
      expect(read(all.map((id) => [id]), finish, parallel)).toEqual(whole);
      const at = upTo(all.length);
      expect(read([all.slice(0, at), all.slice(at)], finish, parallel)).toEqual(whole);
      if (!parallel) continue;
      let isText = false;
      const said = whole.content + whole.reasoning + whole.calls;
      for (const id of all) {
        if (id < marks.length) isText = id === tokens.message || (isText && id === tokens.constrain);
        else if (isText && id >= uniqueFrom) expect(said).toContain(`<${String(id)}>`);
      }
    }
  },
  60_000 + cases * 20,
); // prettier-ignore
