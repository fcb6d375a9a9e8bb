// Answers whose channels are broken: nothing that is said is lost, and nothing waits for what may never come. Sound ones are
// read in test/golden/harmony.test.ts.

import { describe, expect, test } from '@jest/globals';
import { cpuClock } from '../../cpu-time.fixture.js';
import { harmonyTexts, type HarmonyTokens } from '../../harmony/harmony-tokens.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import type { ChannelPlace } from './channel-reader.js';
import { joinDeltas } from './join-deltas.js';
import { ids, step, stream } from './text-stream.fixture.js';
import type { TextDelta, TextStream } from './text-stream.js';
import type { TextStreamOptions } from './text-stream-options.js';

const texts = Object.values(harmonyTexts);
const tokens = Object.fromEntries(
  Object.keys(harmonyTexts).map((mark, i) => [mark, 2000 + i]),
) as unknown as HarmonyTokens;

/** Bytes as tokens, and each marker as one. */
const tokensOf = (answer: string): number[] =>
  answer.split(/(<\|\w+\|>)/).flatMap((part) => {
    const mark = texts.indexOf(part as (typeof texts)[number]);
    return mark === -1 ? ids(part) : [2000 + mark];
  });

const inHeader: ChannelPlace = { at: 'header', hasRole: true };

function streamAt(
  place: ChannelPlace,
  { parallel = true, ...change }: Partial<TextStreamOptions> & { readonly parallel?: boolean } = {},
): TextStream {
  let count = 0;
  const use = { tools: [{ name: 'f', parameters: null, strict: false }], choice: 'auto', parallel } as const;
  return stream({
    think: null,
    channels: { tokens, place, use, newCallId: () => String(count++) },
    ...change,
  });
}

interface Read {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly (readonly string[])[];
}

function readOf(deltas: readonly TextDelta[]): Read {
  const { content, reasoning, toolCalls } = joinDeltas(deltas);
  return { content, reasoning, calls: wholeCalls(toolCalls).map((call) => [call.name, call.arguments]) };
}

function read(steps: readonly (readonly number[])[], place = inHeader): Read {
  const text = streamAt(place);
  const deltas = steps.map((each) => text.push(step(each)));
  return readOf([...deltas, text.push(step([], { finish: 'length' }))]);
}

const nothing: Read = { content: '', reasoning: '', calls: [] };

test.each<[name: string, answer: string, expected: Partial<Read>]>([
  ['text without a header', 'Hello there.', { content: 'Hello there.' }],
  ['text of other scripts without a header', '東京 is far.', { content: '東京 is far.' }],
  ['text that begins as a header may', 'to be or not', { content: 'to be or not' }],
  ['text behind a message', '<|channel|>final<|message|>a<|end|>b c d', { content: 'a\nb c d' }],
  ['a channel without a message', '<|channel|>analysis We think so', { reasoning: 'We think so' }],
  ['an answer without a message', '<|channel|>final Hello<|end|>', { content: 'Hello' }],
  ['a header that a limit cut', '<|channel|>fin', {}],
  ['a role that a limit cut', '<|channel|>final<|message|>a<|end|><|start|>assistant', { content: 'a' }],
  ['a recipient that a limit cut', '<|channel|>commentary to=functions.f <|constrain|>js', {}],
  [
    'a call without a message',
    '<|channel|>commentary to=functions.f <|constrain|>json {"text": "a"}<|call|>',
    { calls: [['f', '{"text": "a"}']] },
  ],
  ['a call of nothing', '<|channel|>commentary to=functions.f<|message|><|call|>', { calls: [['f', '{}']] }],
  [
    'a call whose recipient has no namespace',
    '<|channel|>commentary to=f json<|message|>{}<|call|>',
    { calls: [['f', '{}']] },
  ],
  [
    'a call of a function that nobody knows',
    '<|channel|>commentary to=functions.g<|message|>{}<|call|>',
    { calls: [['g', '{}']] },
  ],
  [
    'control characters in arguments',
    '<|channel|>commentary to=functions.f<|message|> {"text": "a\nb\\"\tc"} \n<|call|>',
    { calls: [['f', '{"text": "a\\nb\\"\\tc"}']] },
  ],
  ['a start within a thought', '<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final<|message|>b', { reasoning: 'a', content: 'b' }],
  ['a channel within a thought', '<|channel|>analysis<|message|>a<|channel|>final<|message|>b', { reasoning: 'a', content: 'b' }],
  ['two channels in a header', '<|channel|>commentary to=functions.f<|channel|>commentary json<|message|>{}<|call|>', { calls: [['f', '{}']] }],
  ['markers alone', '<|start|><|start|><|message|><|constrain|><|end|><|channel|><|message|><|end|><|call|>', {}],
  ['a message within a message', '<|channel|>final<|message|>a<|message|>b<|constrain|>c', { content: 'abc' }],
  ['a turn of the user', '<|channel|>final<|message|>a<|end|><|start|>user<|message|>b', { content: 'a\nb' }],
  ['another start without end', '<|start|>'.repeat(50), {}],
])('%s', (_name, answer, expected) => {
  const all = tokensOf(answer);
  const whole = { ...nothing, ...expected };
  expect(read([all])).toEqual(whole);
  expect(read(all.map((id) => [id]))).toEqual(whole);
  const splits = all.map((_, i) => JSON.stringify(read([all.slice(0, i), all.slice(i)])));
  expect(splits.filter((each) => each !== JSON.stringify(whole))).toEqual([]);
}); // prettier-ignore

