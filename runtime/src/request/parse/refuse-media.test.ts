import { describe, expect, test } from '@jest/globals';
import { refuseMedia } from './refuse-media.js';

describe('what is not text is refused where it is', () => {
  test.each<[string, object, string]>([
    ['an image', { role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'image' }] }, 'content.1'],
    [
      'a document',
      {
        role: 'user',
        content: [{ type: 'tool_result', content: [{ type: 'document', source: { type: 'url' } }] }],
      },
      'content.0.content.0',
    ],
    ['a file', { type: 'function_call_output', output: [{ type: 'input_file' }] }, 'output.0'],
    ['a sound', { role: 'user', content: [{ type: 'input_audio' }] }, 'content.0'],
  ])('%s', (word, message, place) => {
    expect(() => refuseMedia([{ role: 'user', content: 'x' }, message], 'messages')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: `messages.1.${place}`,
        message: expect.stringContaining(`is ${word}`),
      }),
    );
  });
});

test('of millions of images the first twenty are reported', () => {
  const images = new Array(1_000_000).fill({ type: 'image' });
  const refused = (): void => refuseMedia(images, 'messages');
  expect(refused).toThrow(/messages\.0 is .*; messages\.19 is an image, [^;]*$/);
});

test('text passes, and so does what is checked later, however deep it is', () => {
  let deep: unknown[] = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [{ content: deep }];
  for (const list of ['x', null, undefined, 5, [null, 5, 'x'], deep, [{ type: 'text', text: 'image' }]])
    expect(() => refuseMedia(list, 'messages')).not.toThrow();
});
