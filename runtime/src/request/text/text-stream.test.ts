import { describe, expect, test } from '@jest/globals';
import { emptyOutput } from '../../engine/output-queue.js';
import type { EngineOutput } from '../../engine/protocol.js';
import { Detokenizer } from '../../tokens/detokenizer.js';
import { beginId, dialects, endId, use } from '../../tools/tool-reader.fixture.js';
import { ToolReader } from '../../tools/tool-reader.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import { TextStream, type TextDelta, type TextStreamOptions } from './text-stream.js';

/** Ids below 256 are bytes; these two stand around reasoning. */
const think = { begin: 1000, end: 1001 };
const spellings = new Map([
  [beginId, Buffer.from('<tool_call>')],
  [endId, Buffer.from('</tool_call>')],
]);
const ids = (text: string): number[] => [...Buffer.from(text)];
const stream = (change: Partial<TextStreamOptions> = {}): TextStream =>
  new TextStream({
    newDetokenizer: () => new Detokenizer((id) => (id < 256 ? Uint8Array.of(id) : Buffer.from('<think>'))),
    textOf: (id) => (id === think.begin ? '<think>' : '</think>'),
    stopStrings: [],
    includeStopString: false,
    stopTokenIds: [],
    minTokens: 0,
    logprobs: 1,
    reportsIds: false,
    think,
    inReasoning: false,
    tools: null,
    callsInReasoning: true,
    ...change,
  });
const step = (tokens: readonly number[], change: Partial<EngineOutput> = {}): EngineOutput => ({
  ...emptyOutput,
  tokens,
  ...change,
});

