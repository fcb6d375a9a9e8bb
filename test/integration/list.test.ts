// Checkpoints whose files a list names, from a real web server: pulled, resumed, pinned by the list's digest, and refused by what
// the list says and what the servers answer.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { bindListToken } from '@llmservice/checkpoint/list';
import { WeightsCache } from '../../runtime/src/weights/cache/weights-cache.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { FileServer, listToken, type PutList } from './file-server.js';
import { failureOf, largeCheckpoint, pullFrom, Recorder } from './pull-world.js';

jest.setTimeout(60_000);

let server: FileServer;
let dir: string;
let pulls: AbortController;
beforeAll(async () => {
  server = await FileServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-lists-'));
  pulls = new AbortController();
});
afterEach(() => {
  pulls.abort();
  rmSync(dir, { recursive: true, force: true });
});

const pull = (
  uri: string,
  token: string | null = null,
  observer = new Recorder(),
  cache: WeightsCache | null = null,
) =>
  pullFrom(
    { list: { token: bindListToken(token, uri), caCertificates: [server.certificate] } },
    { uri, weightsDir: join(dir, 'weights'), observer, signal: pulls.signal, cache },
  );

type Files = Readonly<Record<string, string | Uint8Array>>;
const files = llamaCheckpoint();
const weights = 'model-00001-of-00002.safetensors';
const size = Buffer.byteLength(files[weights] ?? '');

function expectFiles(folder: string, expected: Files = files): void {
  for (const [name, content] of Object.entries(expected))
    expect(readFileSync(join(folder, name)).equals(Buffer.from(content))).toBe(true);
}

/** Its list with other values in the entry of a file. */
function changed({ path }: PutList, file: string, fields: object): object {
  const { resources } = JSON.parse(server.read(path).toString()) as { resources: { path: string }[] };
  return { resources: resources.map((each) => (each.path === file ? { ...each, ...fields } : each)) };
}

describe('a list', () => {
  test('that the command of the page wrote is pulled, pinned by the digest of the list', async () => {
    const { path, digest } = server.put('pinned', files);
    expectFiles(await pull(`${server.https}/${path}@sha256:${digest}`));
    expectFiles(await pull(`${server.http}/${path}@sha256:${digest}`));
    expectFiles(await pull(`${server.https}/${path}`));
  });

  test('names files of folders below it', async () => {
    const below = Object.fromEntries(Object.entries(files).map(([name, each]) => [`fp8/${name}`, each]));
    const modules = { 'fp8/2_Dense/config.json': '{}', 'fp8/2_Dense/model.safetensors': 'dense' };
    const { path } = server.put('nested', { 'README.md': 'x', ...below, ...modules });
    const folder = await pull(`${server.https}/${path}/fp8`);
    expectFiles(folder, { ...files, '2_Dense.model.safetensors': 'dense' });
  });

  test('leads to other hosts by URLs and redirects, which see no token', async () => {
    const list = server.put('spread', files);
    const spread = changed(list, weights, { name: weights, path: `${server.storage}/spread/${weights}` });
    const { path } = server.putList('spread/spread.json', spread);
    expectFiles(await pull(`${server.https}/private/${path}`, listToken));
    expectFiles(await pull(`${server.https}/moved/${path}`, listToken));
    const stored = server.requests().filter((each) => each.startsWith('localhost:'));
    expect(stored.some((each) => each.includes(`/${weights} 206 `))).toBe(true);
    expect(stored.filter((each) => !each.endsWith('"-"'))).toEqual([]);
  });

  test('is cached by what its files are: of another list of the same, nothing is pulled', async () => {
    const { path } = server.put('cached', files);
    const seen: string[] = [];
    const nothing = (): void => undefined;
    const hit = (): void => void seen.push('hit');
    const missed = (): void => void seen.push('missed');
    const observer = { hit, missed, evicted: nothing, damaged: nothing };
    const root = join(dir, 'cache');
    const cache = new WeightsCache({ root, maxBytes: null, verify: 'onPull', volume: 'v', observer });
    await pull(`${server.https}/${path}`, null, new Recorder(), cache);
    server.putList(path, { name: 'written anew', ...changed({ path, digest: '' }, '', {}) });
    const before = server.requests().length;
    expectFiles(await pull(`${server.https}/${path}`, null, new Recorder(), cache));
    expect(server.requests().slice(before)).toHaveLength(1);
    expect(seen).toEqual(['missed', 'hit']);
  });

  test('of a pull that ended midway is pulled on from there', async () => {
    // One large piece and a small one, which is there long before.
    const large = largeCheckpoint(8_256);
    const { path, digest } = server.put('large', large);
    const uri = `${server.https}/${path}@sha256:${digest}`;
    const first = new Recorder();
    first.onReceived = (bytes) => {
      if (bytes > 12 * 2 ** 20) pulls.abort();
    };
    await expect(pull(uri, null, first)).rejects.toThrow();
    pulls = new AbortController();
    const second = new Recorder();
    expectFiles(await pull(uri, null, second), large);
    const [done = 0, total = 0] = second.begun ?? [];
    expect(done).toBeGreaterThan(64 * 2 ** 10);
    expect(second.bytes).toBe(total - done);
  });
});

