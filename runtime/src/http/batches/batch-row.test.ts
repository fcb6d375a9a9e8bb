import { describe, expect, test } from '@jest/globals';
import { answerLine, errorLine, readRow, refusedAnswer, sentBody } from './batch-row.js';
import { ApiError } from '../../request/body/api-error.js';

const maxBytes = 1000;
const read = (line: string | Buffer | null) =>
  readRow(
    { number: 7, bytes: line === null ? null : Buffer.from(line as string) },
    '/v1/chat/completions',
    maxBytes,
  );
const row = (members: object): string =>
  JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: {}, ...members });

test.each([
  ['too long', null, 'line_too_long', null],
  ['no JSON', '{"a', 'invalid_json_line', null],
  ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_json_line', null],
  ['half a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'invalid_json_line', null],
  ['nested without end', '['.repeat(100_000), 'invalid_json_line', null],
  ['a list', '[]', 'invalid_json_line', null],
  ['null', 'null', 'invalid_json_line', null],
  ['no custom_id', row({ custom_id: undefined }), 'invalid_custom_id', 'custom_id'],
  ['a number as custom_id', row({ custom_id: 1 }), 'invalid_custom_id', 'custom_id'],
  ['an empty custom_id', row({ custom_id: '' }), 'invalid_custom_id', 'custom_id'],
  ['a long custom_id', row({ custom_id: 'x'.repeat(513) }), 'invalid_custom_id', 'custom_id'],
  ['GET', row({ method: 'GET' }), 'invalid_method', 'method'],
  ['another endpoint', row({ url: '/v1/embeddings' }), 'mismatched_url', 'url'],
  ['a path that is none', row({ url: '../metrics' }), 'mismatched_url', 'url'],
  ['a text as body', row({ body: 'x' }), 'invalid_body', 'body'],
  ['no body', row({ body: undefined }), 'invalid_body', 'body'],
] as const)('a line that is %s', (_, line, code, param) => {
  expect(read(line as string)).toEqual({
    ok: false,
    error: { code, param, line: 7, message: expect.any(String) },
  });
});

describe('a row', () => {
  const taken = (members: object) => {
    const found = read(row(members));
    if (!found.ok) throw new Error(found.error.message);
    return found.row;
  };

  test('is sent as it was written, least urgently', () => {
    const body = '{"messages":[{"role":"user","content":"}"}],"seed":12345678901234567890,"priority":-8}';
    const found = read(`{"body":${body},"custom_id":"ä","method":"POST","url":"/v1/chat/completions"}`);
    if (!found.ok) throw new Error(found.error.message);
    const sent = sentBody(found.row);
    expect(sent).toBe(`${body.slice(0, -1)},"priority":8}`);
    expect(JSON.parse(sent)).toMatchObject({ priority: 8 });
    expect(found.row.customId).toBe('ä');
  });

  test('without anything in its body is sent too', () => {
    expect(sentBody(taken({ body: {} }))).toBe('{"priority":8}');
  });

  test.each(['stream', 'background'])('with %s is answered with 400 and not sent', (param) => {
    expect(taken({ body: { [param]: true } }).refusal).toMatchObject({ status: 400, param });
    expect(taken({ body: { [param]: false } }).refusal).toBeNull();
  });
});

test('answers are lines, whatever is in them', () => {
  const answer = { status: 200, requestId: 'req "1"', body: '{\n  "text": "a\\nb"\r\n}\n' };
  const line = answerLine('batch_req_1', 'a\n"', answer);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    id: 'batch_req_1',
    custom_id: 'a\n"',
    response: { status_code: 200, request_id: 'req "1"', body: { text: 'a\nb' } },
    error: null,
  });
  expect(JSON.parse(errorLine('batch_req_1', 'a', 'batch_expired', 'late'))).toEqual({
    id: 'batch_req_1',
    custom_id: 'a',
    response: null,
    error: { code: 'batch_expired', message: 'late' },
  });
  const refused = refusedAnswer(ApiError.of('invalid_request', 'no', { param: 'stream' }), 'r');
  expect(JSON.parse(answerLine('b', 'a', refused))).toMatchObject({
    response: { status_code: 400, body: { error: { param: 'stream' } } },
  });
});
