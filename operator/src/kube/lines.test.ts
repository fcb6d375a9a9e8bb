import { PassThrough, Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { linesOf } from './lines.js';

async function collect(stream: Readable): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(stream)) lines.push(line);
  return lines;
}

test('lines are whole however they are cut, the last one without an end too', async () => {
  const bytes = Buffer.from('a\nüb\n\nend');
  const pieces = [...bytes].map((_, index) => bytes.subarray(index, index + 1));
  expect(await collect(Readable.from(pieces, { objectMode: false }))).toEqual(['a', 'üb', '', 'end']);
});

test('a stream that breaks off ends its lines with the error', async () => {
  const stream = new PassThrough();
  stream.write('a\nb');
  setImmediate(() => stream.destroy(new Error('gone')));
  await expect(collect(stream)).rejects.toThrow('gone');
});
