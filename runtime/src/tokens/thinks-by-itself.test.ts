import { expect, test } from '@jest/globals';
import { ChatTemplate } from './chat-template.js';
import { thinksByItself } from './thinks-by-itself.js';

const thinks = (text: string): Promise<boolean> => {
  const template = ChatTemplate.compile(text, {});
  if (template === null) throw new Error('no template');
  return thinksByItself({ render: (input) => Promise.resolve().then(() => template.render(input)) });
};
const says = '{{ messages[0].content }}';

test.each([
  ['thinks unless that is switched off', `${says}{{ "<think></think>" if enable_thinking is false }}`, true],
  ['begins within the reasoning', `${says}<think>\n`, true],
  ['thinks where that is switched on', `${says}{{ "<think>" if enable_thinking is true }}`, false],
  ['knows of no thinking', says, false],
  ['refuses the conversation', '{{ raise_exception("no") }}', false],
])('a template that %s', async (_what, text, expected) => {
  expect(await thinks(text)).toBe(expected);
});
