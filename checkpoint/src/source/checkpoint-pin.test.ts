import { describe, expect, test } from '@jest/globals';
import { checkpointPin, isTimeVersion, objectVersion, type ListedFile } from './checkpoint-pin.js';

const folder = { endpoint: 'https://s3.example.org', bucket: 'models', prefix: 'demo/', file: null };
const files: readonly ListedFile[] = [
  { name: 'config.json', bytes: 2, version: '"a"' },
  { name: 'model.safetensors', bytes: 10, version: '"b"' },
  { name: 'README.md', bytes: 7, version: '"c"' },
];
const changed = (name: string, change: Partial<ListedFile>): ListedFile[] =>
  files.map((file) => (file.name === name ? { ...file, ...change } : file));
const pin = checkpointPin(folder, files);

describe('the pin of a checkpoint', () => {
  test('is the same for any order, and whatever else lies in the folder', () => {
    expect(pin).toMatch(/^[0-9a-f]{16}$/);
    expect(checkpointPin(folder, [...files].reverse())).toBe(pin);
    expect(checkpointPin(folder, changed('README.md', { version: '"d"' }))).toBe(pin);
    expect(checkpointPin({ ...folder, endpoint: 'https://s3.example.org/' }, files)).toBe(pin);
  });

  test.each([
    ['a file that was replaced', folder, changed('config.json', { version: '"d"' })],
    ['a file of another size', folder, changed('model.safetensors', { bytes: 11 })],
    ['one more file', folder, [...files, { name: 'chat_template.jinja', bytes: 1, version: '"e"' }]],
    ['another bucket', { ...folder, bucket: 'others' }, files],
    ['another server', { ...folder, endpoint: null }, files],
  ])('differs for %s', (_, place, listing) => expect(checkpointPin(place, listing)).not.toBe(pin));

  test('of a GGUF file is not that of another beside it', () => {
    const gguf = [
      { name: 'a.gguf', bytes: 1, version: '"a"' },
      { name: 'b.gguf', bytes: 1, version: '"b"' },
    ];
    const a = { ...folder, file: 'a.gguf' };
    expect(checkpointPin(a, gguf)).toBe(checkpointPin(a, gguf.slice(0, 1)));
    expect(checkpointPin(a, gguf)).not.toBe(checkpointPin({ ...folder, file: 'b.gguf' }, gguf));
  });

  test('of a split GGUF file is that of all its parts', () => {
    const part = (number: number, version: string): ListedFile => ({
      ...{ name: `a-0000${number}-of-00002.gguf`, bytes: 1, version },
    });
    const split = { ...folder, file: 'a-00001-of-00002.gguf' };
    const parts = [part(1, '"a"'), part(2, '"b"')];
    const beside = { name: 'b.gguf', bytes: 1, version: '"c"' };
    expect(checkpointPin(split, [...parts, beside])).toBe(checkpointPin(split, parts));
    expect(checkpointPin(split, [part(1, '"a"'), part(2, '"d"')])).not.toBe(checkpointPin(split, parts));
  });
});

test('the time of an object stands in for an ETag that it lacks, in whole seconds', () => {
  const LastModified = new Date('2026-01-02T03:04:05.678Z');
  expect(objectVersion({ ETag: '"x"', LastModified })).toBe('"x"');
  const version = objectVersion({ ETag: '""', LastModified }) ?? '';
  expect([version, isTimeVersion(version)]).toEqual(['modified:2026-01-02T03:04:05Z', true]);
  expect(objectVersion({})).toBeNull();
});
