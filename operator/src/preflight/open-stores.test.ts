// Endpoints that do not do what S3 does: the operator reads for every service, and none may hold it up or fill it.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { AddressGuard } from './address-guard.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { openStores } from './open-stores.js';

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function filesOf(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const endpoint = `http://127.0.0.1:${port}`;
  const guard = new AddressGuard({ allowed: ['127.0.0.1'], refused: [] });
  const opened = openStores(
    wantedService({ model: { uri: 's3://b/p/', s3: { endpoint } } }),
    { credentials: null, hubToken: null, dockerConfig: null, listToken: null, certificates: null },
    guard,
  );
  const files = opened.at({ bucket: 'b', prefix: 'p/', file: null });
  return Object.assign(files, { close: () => opened.close() });
}

test('of a whole file in place of a range no more is taken than was asked for', async () => {
  let sent = 0;
  const files = await filesOf((_, response) => {
    response.writeHead(200, { 'content-length': 2 ** 30, etag: 'e' });
    const piece = Buffer.alloc(2 ** 16);
    const more = (): void => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
    };
    response.on('drain', more);
    more();
  });
  expect(await files.read('config.json', 10)).toEqual({
    bytes: Buffer.alloc(10),
    fileBytes: 2 ** 30,
    etag: 'e',
  });
  files.close();
  expect(sent).toBeLessThan(2 ** 26);
});

test('ranges that come whole are read one after another by one connection', async () => {
  const files = await filesOf((request, response) => {
    const [, begin = 0, end = 0] = (/bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []).map(Number);
    const bytes = Buffer.alloc(end - begin + 1, begin);
    response.writeHead(206, { 'content-range': `bytes ${begin}-${end}/1000`, etag: 'e' }).end(bytes);
  });
  let connections = 0;
  server?.on('connection', () => (connections += 1));
  for (let at = 0; at < 10; at += 1) {
    expect(await files.read('m.gguf', 64, at)).toMatchObject({ bytes: Buffer.alloc(64, at) });
  }
  files.close();
  expect(connections).toBe(1);
});

test('another range than that asked for is no answer', async () => {
  const files = await filesOf((_, response) => response.end('whole'));
  await expect(files.read('m.gguf', 2, 3)).rejects.toMatchObject({
    reason: 'S3Unavailable',
    message: expect.stringContaining('asked for bytes from 3 on'),
  });
});

test('closing ends what is being read', async () => {
  const files = await filesOf((_, response) => {
    response.writeHead(206, { 'content-range': 'bytes 0-9/10', 'content-length': 10 }).write('1');
  });
  const read = files.read('config.json', 10);
  await once(server as Server, 'request');
  setTimeout(() => files.close(), 50);
  await expect(read).rejects.toMatchObject({ reason: 'S3Unavailable' });
});

test('an endpoint that leads elsewhere is not followed', async () => {
  const asked: (string | undefined)[] = [];
  const files = await filesOf((request, response) => {
    asked.push(request.url);
    const { port } = server?.address() as { port: number };
    response.writeHead(307, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
  });
  await expect(files.read('config.json', 10)).rejects.toThrow('307');
  expect(asked.every((url) => url?.startsWith('/b/p/config.json') === true)).toBe(true);
});

test.each([
  ['a listing', 200, '<ListBucketResult>', '<Contents><Key>p/a</Key><Size>1</Size></Contents>'],
  ['an error', 403, '<Error><Code>AccessDenied</Code>', '<a>'],
])('%s without end is given up before it is parsed', async (_, status, begin, unit) => {
  let sent = 0;
  const files = await filesOf((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).write(begin);
    const piece = unit.repeat(10_000);
    const more = (): void => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
    };
    response.on('drain', more);
    more();
  });
  await expect(files.list()).rejects.toBeInstanceOf(FailureError);
  files.close();
  expect(sent).toBeLessThan(2 ** 26);
});

test('a folder of many pages is listed whole', async () => {
  const files = await filesOf((request, response) => {
    const { searchParams: asked } = new URL(request.url ?? '', 'http://s3');
    const page = Number(asked.get('continuation-token') ?? 0);
    const most = Number(asked.get('max-keys'));
    const contents = Array.from(
      { length: most },
      (_, at) => `<Contents><Key>p/${page}-${at}</Key></Contents>`,
    );
    const next = page < 3 ? `<NextContinuationToken>${page + 1}</NextContinuationToken>` : '';
    response.end(`<ListBucketResult>${next}${contents.join('')}</ListBucketResult>`);
  });
  expect(new Set((await files.list()).map(({ name }) => name)).size).toBe(1_000);
  files.close();
});

test('what is judged of a branch is what is pinned, whatever is pushed meanwhile', async () => {
  let pushed = 0;
  server = createServer(({ url = '' }, response) => {
    if (url.includes('/revision/')) response.end(JSON.stringify({ sha: String((pushed += 1)).repeat(40) }));
    else
      response.end(
        JSON.stringify([{ type: 'file', path: `of-${url.split('/')[6] ?? ''}`, size: 1, oid: 'o' }]),
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const hub = { endpoint: `http://127.0.0.1:${port}` };
  const opened = openStores(
    wantedService({ model: { uri: 'hf://me/demo@main', hub } }),
    { credentials: null, hubToken: null, dockerConfig: null, listToken: null, certificates: null },
    new AddressGuard({ allowed: ['127.0.0.1'], refused: [] }),
  );
  const place = () => ({ repository: 'me/demo', revision: 'main', folder: '', file: null });
  const judged = await opened.at(place()).list();
  expect(judged).toHaveLength(1);
  expect(await opened.at(place()).list()).toEqual(judged);
  opened.close();
  expect(pushed).toBe(1);
});

test('the token of lists is for the origin of the list that is the model, and not without TLS', async () => {
  const content = JSON.stringify({
    resources: [{ path: 'config.json', bytes: 2, hash: `sha256:${'0'.repeat(64)}` }],
  });
  const asked: (string | undefined)[] = [];
  server = createServer(({ headers }, response) => {
    asked.push(headers.authorization);
    response.end(content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const list = `http://127.0.0.1:${port}/files.json`;
  const digest = createHash('sha256').update(content).digest('hex');
  const listOf = async (uri: string) => {
    const opened = openStores(
      wantedService({ model: { uri } }),
      { credentials: null, hubToken: null, dockerConfig: null, listToken: 't', certificates: null },
      new AddressGuard({ allowed: ['127.0.0.1'], refused: [] }),
    );
    const files = opened.at({ list, digest, folder: '', file: null });
    return files.list().finally(() => opened.close());
  };
  expect(await listOf('https://files.example/files.json')).toHaveLength(1);
  expect(await listOf('s3://b/p/')).toHaveLength(1);
  expect(asked).toEqual([undefined, undefined]);
  await expect(listOf(`${list}@sha256:${digest}`)).rejects.toMatchObject({
    reason: 'ListAccessDenied',
    message: expect.stringContaining('InsecureToken'),
  });
  expect(asked).toHaveLength(2);
});
