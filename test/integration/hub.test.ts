// Checkpoints of a hub of models: pulled, resumed, pinned to a commit, and refused by what the hub says.

import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { HubServer, hubToken } from './hub-server.js';
import { failureOf, pullFrom, Recorder } from './pull-world.js';

jest.setTimeout(60_000);

let hub: HubServer;
let dir: string;
let pulls: AbortController;
beforeAll(async () => {
  hub = await HubServer.start();
});
afterAll(() => hub.stop());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-hub-'));
  pulls = new AbortController();
});
afterEach(() => {
  pulls.abort();
  rmSync(dir, { recursive: true, force: true });
});

const pull = (uri: string, token: string | null = null, observer = new Recorder()) =>
  pullFrom(
    { hub: { endpoint: hub.endpoint, token, caCertificates: [] } },
    {
      ...{ uri, weightsDir: dir, observer, signal: pulls.signal },
    },
  );

const weights = 'model-00001-of-00002.safetensors';
const files = llamaCheckpoint();

describe('a repository', () => {
  test('is pulled at its main branch, its weights from storage that sees no token', async () => {
    hub.push('org/open', files, 'private');
    const folder = await pull('hf://org/open', hubToken);
    for (const [name, content] of Object.entries(files))
      expect(readFileSync(join(folder, name)).equals(Buffer.from(content))).toBe(true);
  });

  test('is pulled at a tag and at a commit, whatever main is', async () => {
    const commit = hub.push('org/tagged', { ...files, 'generation_config.json': '{"top_k":1}' });
    hub.tag('org/tagged', 'v1/rc', commit);
    hub.push('org/tagged', { ...files, 'generation_config.json': '{"top_k":2}' });
    const read = async (at: string): Promise<string> =>
      readFileSync(join(await pull(`hf://org/tagged${at}`), 'generation_config.json'), 'utf8');
    expect(await read('@v1%2Frc')).toBe('{"top_k":1}');
    expect(await read(`@${commit}`)).toBe('{"top_k":1}');
    expect(await read('')).toBe('{"top_k":2}');
  });

  test('has a checkpoint in a folder of it, and is listed page by page', async () => {
    const below = Object.entries(files).map(([name, content]) => [`fp8/${name}`, content] as const);
    const modules = { 'fp8/2_Dense/config.json': '{}', 'fp8/2_Dense/model.safetensors': 'dense' };
    hub.push('org/nested', { 'README.md': 'x', ...Object.fromEntries(below), ...modules });
    hub.pageEntries = 2;
    const folder = await pull('hf://org/nested/fp8');
    hub.pageEntries = 1_000;
    expect(readFileSync(join(folder, '2_Dense.model.safetensors'), 'utf8')).toBe('dense');
    expect(readFileSync(join(folder, weights)).equals(Buffer.from(files[weights] ?? ''))).toBe(true);
  });

  test('is asked once where a file is, unless storage refuses', async () => {
    hub.push('org/asked', files);
    const before = hub.requests.length;
    await pull('hf://org/asked');
    const resolved = hub.requests.slice(before).filter((each) => each.endsWith(weights));
    expect(resolved).toHaveLength(1);
  });

  test('is pulled from a mirror that names contents in its own way', async () => {
    hub.push('org/mirrored', files);
    hub.etags = 'own';
    const folder = await pull('hf://org/mirrored').finally(() => (hub.etags = 'git'));
    expect(readFileSync(join(folder, weights)).equals(Buffer.from(files[weights] ?? ''))).toBe(true);
  });

  test('is pulled through storage that fails now and then', async () => {
    hub.push('org/shaky', files);
    hub.storageFailures.push(503, 403, 500);
    const recorder = new Recorder();
    await pull('hf://org/shaky', null, recorder);
    expect(recorder.outages.length).toBeGreaterThan(0);
    expect(recorder.outages[0]).toContain('Storage503');
  });

  test('stays at the commit that it was listed at when another is pushed meanwhile', async () => {
    hub.push('org/moving', { ...files, 'generation_config.json': '{"top_k":1}' });
    const recorder = new Recorder();
    recorder.begin = () =>
      void hub.push('org/moving', { ...llamaCheckpoint(), 'generation_config.json': '{"top_k":2}' });
    const folder = await pull('hf://org/moving', null, recorder);
    expect(readFileSync(join(folder, 'generation_config.json'), 'utf8')).toBe('{"top_k":1}');
  });
});

describe('refused is', () => {
  test.each([
    ['one that is not there', 'hf://org/nowhere', null, 'RepositoryNotFound', 'token'],
    ['one that is not there, with a token', 'hf://org/nowhere', hubToken, 'RepositoryNotFound', 'token'],
    ['a private one without its token', 'hf://org/secret', null, 'RepositoryNotFound', 'token'],
    ['a revision that is not there', 'hf://org/there@v9', null, 'RepositoryNotFound', 'branch'],
    ['a folder that is not there', 'hf://org/there/fp8', null, 'ModelNotFound', 'fp8'],
    ['a gated one whose terms nobody accepted', 'hf://org/gated', null, 'HubAccessDenied', 'terms'],
    ['a repository without a checkpoint', 'hf://org/empty', null, 'ModelNotFound', 'config.json'],
    ['a name that climbs', 'hf://org/../etc', null, 'InvalidEngineConfig', 'hf://OWNER/NAME'],
  ])('%s', async (_, uri, token, reason, words) => {
    hub.push('org/secret', files, 'private');
    hub.push('org/there', files);
    hub.push('org/gated', files, 'gated');
    hub.push('org/empty', { 'README.md': 'nothing' });
    const failure = await failureOf(pull(uri, token));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(words);
  });

  test.each([
    ['of storage', weights],
    ['of git', 'tokenizer.json'],
  ])('a file %s whose content is another than the hub lists', async (_, name) => {
    hub.push('org/corrupt', files);
    hub.corrupt = name;
    try {
      // Once it may have been broken on the way.
      await expect(pull('hf://org/corrupt')).rejects.toThrow('it is fetched again');
      expect((await failureOf(pull('hf://org/corrupt'))).reason).toBe('CheckpointCorrupt');
    } finally {
      hub.corrupt = null;
    }
  });
});
