import { expect, test } from '@jest/globals';
import { checkRows, customIdOf, maxRows } from './check-rows.js';
import { numberedLines } from './numbered-lines.js';

const never = new AbortController().signal;
const row = (id: string): string =>
  JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/completions', body: { prompt: id } });

async function check(text: string | Buffer, maxLineBytes = 1000, over = never) {
  async function* parts(): AsyncGenerator<Buffer> {
    await Promise.resolve();
    const bytes = Buffer.from(text as string);
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
  }
  return checkRows(numberedLines(parts(), maxLineBytes), '/v1/completions', maxLineBytes, over);
}

test('rows that can be sent are counted, whatever their order and what is between them', async () => {
  expect(await check(`\n${row('b')}\n\n${row('a')}`)).toEqual({ total: 2, errors: [] });
});

test.each([
  ['nothing', '', 'empty_file', null],
  ['blank lines', '\n \n\r\n', 'empty_file', null],
  ['an id twice', [row('a'), row('b'), '', row('a')].join('\n'), 'duplicate_custom_id', 4],
  ['a huge line', `${row('a')}\n${'x'.repeat(5_000_000)}\n${row('b')}`, 'line_too_long', 2],
  [
    'what is no UTF-8',
    Buffer.concat([Buffer.from(`${row('a')}\n`), Buffer.from([0x22, 0xc3, 0x22])]),
    'invalid_json_line',
    2,
  ],
  ['a line of zeros', Buffer.alloc(900), 'invalid_json_line', 1],
] as const)('%s is refused with its line', async (_, text, code, line) => {
  const { errors } = await check(text);
  expect(errors).toEqual([expect.objectContaining({ code, line })]);
});

test('as many rows as OpenAI takes are taken, and no more', async () => {
  const rows = (count: number): string =>
    Array.from({ length: count }, (_, id) => row(String(id))).join('\n');
  expect(await check(rows(maxRows))).toEqual({ total: maxRows, errors: [] });
  const { errors } = await check(rows(maxRows + 1));
  expect(errors).toEqual([expect.objectContaining({ code: 'too_many_requests' })]);
});

test('of a file that is all wrong, the first errors are enough', async () => {
  const { total, errors } = await check('x\n'.repeat(100_000));
  expect([total, errors.length]).toEqual([20, 20]);
});

test('others run while a large file is checked, and what is over is not read on', async () => {
  const gone = new AbortController();
  const text = Array.from({ length: 20_000 }, (_, id) => row(String(id))).join('\n');
  setImmediate(() => gone.abort());
  expect((await check(text, 1000, gone.signal)).total).toBeLessThan(20_000);
});

test('the id of a checked line', () => {
  expect(customIdOf(Buffer.from(row('ä')))).toBe('ä');
});
