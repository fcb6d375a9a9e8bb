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

test('millions of what begins as an image take a fraction of a second of the processor', () => {
  const bodies = [';base64,"', '"data":"",'].map((each) => Buffer.alloc(32 * 2 ** 20, each));
  const before = process.cpuUsage();
  for (const body of bodies) expect(promptBound(body)).toBeGreaterThan(2 * 2 ** 20 - 2_000);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test('a text that is no image is counted, whatever it is named', () => {
  expect(boundOf({ data: [text], prompt: `"data" ${text}` })).toBeGreaterThanOrEqual(600);
  expect(promptBound(Buffer.from(`{"prompt":"${text};base64,`))).toBeGreaterThanOrEqual(300);
});
