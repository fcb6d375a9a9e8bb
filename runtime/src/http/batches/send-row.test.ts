import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { KeySet } from '@llmservice/crds/keys';
import { configuredKey } from '../../../../crds/src/keys/configured-key.fixture.js';
import { keysByName, rowSender } from './send-row.js';

const endpoint = '/v1/completions';
const live = new AbortController();
afterEach(() => live.signal.throwIfAborted());

test.each(['', 'a key "ä" with\nanything'])('of the owner %j, is a request like any other', async (owner) => {
  const keys = keysByName(new KeySet([configuredKey(owner)]));
  const large = 'ä'.repeat(3_000_000);
  const listener: RequestListener = (request, response) => {
    void text(request).then((body) => {
      const presented = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
      const key = presented === undefined ? null : keys.find(presented);
      response.setHeader('x-request-id', 'r-1').writeHead(201);
      response.end(JSON.stringify({ url: request.url, method: request.method, key: key?.id ?? '', body }));
    });
  };
  const { status, requestId, body } = await rowSender(listener)(owner, endpoint, large, live.signal);
  expect([status, requestId]).toEqual([201, 'r-1']);
  expect(JSON.parse(body)).toEqual({ url: endpoint, method: 'POST', key: owner, body: large });
});

test('a key that was withdrawn is none', () => {
  expect(keysByName(new KeySet([])).find(Buffer.from('a').toString('hex'))).toBeNull();
});

test('who sends no longer is gone for the routes', async () => {
  const gone = new AbortController();
  let closed: Promise<unknown> = Promise.resolve();
  const send = rowSender((_: IncomingMessage, response: ServerResponse) => {
    closed = once(response, 'close');
    gone.abort(new Error('gone'));
  });
  await expect(send('', endpoint, '{}', gone.signal)).rejects.toThrow();
  await closed;
});

test('an answer that breaks off is none', async () => {
  const send = rowSender((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  });
  await expect(send('', endpoint, '{}', live.signal)).rejects.toThrow();
});

test('an answer that is too large is an error of its request, and its routes are not waited for', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  const send = rowSender((_, response) => {
    closed = once(response, 'close');
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000_000)));
    };
    response.on('drain', more);
    more();
  });
  const { status, body } = await send('', endpoint, '{}', live.signal);
  expect([status, JSON.parse(body)]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
  await closed;
});

test('many at once', async () => {
  const send = rowSender((request, response) => void text(request).then((body) => response.end(body)));
  const bodies = Array.from({ length: 100 }, (_, number) => String(number));
  const answers = await Promise.all(bodies.map((body) => send('', endpoint, body, live.signal)));
  expect(answers.map(({ body }) => body)).toEqual(bodies);
});