describe('what is no header', () => {
  test('is passed on as soon as that is sure', () => {
    const text = streamAt(inHeader);
    expect(text.push(step(ids('Hello'))).content).toBe('Hello');
    const behindChannel = streamAt(inHeader);
    behindChannel.push(step(tokensOf('<|channel|>final')));
    expect(behindChannel.push(step(ids(' It is five'))).content).toBe('It is five');
  });

  test.each(['x', ' ', 'to= '])('is none of any length (%j)', (piece) => {
    const name = piece.repeat(20_000) + '.';
    const cpuMs = cpuClock();
    const steps = tokensOf(`<|channel|>${name}`).map((id) => [id]);
    expect(read(steps).content).toMatch(/\.$/);
    expect(cpuMs()).toBeLessThan(2000);
  });
});

test('continues the text in which the prompt ends', () => {
  expect(read([ids(' five.')], { at: 'text', isReasoning: false })).toEqual({
    ...nothing,
    content: ' five.',
  });
  const thought = tokensOf('Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.');
  expect(read([thought], { at: 'text', isReasoning: true })).toEqual({
    ...nothing,
    ...{ reasoning: 'Hm.', content: 'Yes.' },
  });
});

test('ends with the first call where several may not be', () => {
  const text = streamAt(inHeader, { parallel: false });
  const call = '<|channel|>commentary to=functions.f<|message|>{}<|end|><|start|>assistant';
  const delta = text.push(step(tokensOf(call + call)));
  expect(delta.finish).toBe('tool_calls');
  expect(readOf([delta]).calls).toEqual([['f', '{}']]);
});

test('a stop string ends the text, within one channel', () => {
  const text = streamAt(inHeader, { stopStrings: ['five'] });
  const thought = tokensOf('<|channel|>analysis<|message|>fi<|end|><|start|>assistant');
  expect(text.push(step(thought)).finish).toBeNull();
  const delta = text.push(step(tokensOf('<|channel|>final<|message|>ve, or five.')));
  expect(delta).toMatchObject({ content: 've, or ', finish: 'stop', stopReason: 'five' });
});

test('a call that a stop string ends asks for none', () => {
  const text = streamAt(inHeader, { stopStrings: ['END'] });
  const delta = text.push(step(tokensOf('<|channel|>commentary to=functions.f<|message|>{"text": "END"}')));
  expect(delta.finish).toBe('stop');
  expect(readOf([delta]).calls).toEqual([['f', '{"text": "']]);
});

test('log probabilities of the text are separate from those of the channels', () => {
  const text = streamAt(inHeader);
  const answer = tokensOf('<|channel|>final<|message|>ab');
  const logprobs = answer.map((token) => ({ token, logprob: 0, rank: 1, top: [] }));
  const scored = text.push(step(answer, { logprobs })).logprobs;
  expect(scored.flatMap(({ id, isText }) => (isText === true ? [id] : []))).toEqual(ids('ab'));
});
