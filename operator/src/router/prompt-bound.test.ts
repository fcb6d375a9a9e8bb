import { expect, test } from '@jest/globals';
import { promptBound } from './prompt-bound.js';

const boundOf = (value: object, indent?: number) =>
  promptBound(Buffer.from(JSON.stringify(value, null, indent)));
const text = 'a few words '.repeat(400);
const content = 'QUJD'.repeat(50_000);
const part = (url: string) => ({ type: 'image_url', image_url: { url } });

test('a text has a token for each 16 bytes, and any body has one', () => {
  const tokens = boundOf({ prompt: text });
  expect(tokens).toBeGreaterThanOrEqual(300);
  expect(tokens).toBeLessThan(310);
  expect(promptBound(Buffer.from('{}'))).toBe(1);
});

test.each([
  ['an image of OpenAI’s chat', part(`data:image/png;base64,${content}`)],
  ['a sound', { type: 'input_audio', input_audio: { data: content, format: 'wav' } }],
  [
    'an image of Messages',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: content } },
  ],
  ['a URL as data', { type: 'image', data: `data:image/png;base64,${content}` }],
])('%s is not counted, and texts around it are', (_, image) => {
  for (const indent of [0, 2]) {
    const tokens = boundOf({ messages: [{ content: [image, { type: 'text', text }, image] }] }, indent);
    expect(tokens).toBeGreaterThanOrEqual(300);
    expect(tokens).toBeLessThan(360);
  }
});

test('a text that is no image is counted, whatever it is named', () => {
  expect(boundOf({ data: [text], prompt: `"data" ${text}` })).toBeGreaterThanOrEqual(600);
  expect(promptBound(Buffer.from(`{"prompt":"${text};base64,`))).toBeGreaterThanOrEqual(300);
});
