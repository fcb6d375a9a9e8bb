import { expect, test } from '@jest/globals';
import { S3Client, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import { Readable } from 'node:stream';
import { UnavailableError, WrongRangeError, type FileVersion } from './checkpoint-source.js';
import { RemoteSource } from './remote-source.js';

const content = Buffer.from('0123456789');
const file: FileVersion = { name: 'model.safetensors', bytes: content.length, etag: '"a-4"', digest: null };

interface Answer {
  readonly status: number;
  readonly range?: string;
  readonly body: Buffer;
}

/** What is read of a server that gives this answer to whatever is asked. */
async function read({ status, range, body }: Answer, begin: number, end: number): Promise<[string, unknown]> {
  const output = {
    $metadata: { httpStatusCode: status },
    ETag: file.etag,
    ContentRange: range,
    Body: Readable.from([body]),
  } as unknown as GetObjectCommandOutput;
  const client = { send: () => Promise.resolve(output) } as unknown as S3Client;
  const source = new RemoteSource(new S3ByteSource(client, 'b', 'm'));
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of source.read(file, begin, end)) chunks.push(chunk);
    return [Buffer.concat(chunks).toString(), null];
  } catch (error) {
    return [Buffer.concat(chunks).toString(), error];
  }
}

test.each<[string, Answer, number, number]>([
  ['the range', { status: 206, range: 'bytes 4-6/10', body: content.subarray(4, 7) }, 4, 7],
  [
    'the range, of an unknown length',
    { status: 206, range: 'bytes 4-6/*', body: content.subarray(4, 7) },
    4,
    7,
  ],
  ['the whole file where that is the range', { status: 200, body: content }, 0, 10],
])('takes %s', async (_, answer, begin, end) => {
  expect(await read(answer, begin, end)).toEqual([content.subarray(begin, end).toString(), null]);
});

test.each<[string, Answer]>([
  ['the whole file', { status: 200, body: content }],
  ['as many bytes from the file’s begin', { status: 200, body: content.subarray(0, 3) }],
  ['another range', { status: 206, range: 'bytes 0-2/10', body: content.subarray(0, 3) }],
  ['a longer range', { status: 206, range: 'bytes 4-60/100', body: content.subarray(4) }],
  ['a part that does not say which', { status: 206, body: content.subarray(4, 7) }],
  ['more bytes than it says', { status: 206, range: 'bytes 4-6/10', body: content.subarray(4) }],
])('takes nothing of %s in place of the range', async (_, answer) => {
  expect(await read(answer, 4, 7)).toEqual(['', expect.any(WrongRangeError)]);
});

test('an answer that ends early is one to ask for again', async () => {
  const [, error] = await read({ status: 206, range: 'bytes 4-6/10', body: content.subarray(4, 5) }, 4, 7);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error).not.toBeInstanceOf(WrongRangeError);
});

test('the modules of an embedder lie below the folder, and are listed and read under a flat name', async () => {
  const keys: string[] = [];
  const send = ({ constructor, input }: { constructor: { name: string }; input: { Key?: string } }) => {
    if (input.Key !== undefined) keys.push(`${constructor.name} ${input.Key}`);
    return Promise.resolve({
      Contents: [{ Key: 'm/config.json', Size: 2, ETag: '"c"' }],
      CommonPrefixes: ['1_Pooling', '2_Dense', '2_Dense_1024', 'onnx'].map((each) => ({
        Prefix: `m/${each}/`,
      })),
      ...{ ContentLength: 5, ETag: '"p"', $metadata: { httpStatusCode: 200 } },
    });
  };
  const client = Object.assign(Object.create(S3Client.prototype), { send }) as S3Client;
  const source = new RemoteSource(new S3ByteSource(client, 'b', 'm'));
  expect(await source.list()).toEqual([
    { name: 'config.json', bytes: 2, version: '"c"' },
    { name: '1_Pooling.config.json', bytes: 5, version: '"p"' },
    { name: '2_Dense.config.json', bytes: 5, version: '"p"' },
    { name: '2_Dense.model.safetensors', bytes: 5, version: '"p"' },
  ]);
  expect(keys).toEqual([
    'HeadObjectCommand m/1_Pooling/config.json',
    'HeadObjectCommand m/2_Dense/config.json',
    'HeadObjectCommand m/2_Dense/model.safetensors',
  ]);
});
