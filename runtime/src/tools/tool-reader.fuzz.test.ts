// Whatever tokens a model says, in whatever steps they come: the stream reports what the whole answer reports; and calls
// that are written as they should be are read back. FUZZ_CASES: how many random answers, else a few that are always the
// same.

import { describe, expect, test } from '@jest/globals';
import { emptyOutput } from '../engine/output-queue.js';
import type { EngineOutput } from '../engine/protocol.js';
import { TextStream, type TextDelta } from '../request/text/text-stream.js';
import { Detokenizer } from '../tokens/detokenizer.js';
import {
  pick,
  quotedBegins,
  quotedMarkers,
  randomCall,
  randomFrom,
  writers,
  type Random,
  type WrittenCall,
} from './answer-writer.fixture.js';
import {
  argsId,
  begin,
  beginId,
  dialects,
  end,
  endId,
  quoteId,
  readPieces,
  spelled,
  use,
  type DialectName,
} from './tool-reader.fixture.js';
import { ToolReader } from './tool-reader.js';
import { wholeCalls } from './whole-calls.js';

const cases = Number(process.env['FUZZ_CASES'] ?? 2000);
/** A case takes a few of them. */
const limitMs = 60_000 + cases * 20;
const think = { begin: 1000, end: 1001, label: '' };

/** Tokens of more than a byte, from 300: what calls are made of, whole and in parts. */
const words = [
  '{"name": "', '{"name":"f","arguments":', '{"name": "f", "parameters": {', '"arguments": ', 'f', 'ping', '"', '{', '}', '[', ']',
  ',', ':', '\\', '\n', ' ', ';', 'null', '12', 'END', 'EN', '<tool_call>', '<tool', '_call>', '</tool_call>', '</', '<function=',
  'f>', '<function=ping>', '</function>', '<parameter=', 'text>', 'count>', '<parameter=text>\n', '\n</parameter>', '</param',
  '\n<parameter=', '\n<parameter=count>', '\n</function>', '"}}', '{"name":"ping"}', '[{"name": "', 'f[ARGS]{', '[CALL_ID]',
  '<｜tool▁call▁begin｜>function', '<｜tool▁call▁begin｜>f', '<｜tool▁sep｜>{','<｜tool▁sep｜>ping\n```json\n{', '}\n```<｜tool▁call▁end｜>',
  '<arg_key>', 'text</arg_key>', '<arg_value>', '</arg_value>', 'f\n<arg_key>count</arg_key>\n<arg_value>1',
  'call:f{', 'text:<|"|>', '<|"|>', 'count:1', 'call:', '<|"', '<escape>', 'list:[1,',
  'f>{', '<invoke name="', 'f">', '<invoke name="ping">', '</invoke>', '<parameter name="', 'text">', '<parameter name="count">',
]; // prettier-ignore
const spelling = new Map<number, Uint8Array>([
  [think.begin, Buffer.from('<think>')],
  [think.end, Buffer.from('</think>')],
  [beginId, Buffer.from('<tool_call>')],
  [endId, Buffer.from('</tool_call>')],
  [argsId, Buffer.from('[ARGS]')],
  [quoteId, Buffer.from('<|"|>')],
  ...words.map((word, i) => [300 + i, Buffer.from(word)] as const),
]);

function randomToken(random: Random): number {
  switch (random(8)) {
    case 0:
      return pick(random, [...Buffer.from('aé好')]);
    case 1:
      return pick(random, [beginId, endId, beginId, argsId, quoteId, think.begin, think.end]);
    default:
      return 300 + random(words.length);
  }
}

function answerOf(dialect: DialectName, calls: readonly WrittenCall[]): string {
  const answer = writers[dialects[dialect].kind](calls);
  return dialect.startsWith('spelled') ? spelled(dialect, answer) : answer;
}

/** Half of them are calls, with a few tokens changed. */
function randomTokens(random: Random, dialect: DialectName): number[] {
  const tokens = Array.from({ length: random(40) }, () => randomToken(random));
  if (random(2) === 0) return tokens;
  const calls = Array.from({ length: 1 + random(2) }, () => randomCall(random));
  const written = Array.from(answerOf(dialect, calls)).flatMap((char) =>
    char === begin ? [beginId] : char === end ? [endId] : [...Buffer.from(char)],
  );
  for (const token of tokens.slice(0, random(4))) written.splice(random(written.length), random(2), token);
  return written;
}

function newStream(
  dialect: DialectName,
  parallel: boolean,
  stops: readonly string[],
  inReasoning: boolean,
): TextStream {
  let ids = 0;
  const options = { dialect: dialects[dialect], use: { ...use, parallel }, skipSpecialTokens: true };
  return new TextStream({
    newDetokenizer: () => new Detokenizer((id) => spelling.get(id) ?? Uint8Array.of(id)),
    textOf: (id) => Buffer.from(spelling.get(id) ?? []).toString(),
    stopStrings: stops,
    stopPatterns: [],
    includeStopString: false,
    stopTokenIds: [],
    eosIds: [],
    minTokens: 0,
    repetition: null,
    logprobs: null,
    reportsIds: false,
    think,
    inReasoning,
    callsInReasoning: true,
    channels: null,
    tools: new ToolReader({ ...options, newCallId: () => `call_${String(ids++)}` }),
  });
}

