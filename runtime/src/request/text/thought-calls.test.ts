import { describe, expect, test } from '@jest/globals';
import type { EngineOutput } from '../../engine/protocol.js';
import { Detokenizer } from '../../tokens/detokenizer.js';
import { beginId, dialects, endId, use } from '../../tools/tool-reader.fixture.js';
import { ToolReader } from '../../tools/tool-reader.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import { ids, step, stream, think } from './text-stream.fixture.js';
import type { TextDelta } from './text-stream.js';
import type { TextStreamOptions } from './text-stream-options.js';

const spellings = new Map([
  [beginId, Buffer.from('<tool_call>')],
  [endId, Buffer.from('</tool_call>')],
]);

describe('a call in the reasoning', () => {
  const call = [beginId, ...ids('\n<function=ping>\n</function>\n'), endId];
  const written = '<tool_call>\n<function=ping>\n</function>\n</tool_call>';
  const read = (
    tokens: readonly number[],
    change: Partial<TextStreamOptions> = {},
    last: Partial<EngineOutput> = {},
  ): object => {
    const end: Partial<EngineOutput> = { finish: 'stop', ...last };
    const options = { dialect: dialects.qwenXml, use, newCallId: () => 'id', skipSpecialTokens: true };
    const text = stream({
      newDetokenizer: () => new Detokenizer((id) => spellings.get(id) ?? Uint8Array.of(id)),
      inReasoning: true,
      tools: new ToolReader(options),
      ...change,
    });
    const deltas: TextDelta[] = [];
    for (const output of [...tokens.map((id) => step([id])), step([], end)])
      if (deltas.at(-1)?.finish == null) deltas.push(text.push(output));
    const whole = stream({ ...text['options'], tools: new ToolReader(options) });
    const summary = (of: readonly TextDelta[]): object => ({
      reasoning: of.map(({ reasoning }) => reasoning).join(''),
      content: of.map(({ content }) => content).join(''),
      called: wholeCalls(of.flatMap(({ toolCalls }) => toolCalls)).map(
        ({ name, arguments: given }) => `${name} ${given}`,
      ),
      finish: of.at(-1)!.finish,
    });
    expect(summary([whole.push(step(tokens, end))])).toEqual(summary(deltas));
    return summary(deltas);
  };

  const open = [beginId, ...ids('\n<function=f>\n<parameter=text>\nhell')];
  const opened = '<tool_call>\n<function=f>\n<parameter=text>\nhell';
  const rest = ids('o\n</parameter>\n</function>\n');
  const hello = ['f {"text":"hello"}'];

  // What ends the thought within the call is a budget.
  test.each<[string, readonly number[], object]>([
    ['nothing follows', [], { finish: 'stop' }],
    [
      'the model continues the call',
      [...rest, endId, ...ids('\nSo.')],
      { called: hello, content: 'So.', finish: 'tool_calls' },
    ],
    [
      'the model continues the call, quoting a marker in it',
      [endId, ...ids('!'), ...rest, endId],
      { called: ['f {"text":"hell</tool_call>!o"}'], finish: 'tool_calls' },
    ],
    [
      'the model continues the call, whose marker it leaves out',
      rest,
      { called: hello, finish: 'tool_calls' },
    ],
    [
      'the model continues the call, and calls once more',
      [...rest, ...call],
      { called: [...hello, 'ping {}'], finish: 'tool_calls' },
    ],
    ['the model answers', ids('\n\nIt is 3.\n'), { content: 'It is 3.\n', finish: 'stop' }],
    ['the model answers at once', ids('It is 3.'), { content: 'It is 3.', finish: 'stop' }],
    ['the model ends the call and answers', [endId, ...ids('\n\n3.')], { content: '3.', finish: 'stop' }],
    ['the model ends the call', [endId], { finish: 'stop' }],
    ['the model calls anew', [...ids('\n'), ...call], { called: ['ping {}'], finish: 'tool_calls' }],
    [
      'the model answers, then calls',
      [...ids('\n\nLet me see.\n'), ...call],
      { content: 'Let me see.', called: ['ping {}'], finish: 'tool_calls' },
    ],
  ])('that was cut with the thought makes no call of half of it: %s', (_, tokens, expected) => {
    const nothing = { reasoning: opened, content: '', called: [] };
    expect(read([...open, think.end, ...tokens])).toMatchObject({ ...nothing, ...expected });
  });

  test.each<[string, readonly number[], object]>([
    ['in the thought', open, { reasoning: opened }],
    ['at the end of the thought', [...open, think.end], { reasoning: opened }],
    ['while the model continues', [...open, think.end, ...ids('o the')], { reasoning: `${opened}o the` }],
    [
      'behind the end of the call',
      [...open, think.end, ...rest, endId, ...ids(' So')],
      { called: hello, content: 'So' },
    ],
    ['in an answer', [...open, think.end, ...ids('\n\nSo')], { reasoning: opened, content: 'So' }],
  ])('that a limit cut %s is no call, and no content', (_, tokens, expected) => {
    const nothing = { reasoning: opened, content: '', called: [], finish: 'length' };
    expect(read(tokens, {}, { finish: 'length' })).toMatchObject({ ...nothing, ...expected });
  });

  test('that was whole when the thought ended is one, where its end follows or nothing', () => {
    const whole = call.slice(0, -1);
    for (const end of [[], [endId], [...ids('\n'), endId]])
      expect(read([...whole, think.end, ...end])).toMatchObject({ called: ['ping {}'], content: '' });
    expect(read([...whole, think.end, ...ids('So.')])).toMatchObject({ called: [], content: 'So.' });
  });

  test.each<[string, Partial<TextStreamOptions>, Partial<EngineOutput>, object]>([
    ['a stop string', { stopStrings: ['END'] }, {}, { finish: 'stop' }],
    ["the client's own stop token", { stopTokenIds: [7] }, { stopToken: 7 }, { finish: 'stop' }],
    ['max_tokens', {}, { finish: 'length' }, { finish: 'length' }],
    [
      'an end token that the client names too',
      { stopTokenIds: [7], eosIds: [7] },
      { stopToken: 7 },
      { finish: 'tool_calls', called: ['f {"text":"hell"}'] },
    ],
  ])('behind the thought is whole if the model ended it, not %s', (_, change, last, expected) => {
    const tokens = [...open, ...ids(change.stopStrings === undefined ? '' : 'END')];
    const cut = { called: ['f {"text":"hell'] };
    expect(read(tokens, { inReasoning: false, ...change }, last)).toMatchObject({ ...cut, ...expected });
  });

  // vLLM-project/vllm, issue 39056: models call without having ended their thought.
  test.each([
    ['ends the answer', [], 'hm' + written],
    ['ends the reasoning and the answer', [...ids('\n'), think.end, ...ids('\n')], `hm${written}\n`],
    ['is one of two that do', [...ids('\n'), ...call], `hm${written}\n${written}`],
  ])('reports the call that %s', (_, rest, reasoning) => {
    const called = rest.includes(beginId) ? ['ping {}', 'ping {}'] : ['ping {}'];
    const expected = { reasoning, content: '', called, finish: 'tool_calls' };
    expect(read([...ids('hm'), ...call, ...rest])).toEqual(expected);
  });

  test.each([
    ['is followed by an answer', [...call, think.end, ...ids('b')], written, 'b'],
    ['is followed by more of the thought', [...call, ...ids(' or not')], `${written} or not`, ''],
    ['has not come', [beginId, ...ids('\n<func')], '<tool_call>\n<func', ''],
  ])('reports no call that %s', (_, tokens, reasoning, content) => {
    expect(read(tokens)).toEqual({ reasoning, content, called: [], finish: 'stop' });
  });

  test('reports the call of the answer alone', () => {
    const expected = { reasoning: written, content: '', called: ['ping {}'], finish: 'tool_calls' };
    expect(read([...call, think.end, ...call])).toEqual(expected);
  });

  test('reports none where a grammar holds calls to what comes behind the reasoning', () => {
    const expected = { reasoning: written, content: '', called: [], finish: 'stop' };
    expect(read(call, { callsInReasoning: false })).toEqual(expected);
  });
});