describe('refused is', () => {
  test.each<[string, string, string, string]>([
    ['a list that is not there', 'nowhere/datapackage.json', 'ListNotFound', 'HTTP 404 ListAbsent'],
    ['one without its token', 'private/there/datapackage.json', 'ListAccessDenied', 'HTTP 401'],
    ['one that nobody may read', 'forbidden/there/datapackage.json', 'ListAccessDenied', 'HTTP 403'],
    ['one that redirects on and on', 'loop/there/datapackage.json', 'ListAccessDenied', 'redirects on'],
    ['one that leads to HTTP', 'plain/there/datapackage.json', 'ListAccessDenied', 'redirects to http://'],
    [
      'one of another digest',
      `there/datapackage.json@sha256:${'0'.repeat(64)}`,
      'CheckpointCorrupt',
      'DigestMismatch',
    ],
    ['a page of HTML', 'there/page.json', 'ListUnsupported', 'no JSON'],
    ['JSON that is no list', 'there/config.json', 'ListUnsupported', 'has no resources'],
    ['a list that is too long', 'there/long.json', 'ListUnsupported', 'AnswerTooLong'],
    ['one of too many files', 'there/many.json', 'ListUnsupported', 'more than 4000'],
    [
      'one with a path that climbs',
      'there/climbs.json',
      'ListUnsupported',
      'resources[0].path must lie below',
    ],
    ['one without digests', 'there/bare.json', 'ListUnsupported', 'resources[0].hash'],
    ['one of files over HTTP', 'there/plain.json', 'ListAccessDenied', 'resources[0].path'],
    ['a folder that is not there', 'there/datapackage.json/fp8', 'ModelNotFound', 'has no config.json'],
    ['a name that climbs', 'there/datapackage.json/../etc', 'InvalidEngineConfig', 'https://HOST'],
    ['a server without ranges', 'whole/wide/datapackage.json', 'ListUnsupported', 'honours the header Range'],
    ['a file that is not there', 'lost/datapackage.json', 'CheckpointIncomplete', `404 for ${weights}`],
    ['a file that is longer', 'longer/datapackage.json', 'CheckpointCorrupt', `it has ${String(size + 1)}`],
    ['a file that is shorter', 'shorter/datapackage.json', 'CheckpointCorrupt', `it has ${String(size - 1)}`],
  ])('%s', async (_, place, reason, words) => {
    const failure = await failureOf(pull(`${server.https}/${place}`));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(words);
  });

  beforeAll(() => {
    server.put('there', files);
    server.put('wide', largeCheckpoint(16_384));
    const entry = { path: 'config.json', bytes: 1, hash: `sha256:${'0'.repeat(64)}` };
    server.write('there/page.json', '<html>');
    server.write('there/long.json', ' '.repeat(4 * 2 ** 20 + 1));
    server.putList('there/many.json', { resources: Array.from({ length: 4_001 }, () => entry) });
    server.putList('there/climbs.json', { resources: [{ ...entry, path: 'a/../../etc/passwd' }] });
    server.putList('there/bare.json', { resources: [{ path: 'config.json', bytes: 1, hash: 'd41d8cd9' }] });
    const plain = { ...entry, name: 'config.json', path: `${server.http}/there/config.json` };
    server.putList('there/plain.json', { resources: [plain] });
    server.put('lost', files);
    server.remove(`lost/${weights}`);
    for (const name of ['longer', 'shorter']) server.put(name, files);
    server.write(`longer/${weights}`, Buffer.concat([server.read(`there/${weights}`), Buffer.alloc(1)]));
    server.write(`shorter/${weights}`, server.read(`there/${weights}`).subarray(0, -1));
  });

  test('a file of another digest, once it was fetched again', async () => {
    server.put('corrupt', files);
    const content = server.read(`corrupt/${weights}`);
    content.writeUInt8(content.readUInt8(content.length - 1) ^ 1, content.length - 1);
    server.write(`corrupt/${weights}`, content);
    await expect(pull(`${server.https}/corrupt/datapackage.json`)).rejects.toThrow('it is fetched again');
    const failure = await failureOf(pull(`${server.https}/corrupt/datapackage.json`));
    expect(failure.reason).toBe('CheckpointCorrupt');
  });
});

test('a server that is busy is asked again', async () => {
  const { path } = server.put('soon', files);
  const recorder = new Recorder();
  const pulling = pull(`${server.https}/busy/${path}`, null, recorder).catch((error: unknown) => error);
  while (recorder.outages.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  pulls.abort();
  await pulling;
  expect(recorder.outages[0]).toContain('503');
});
