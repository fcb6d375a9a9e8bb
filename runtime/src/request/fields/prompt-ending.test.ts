import { describe, expect, test } from '@jest/globals';
import { ChatTemplate } from '../../tokens/chat-template.js';
import { cutAtMark, readEnding, violationsOfEnding, withMark, type PromptEnding } from './prompt-ending.js';

const plain =
  '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';
const trimming = '{% for m in messages %}[{{ m.role }}] {{ m.content | trim }} [/]{% endfor %}';

function render(template: string, ending: PromptEnding, content: string): string | null {
  const messages = [
    { role: 'user', content: 'user The answer is' },
    { role: 'assistant', content },
  ];
  const addGenerationPrompt = ending === 'answer';
  const text = ChatTemplate.compile(template, {})!.render({
    messages: ending === 'continue' ? withMark(messages) : messages,
    addGenerationPrompt,
  });
  return ending === 'continue' ? cutAtMark(text) : text;
}

describe('a prompt that continues with the last message', () => {
  const before = '<|im_start|>user\nuser The answer is<|im_end|>\n<|im_start|>assistant\n';
  const beforeTrimmed = '[user] user The answer is [/][assistant] ';

  // What transformers 5 gives with continue_final_message.
  test.each([
    ['The answer is', 'The answer is', 'The answer is'],
    [' two  words ', ' two  words ', 'two  words '],
    ['The answer is ', 'The answer is ', 'The answer is '],
    ['user', 'user', 'user'],
    ['x\n\n', 'x\n\n', 'x\n\n'],
  ])('ends with its text %j', (content, kept, trimmed) => {
    expect(render(plain, 'continue', content)).toBe(before + kept);
    expect(render(trimming, 'continue', content)).toBe(beforeTrimmed + trimmed);
  });

  test('is none where the template leaves that message out', () => {
    expect(render('{{ messages[0].content }}', 'continue', 'x')).toBeNull();
  });
});

test('a prompt ends with the beginning of an answer, or with the messages alone', () => {
  expect(render(plain, 'answer', 'x')).toMatch(/x<\|im_end\|>\n<\|im_start\|>assistant\n$/);
  expect(render(plain, 'none', 'x')).toMatch(/x<\|im_end\|>\n$/);
});

const call = { function: { name: 'f', arguments: '' } };

test.each<[Parameters<typeof violationsOfEnding>[0], PromptEnding, string[]]>([
  [{}, 'answer', []],
  [{ add_generation_prompt: true, continue_final_message: false }, 'answer', []],
  [{ add_generation_prompt: false }, 'none', []],
  [{ add_generation_prompt: false, continue_final_message: true }, 'continue', []],
  [
    { continue_final_message: true },
    'continue',
    ['continue_final_message needs add_generation_prompt: false'],
  ],
  [
    {
      add_generation_prompt: false,
      continue_final_message: true,
      messages: [{ role: 'assistant', content: 'x', tool_calls: [call] }],
    },
    'continue',
    ['continue_final_message needs a last message that ends in text'],
  ],
])('%j ends with %j', (fields, ending, violations) => {
  expect(readEnding(fields)).toBe(ending);
  const expected = violations.map((message: string): unknown => expect.stringContaining(message));
  expect(violationsOfEnding(fields).map(({ message }) => message)).toEqual(expected);
});
