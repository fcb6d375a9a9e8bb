import { describe, expect, test } from '@jest/globals';
import { boundaryOf, MultipartReader } from './multipart-reader.js';

interface Part {
  name: string;
  filename: string | null;
  text: string;
  isWhole: boolean;
}

/** Parts of a body that comes in chunks of so many bytes. */
function partsOf(body: string | Buffer, boundary: string, chunkBytes: number): Part[] {
  const reader = new MultipartReader(boundary);
  const bytes = Buffer.from(body as string);
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    for (const event of reader.push(bytes.subarray(at, at + chunkBytes))) {
      const last = parts.at(-1)!;
      if (event.kind === 'part')
        parts.push({ name: event.name, filename: event.filename, text: '', isWhole: false });
      else if (event.kind === 'bytes') last.text += event.bytes.toString('latin1');
      else last.isWhole = true;
    }
  reader.end();
  return parts;
}

/** What a client sends of a form. */
async function bodyOf(written: FormData): Promise<{ headers: string; bytes: Buffer }> {
  const response = new Response(written);
  return {
    headers: response.headers.get('content-type')!,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

const form = (...parts: readonly string[]): string =>
  `${parts.map((part) => `--B\r\n${part}\r\n`).join('')}--B--\r\n`;
const field = (name: string, text: string): string =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${text}`;
const file = (text: string): string =>
  `content-disposition: form-data; name="file"; filename="a b.jsonl"\r\nContent-Type: application/octet-stream\r\n\r\n${text}`;

test.each<[string, string, [string, string | null, string][]]>([
  [
    'two parts',
    form(field('purpose', 'batch'), file('{"a":1}\n')),
    [
      ['purpose', null, 'batch'],
      ['file', 'a b.jsonl', '{"a":1}\n'],
    ],
  ],
  [
    'what looks like a boundary',
    form(file('\r\n--A\r\n-\r\n--\r\n\r\n--')),
    [['file', 'a b.jsonl', '\r\n--A\r\n-\r\n--\r\n\r\n--']],
  ],
  ['an empty part', form(field('purpose', '')), [['purpose', null, '']]],
  ['no parts', '--B--', []],
  ['a preamble and an epilogue', `hi\r\n${form(field('a', 'b'))}bye\r\n--B\r\n`, [['a', null, 'b']]],
  [
    'blanks behind boundaries',
    '--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B--',
    [['a', null, 'x']],
  ],
])('%s, at every split', (_, body, parts) => {
  for (let chunkBytes = 1; chunkBytes <= body.length + 1; chunkBytes++)
    expect(partsOf(body, 'B', chunkBytes)).toEqual(
      parts.map(([name, filename, text]) => ({ name, filename, text, isWhole: true })),
    );
});

describe('is refused:', () => {
  test.each([
    ['nothing', ''],
    ['no boundary', 'x'.repeat(100)],
    ['half a body', `--B\r\n${file('{"a":1}')}`],
    ['a body without its last boundary', form(file('x')).replace('--B--', '')],
    ['a part without a name', form('Content-Disposition: form-data\r\n\r\nx')],
    ['a part without headers', form('\r\nx')],
    ['headers without end', `--B\r\n${'x'.repeat(20_000)}`],
    ['a boundary that does not end', `--B${' '.repeat(20_000)}`],
    ['letters behind a boundary', form(field('a', 'b')).replace('--B\r', '--Bx\r')],
    ['many parts', form(...Array.from({ length: 65 }, () => field('a', 'b')))],
  ])('%s', (_, body) => {
    for (const chunkBytes of [1, 7, body.length + 1])
      expect(() => partsOf(body, 'B', chunkBytes)).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      );
  });
});

test('what a client writes is read, bytes and names as they were', async () => {
  const content = Buffer.from(Array.from({ length: 3000 }, (_, at) => [13, 10, 45, 45, at % 256][at % 5]!));
  const written = new FormData();
  written.set('purpose', 'batch');
  written.set('file', new File([content], 'a "b" ä.jsonl'));
  const { headers, bytes } = await bodyOf(written);
  const parts = partsOf(bytes, boundaryOf(headers), 7);
  expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
    ['purpose', null],
    ['file', 'a "b" ä.jsonl'],
  ]);
  expect(Buffer.from(parts[1]!.text, 'latin1').equals(content)).toBe(true);
});

test('it holds nothing of a part that comes', () => {
  const reader = new MultipartReader('B');
  const head = `--B\r\n${file('')}`;
  expect([...reader.push(Buffer.from(head))]).toHaveLength(1);
  for (let i = 0; i < 10; i++) {
    const [event] = [...reader.push(Buffer.alloc(100_000, 'x'))];
    expect(event).toMatchObject({ kind: 'bytes' });
  }
});

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; boundary="a b;c"', 'a b;c'],
  ['Multipart/Form-Data; charset=utf-8; boundary=abc; x=y', 'abc'],
  ['multipart/form-data', null],
  ['application/json', null],
  [undefined, null],
  [`multipart/form-data; boundary=${'x'.repeat(201)}`, null],
])('the boundary of %s', (contentType, boundary) => {
  if (boundary === null)
    expect(() => boundaryOf(contentType)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  else expect(boundaryOf(contentType)).toBe(boundary);
});