/** @param steps tokens of each */
function read(stream: TextStream, steps: readonly (readonly number[])[], finish: 'stop' | 'length'): object {
  const deltas: TextDelta[] = [];
  for (const [i, tokens] of steps.entries()) {
    const isLast = i === steps.length - 1;
    const output: EngineOutput = { ...emptyOutput, tokens, finish: isLast ? finish : null };
    deltas.push(stream.push(output));
    if (deltas.at(-1)?.finish !== null) break;
  }
  return {
    content: deltas.map(({ content }) => content).join(''),
    reasoning: deltas.map(({ reasoning }) => reasoning).join(''),
    calls: wholeCalls(deltas.flatMap(({ toolCalls }) => toolCalls)),
    finish: deltas.at(-1)?.finish,
    stopReason: deltas.at(-1)?.stopReason,
    tokens: stream.completionTokens,
  };
}

function randomSteps(random: Random, tokens: readonly number[]): number[][] {
  const steps: number[][] = [[]];
  for (const token of tokens) {
    if (random(3) === 0) steps.push([]);
    steps.at(-1)?.push(token);
  }
  return steps;
}

describe('an answer of random tokens', () => {
  test.each(Object.keys(dialects) as DialectName[])(
    'is reported alike in any steps (%s)',
    (dialect) => {
      const random = randomFrom(20260103);
      const share = Math.ceil(cases / Object.keys(dialects).length);
      let withCalls = 0;
      for (let i = 0; i < share; i++) {
        const tokens = randomTokens(random, dialect);
        const parallel = random(4) > 0;
        const stops = random(4) === 0 ? ['END', ', "'] : [];
        const inReasoning = random(8) === 0;
        const finish = random(3) === 0 ? 'length' : 'stop';
        const stream = (): TextStream => newStream(dialect, parallel, stops, inReasoning);
        const whole = read(stream(), [tokens], finish);
        const steps = randomSteps(random, tokens);
        for (const pieces of [steps, tokens.map((token) => [token])]) {
          // Without tokens there is one step, which is the whole.
          const streamed = read(stream(), pieces.length === 0 ? [[]] : pieces, finish);
          if (JSON.stringify(streamed) !== JSON.stringify(whole))
            expect({ tokens, pieces, streamed }).toEqual({ tokens, pieces, streamed: whole });
        }
        if (JSON.stringify(whole).includes('call_0')) withCalls++;
      }
      expect(withCalls).toBeGreaterThan(share / 5);
    },
    limitMs,
  );
});

describe('calls that are written as the templates write them', () => {
  test.each([
    ['qwenJson', []],
    ['qwenXml', []],
    ['glmXml', []],
    ['spelledGlm', []],
    ['miniMaxXml', []],
    ['spelledMiniMax', []],
    ['spelledSeed', []],
    ['llamaJson', []],
    ['mistralNamed', []],
    ['mistralJson', []],
    ['deepSeek', []],
    ['spelledFunctionary', []],
    ['deepSeekBare', []],
    ['miniMaxJson', []],
    ['aprielJson', []],
    ['spelledNemotron', []],
    ['spelledXlam', []],
    ['gemma', []],
    ['spelledGemma', []],
    ['spelledFunctionGemma', []],
    ['qwenJson', quotedMarkers],
    ['qwenXml', quotedMarkers],
    ['glmXml', quotedMarkers],
    ['miniMaxXml', quotedMarkers],
    ['mistralNamed', quotedBegins],
    ['mistralJson', quotedBegins],
    ['deepSeek', quotedMarkers],
    ['deepSeekBare', quotedMarkers],
    ['miniMaxJson', quotedMarkers],
    ['aprielJson', quotedMarkers],
    ['xlamJson', quotedMarkers],
    ['gemma', quotedMarkers],
  ] as const)(
    'are read back from any pieces (%s, with %j in texts)',
    (dialect, markers) => {
      const random = randomFrom(20260104);
      let read = 0;
      for (let i = 0; i < Math.ceil(cases / 3); i++) {
        const calls = Array.from({ length: 1 + random(3) }, () => randomCall(random, markers));
        const answer = answerOf(dialect, calls);
        const pieces: string[] = [''];
        for (const character of answer) {
          if (random(5) === 0) pieces.push('');
          pieces.push(`${pieces.pop() ?? ''}${character}`);
        }
        const { content, calls: reported } = readPieces(dialect, pieces);
        const values = reported.map(({ name, arguments: text }) => ({
          name,
          values: JSON.parse(text) as unknown,
        }));
        if (content !== '' || JSON.stringify(values) !== spelled(dialect, JSON.stringify(calls)))
          expect({ answer, content, values }).toEqual({ answer, content: '', values: calls });
        read += calls.length;
      }
      expect(read).toBeGreaterThan(cases / 3);
    },
    limitMs,
  );
});
