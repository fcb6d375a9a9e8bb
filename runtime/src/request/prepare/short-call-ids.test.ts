import { expect, test } from '@jest/globals';
import type { Message } from '../fields/messages.js';
import { withShortIds } from './short-call-ids.js';

const call = (id?: string | null): NonNullable<Message['tool_calls']>[number] => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name: 'f', arguments: {} },
});
const short = expect.stringMatching(/^[0-9a-f]{9}$/);

test('a call and its result keep together, and other calls apart', () => {
  const messages: Message[] = [
    { role: 'assistant', content: '', tool_calls: [call('call_1'), call('call_2')] },
    { role: 'tool', content: '1', tool_call_id: 'call_1' },
    { role: 'tool', content: '2', tool_call_id: 'call_2' },
  ];
  const [asked, first, second] = withShortIds(messages);
  expect(asked).toEqual({
    ...messages[0],
    tool_calls: [call(String(first?.tool_call_id)), call(String(second?.tool_call_id))],
  });
  expect([first, second]).toEqual([
    { ...messages[1], tool_call_id: short },
    { ...messages[2], tool_call_id: short },
  ]);
  expect(first?.tool_call_id).not.toBe(second?.tool_call_id);
  expect(withShortIds(messages)).toEqual([asked, first, second]);
});

test.each<[Message]>([
  [{ role: 'tool', content: '', tool_call_id: 'Abc123dEf' }],
  [{ role: 'tool', content: '', tool_call_id: null }],
  [{ role: 'tool', content: '' }],
  [{ role: 'assistant', content: '', tool_calls: [call(), call(null), call('123456789')] }],
  [{ role: 'user', content: 'call_1', name: 'call_1' }],
])('%j stays as it is', (message) => {
  expect(withShortIds([message])).toEqual([message]);
});
