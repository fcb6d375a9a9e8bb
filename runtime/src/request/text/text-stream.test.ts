import { describe, expect, test } from '@jest/globals';
import { Detokenizer } from '../../tokens/detokenizer.js';
import { ids, step, stream, think } from './text-stream.fixture.js';
import type { TextStreamOptions } from './text-stream-options.js';

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

  test.each<[string, Partial<TextStreamOptions>, readonly (string | number)[], string]>([
    ['right behind the first', {}, [think.begin, 'hm', think.end, '\n', think.end, '\n\nb'], 'b'],
    [
      'behind what a budget cut off the thought',
      { inReasoning: true },
      ['hm', think.end, ' so 3.\n', think.end, '\n\n3'],
      ' so 3.\n\n\n3',
    ],
    ['of a thought that was to be none', {}, ['hm.', think.end, 'b'], 'hm.b'],
    ['first of all', {}, [think.end, 'b'], 'b'],
    ['behind a quoted pair', {}, ['a ', think.begin, think.end, 'b', think.end], 'a <think></think>b'],
    [
      'quoted by itself',
      {},
      ['The tag `', think.end, '`, or ', think.end],
      'The tag `</think>`, or </think>',
    ],
  ])('leaves out a token that ends no reasoning, unless it is quoted: %s', (_, change, parts, content) => {
    const tokens = parts.flatMap((part) => (typeof part === 'string' ? ids(part) : [part]));
    for (const steps of [[tokens], tokens.map((id) => [id])]) {
      const text = stream(change);
      const deltas = [...steps.map((each) => text.push(step(each))), text.push(step([], { finish: 'stop' }))];
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
