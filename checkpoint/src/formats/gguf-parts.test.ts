import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { ggufFile, llamaGguf } from './gguf.fixture.js';
import { readGgufHeaders } from './read-gguf-headers.js';
import { splitGguf, type ChangePart } from './split-gguf.fixture.js';

const whole = ggufFile(llamaGguf());
const tensors = Object.keys(llamaGguf().tensors);

function read(files: Readonly<Record<string, Buffer>>, limits: { readonly maxBytes?: number } = {}) {
  const listed = Object.entries(files).map(([name, { length: bytes }]) => ({ name, bytes }));
  const range = (name: string, begin: number, end: number): Promise<Uint8Array> =>
    Promise.resolve(files[name]!.subarray(begin, end));
  return readGgufHeaders(listed, range, { arrays: true, ...limits });
}

async function failureOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FailureError);
  const { reason, message } = error as FailureError;
  return `${reason}: ${message}`;
}

describe('a split GGUF checkpoint', () => {
  test.each([
    ['in two files', 2, false],
    ['in three', 3, false],
    ['with a first part of metadata alone', 4, true],
  ])('%s has what the whole file has, each tensor in its part', async (_, parts, emptyFirst) => {
    const files = splitGguf(whole, 'm', parts, { emptyFirst });
    const { header, heads } = await read(files);
    const one = await read({ 'm.gguf': whole });
    expect([...heads.keys()]).toEqual(Object.keys(files));
    for (const [name, head] of heads) expect(head).toEqual(files[name]!.subarray(0, head.byteLength));
    for (const [key, value] of one.header.values) expect([key, header.values.get(key)]).toEqual([key, value]);

    const [split, joined] = [readGgufCheckpoint(header), readGgufCheckpoint(one.header)];
    expect(split.shape).toEqual(joined.shape);
    const anywhere = { file: '', offset: 0 };
    expect(split.tensors.map((tensor) => ({ ...tensor, ...anywhere }))).toEqual(
      joined.tensors.map((tensor) => ({ ...tensor, ...anywhere })),
    );
    const filled = Object.keys(files).slice(emptyFirst ? 1 : 0);
    expect([...new Set(split.tensors.map(({ file }) => file))]).toEqual(filled);
  });

  test('of one part is a whole file', async () => {
    const { header } = await read(splitGguf(whole, 'm', 1));
    expect(header.tensors.map(({ name }) => name)).toEqual(tensors);
  });

  const [first, second, third] = [1, 2, 3].map((number) => `m-0000${number}-of-00003.gguf`);
  const changed =
    (at: number, change: object): ChangePart =>
    (part, place) =>
      place === at ? { ...part, ...change } : part;

  test.each<[string, ChangePart, string]>([
    [
      'a part that says another count',
      changed(1, { count: 4 }),
      `${second}: key split.count is 4, but by its name it is part 2 of 3; upload the parts of one set`,
    ],
    [
      'a part that says no count',
      changed(0, { count: null }),
      `${first}: key split.count is missing, but by`,
    ],
    [
      'parts that changed their names',
      (part, at) => ({ ...part, no: [0, 2, 1][at]! }),
      `${second}: key split.no is 2, expected 1: by its name it is part 2 of 3`,
    ],
    ['a first part that is not', changed(0, { no: 1 }), `${first}: key split.no is 1, expected 0`],
    [
      'parts that disagree on the number of tensors',
      changed(2, { tensorsCount: 12 }),
      `${third}: key split.tensors.count is 12, but 11 in ${first}: they are parts of two sets`,
    ],
    [
      'no number of tensors',
      changed(0, { tensorsCount: null }),
      `${first}: key split.tensors.count is missing`,
    ],
    [
      'more tensors than any model',
      (part) => ({ ...part, tensorsCount: 2 ** 30 }),
      `${first}: key split.tensors.count is 1073741824, expected 1 to 262144`,
    ],
    [
      'a tensor in two parts',
      changed(2, { tensors: [tensors[0]!] }),
      `${third}: tensor ${tensors[0]!} is in this part, and in ${first} too`,
    ],
    [
      'fewer tensors than it says',
      changed(2, { tensors: [] }),
      `${first}: its set has 8 of the 11 tensors of key split.tensors.count`,
    ],
    [
      'more tensors than it says',
      (part) => ({ ...part, tensorsCount: 7 }),
      `${second}: with this part its set has more than the 7 tensors of key split.tensors.count`,
    ],
  ])('is refused with %s', async (_, change, message) => {
    const said = await failureOf(read(splitGguf(whole, 'm', 3, { change })));
    expect(said).toMatch(/^CheckpointCorrupt: /);
    expect(said).toContain(message);
  });

  test('is refused under a name that does not say that it is a part', async () => {
    const parts = splitGguf(whole, 'm', 3);
    const said = await failureOf(read({ 'renamed.gguf': parts[first!]! }));
    expect(said).toMatch(/^CheckpointIncomplete: renamed\.gguf is one of 3 parts \(key split\.count\)/);
    expect(said).toContain('name the parts NAME-00001-of-00003.gguf');
  });

  test('is refused where a part ends early, or is none', async () => {
    const parts = splitGguf(whole, 'm', 3);
    const cut = { ...parts, [second!]: parts[second!]!.subarray(0, -100) };
    expect(await failureOf(read(cut))).toMatch(/^CheckpointCorrupt: m-00002.*reaches byte/);
    const none = { ...parts, [third!]: Buffer.alloc(0) };
    expect(await failureOf(read(none))).toContain(`${third}: no bytes at 0 of 0: it is empty`);
  });

  test('is refused where a header has more bytes than may be read', async () => {
    const long = { keys: { 'tokenizer.ggml.tokens': Array<string>(300_000).fill('a') } };
    const said = await failureOf(read({ 'm.gguf': ggufFile(llamaGguf(long)) }, { maxBytes: 2 ** 21 }));
    expect(said).toContain('m.gguf: its header has more than 2097152 bytes');
  });
});