describe('TextStream', () => {
  test('separates reasoning by token id, without the tokens and the line breaks around it', () => {
    const text = stream();
    const all = [think.begin, ...ids('\nhm'), think.end, ...ids('\n\nParis')];
    const deltas = all.map((id) => text.push(step([id])));
    expect(deltas.map((delta) => delta.reasoning).join('')).toBe('hm');
    expect(deltas.map((delta) => delta.content).join('')).toBe('Paris');
    expect([text.reasoningTokens, text.completionTokens]).toEqual([4, all.length]);
  });

  test('begins inside of the reasoning when the template opened it', () => {
    const delta = stream({ inReasoning: true }).push(step([...ids('hm'), think.end, ...ids('Paris')]));
    expect([delta.reasoning, delta.content]).toEqual(['hm', 'Paris']);
  });

  test('begins with content when the template closed it', () => {
    const delta = stream({ inReasoning: false }).push(step(ids('Paris')));
    expect([delta.reasoning, delta.content]).toEqual(['', 'Paris']);
  });

  test.each<[string, Partial<TextStreamOptions>, readonly (string | number)[], string, string]>([
    [
      'behind the reasoning',
      {},
      [think.begin, 'hm', think.end, 'The tag ', think.begin, 'a', think.end, '\nb'],
      'hm',
      'The tag <think>a</think>\nb',
    ],
    [
      'right behind the reasoning',
      { inReasoning: true },
      ['hm', think.end, think.begin, 'a'],
      'hm',
      '<think>a',
    ],
    ['behind text', {}, ['a', think.begin, 'b', think.end], '', 'a<think>b</think>'],
    ['behind text that a stop string holds', { stopStrings: ['END'] }, ['E', think.begin], '', 'E<think>'],
    [
      'behind space alone, where it begins reasoning',
      {},
      ['\n', think.begin, 'hm', think.end, 'b'],
      'hm',
      '\nb',
    ],
    ['in the reasoning, where it is none of it', { inReasoning: true }, [think.begin, 'hm'], 'hm', ''],
  ])('takes a token around reasoning for text: %s', (_, change, parts, reasoning, content) => {
    const tokens = parts.flatMap((part) => (typeof part === 'string' ? ids(part) : [part]));
    // Control tokens are left out of what a detokenizer returns.
    const newDetokenizer = (): Detokenizer =>
      new Detokenizer((id) => (id < 256 ? Uint8Array.of(id) : new Uint8Array(0)));
    for (const steps of [[tokens], tokens.map((id) => [id])]) {
      const text = stream({ newDetokenizer, ...change });
      const deltas = [...steps.map((each) => text.push(step(each))), text.push(step([], { finish: 'stop' }))];
      expect(deltas.map((delta) => delta.reasoning).join('')).toBe(reasoning);
      expect(deltas.map((delta) => delta.content).join('')).toBe(content);
    }
  });

  test('finds a stop string that a quoted token is part of', () => {
    const text = stream({ stopStrings: ['a<think>b'] });
    expect(text.push(step([...ids('xa'), think.begin, ...ids('bc')]))).toMatchObject({
      content: 'x',
      finish: 'stop',
    });
  });

  test('leaves the tokens in the text where reasoning is not separated', () => {
    expect(stream({ think: null }).push(step([think.begin, ...ids('x')])).content).toBe('<think>x');
  });

  describe('with a call in the reasoning', () => {
    const call = [beginId, ...ids('\n<function=ping>\n</function>\n'), endId];
    const written = '<tool_call>\n<function=ping>\n</function>\n</tool_call>';
    const read = (tokens: readonly number[], change: Partial<TextStreamOptions> = {}): object => {
      const options = { dialect: dialects.qwenXml, use, newCallId: () => 'id', skipSpecialTokens: true };
      const text = stream({
        newDetokenizer: () => new Detokenizer((id) => spellings.get(id) ?? Uint8Array.of(id)),
        inReasoning: true,
        tools: new ToolReader(options),
        ...change,
      });
      const deltas = [...tokens.map((id) => text.push(step([id]))), text.push(step([], { finish: 'stop' }))];
      const whole = stream({ ...text['options'], tools: new ToolReader(options) });
      const summary = (of: readonly TextDelta[]): object => ({
        reasoning: of.map(({ reasoning }) => reasoning).join(''),
        content: of.map(({ content }) => content).join(''),
        calls: wholeCalls(of.flatMap(({ toolCalls }) => toolCalls)).map(({ name }) => name),
        finish: of.at(-1)!.finish,
      });
      expect(summary([whole.push(step(tokens, { finish: 'stop' }))])).toEqual(summary(deltas));
      return summary(deltas);
    };

    // vLLM-project/vllm, issue 39056: models call without having ended their thought.
    test.each([
      ['ends the answer', [], 'hm' + written],
      ['ends the reasoning and the answer', [...ids('\n'), think.end, ...ids('\n')], `hm${written}\n`],
      ['is one of two that do', [...ids('\n'), ...call], `hm${written}\n${written}`],
    ])('reports the call that %s', (_, rest, reasoning) => {
      const calls = rest.includes(beginId) ? ['ping', 'ping'] : ['ping'];
      const expected = { reasoning, content: '', calls, finish: 'tool_calls' };
      expect(read([...ids('hm'), ...call, ...rest])).toEqual(expected);
    });

    test.each([
      ['is followed by an answer', [...call, think.end, ...ids('b')], written, 'b'],
      ['is followed by more of the thought', [...call, ...ids(' or not')], `${written} or not`, ''],
      ['has not come', [beginId, ...ids('\n<func')], '<tool_call>\n<func', ''],
    ])('reports no call that %s', (_, tokens, reasoning, content) => {
      expect(read(tokens)).toEqual({ reasoning, content, calls: [], finish: 'stop' });
    });

    test('reports the call of the answer alone', () => {
      const expected = { reasoning: written, content: '', calls: ['ping'], finish: 'tool_calls' };
      expect(read([...call, think.end, ...call])).toEqual(expected);
    });

    test('reports none where a grammar holds calls to what comes behind the reasoning', () => {
      const expected = { reasoning: written, content: '', calls: [], finish: 'stop' };
      expect(read(call, { callsInReasoning: false })).toEqual(expected);
    });
  });

  test('takes no stop string that ends in the first tokens where there must be more', () => {
    const text = stream({ stopStrings: ['ab'], minTokens: 4 });
    expect(text.push(step(ids('abab'))).content).toBe('abab');
    expect(text.push(step(ids('xab'))).finish).toBe('stop');
    expect(stream({ stopStrings: ['ab'], minTokens: 0 }).push(step(ids('abab'))).finish).toBe('stop');
    // As in vLLM, one that begins among them and ends behind them counts.
    const begun = stream({ stopStrings: ['ab'], minTokens: 3 }).push(step(ids('abab')));
    expect([begun.content, begun.stopReason]).toEqual(['ab', 'ab']);
  });

  test('reports ids where asked to, the one that ended the text with them', () => {
    const asked = stream({ reportsIds: true, stopStrings: ['ab'] });
    expect(asked.push(step(ids('x'))).tokenIds).toEqual(ids('x'));
    expect(asked.push(step([5, ...ids('abc')])).tokenIds).toEqual([5, ...ids('ab')]);
    const ended = stream({ reportsIds: true }).push(step(ids('a'), { finish: 'stop', stopToken: 7 }));
    expect(ended.tokenIds).toEqual([...ids('a'), 7]);
    expect(stream().push(step(ids('a'))).tokenIds).toBeNull();
  });

  test('reports as many alternatives as the answer is to have, whatever the engine was asked for', () => {
    const top = [1, 2, 3].map((token) => ({ token, logprob: -token }));
    const output = step([1], { logprobs: [{ logprob: -1, top }] });
    expect(stream({ logprobs: 2 }).push(output).logprobs).toEqual([
      { id: 1, logprobs: { logprob: -1, top: top.slice(0, 2) }, isText: true },
    ]);
    expect(stream({ logprobs: null }).push(output).logprobs).toEqual([]);
  });

  test.each<[string, Partial<TextStreamOptions>, readonly number[]]>([
    ['where ids are reported', { reportsIds: true }, [1, 7]],
    ['unless no log probabilities are wanted', { reportsIds: true, logprobs: null }, []],
    ['and not where they are not, as OpenAI’s answers have it', {}, [1]],
  ])('reports the log probability of the token that ended the text %s', (_, change, expected) => {
    const logprobs = [{ logprob: -1, top: [] }];
    const stopLogprobs = { logprob: -0.5, top: [2, 3].map((token) => ({ token, logprob: -token })) };
    const output = step([1], { logprobs, finish: 'stop', stopToken: 7, stopLogprobs });
    const delta = stream(change).push(output);
    expect(delta.logprobs.map(({ id }) => id)).toEqual(expected);
    if (expected.includes(7))
      expect(delta.logprobs[1]!.logprobs).toEqual({ logprob: -0.5, top: stopLogprobs.top.slice(0, 1) });
  });

  test('counts the stop token, and names it only if the client asked for it', () => {
    const own = stream({ stopTokenIds: [5] });
    expect(own.push(step(ids('a'), { finish: 'stop', stopToken: 5 }))).toMatchObject({
      content: 'a',
      finish: 'stop',
      stopReason: 5,
    });
    expect(own.completionTokens).toBe(2);
    expect(stream().push(step([], { finish: 'stop', stopToken: 5 })).stopReason).toBeNull();
  });

  test('gives back what was held for a stop string that did not come', () => {
    const text = stream({ stopStrings: ['END'] });
    expect(text.push(step(ids('xEN'))).content).toBe('x');
    expect(text.push(step([], { finish: 'length' }))).toMatchObject({
      content: 'EN',
      finish: 'length',
      stopReason: null,
    });
  });

  test('keeps the stop string when asked to', () => {
    const delta = stream({ stopStrings: ['END'], includeStopString: true }).push(step(ids('xENDy')));
    expect(delta).toMatchObject({ content: 'xEND', finish: 'stop', stopReason: 'END' });
  });

  describe('keeps the stop token when asked to', () => {
    const special = 2;
    const newDetokenizer = (): Detokenizer =>
      new Detokenizer((id) => (id === special ? new Uint8Array(0) : Uint8Array.of(id)));
    const [s, last] = [ids('s')[0]!, ids('é')[1]!];
    test.each<[string, Partial<TextStreamOptions>, readonly number[], number, string]>([
      ['as the end of the text', {}, ids('i'), s, 'is'],
      ['behind what was held for a stop string', { stopStrings: ['is it'] }, ids('i'), s, 'is'],
      ['though it completes a stop string', { stopStrings: ['is'] }, ids('i'), s, 'is'],
      ['with bytes of a character before it', {}, ids('é').slice(0, 1), last, 'é'],
      ['but not a control token', {}, ids('i'), special, 'i'],
    ])('%s', (_, change, tokens, stopToken, content) => {
      const text = stream({ includeStopString: true, stopTokenIds: [stopToken], newDetokenizer, ...change });
      const begun = text.push(step(tokens));
      const ended = text.push(step([], { finish: 'stop', stopToken }));
      expect(begun.content + ended.content).toBe(content);
      expect(ended).toMatchObject({ finish: 'stop', stopReason: stopToken });
      expect(text.completionTokens).toBe(tokens.length + 1);
    });

    test('in the reasoning, but not the token that ends that', () => {
      const asked = { includeStopString: true, inReasoning: true };
      expect(stream(asked).push(step(ids('h'), { finish: 'stop', stopToken: s })).reasoning).toBe('hs');
      const ended = stream(asked).push(step(ids('h'), { finish: 'stop', stopToken: think.end }));
      expect([ended.reasoning, ended.content]).toEqual(['h', '']);
    });

    test('with its log probability, as every token of the text has', () => {
      const stopLogprobs = { logprob: -1, top: [] };
      const output = step([], { finish: 'stop', stopToken: s, stopLogprobs });
      expect(stream({ includeStopString: true }).push(output).logprobs).toHaveLength(1);
    });
  });

  test('an unfinished character at the end shows as U+FFFD', () => {
    const delta = stream().push(step(ids('é').slice(0, 1), { finish: 'length' }));
    expect(delta.content).toBe('\ufffd');
  });
});
