// Checkpoints in a real registry: pulled from layers of each kind, by tag and by digest, with credentials as registries ask for
// them, and refused by what the registry says.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { tarArchive } from '../builders/tar-archive.js';
import { failureOf, largeCheckpoint, pullFrom, Recorder } from './pull-world.js';
import { RegistryFront } from './registry-front.js';
import {
  digestOf,
  dockerConfig,
  rawLayers,
  registryUser,
  RegistryServer,
  type LayerToPush,
} from './registry-server.js';
import { TokenServer } from './token-server.js';

jest.setTimeout(180_000);

let registry: RegistryServer;
let dir: string;
let pulls: AbortController;
beforeAll(async () => {
  registry = await RegistryServer.start();
});
afterAll(() => registry.stop());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-oci-'));
  pulls = new AbortController();
});
afterEach(() => {
  pulls.abort();
  rmSync(dir, { recursive: true, force: true });
});

const pull = (uri: string, config: string | null = null, observer = new Recorder()) =>
  pullFrom(
    { oci: { plainHttp: true, dockerConfig: config, caCertificates: [] } },
    {
      ...{ uri, weightsDir: join(dir, 'weights'), observer, signal: pulls.signal },
    },
  );

type Files = Readonly<Record<string, string | Uint8Array>>;
const files = llamaCheckpoint();
const weights = 'model-00001-of-00002.safetensors';

function expectFiles(folder: string, expected: Files = files): void {
  for (const [name, content] of Object.entries(expected))
    expect(readFileSync(join(folder, name)).equals(Buffer.from(content))).toBe(true);
}

const archive = (format: string, content: Files): Buffer =>
  tarArchive(join(dir, `archive-${format}`), format, content);

const tarLayer = (content: Buffer, kind = 'tar'): LayerToPush => ({
  mediaType: `application/vnd.cncf.model.weight.v1.${kind}`,
  content,
});

const tooDeep = `${'a-long-name-of-a-folder/'.repeat(8)}notes.txt`;

describe('an artifact', () => {
  test('of files, by ModelPack, is pulled by its tag', async () => {
    await registry.push('org/raw', 'v1', rawLayers(files));
    expectFiles(await pull(`oci://${registry.host}/org/raw:v1`));
  });

  test('of files as ORAS pushes them is pulled by its latest tag', async () => {
    const layers = rawLayers(files).map(({ content, annotations }) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar',
      content,
      annotations: { 'org.opencontainers.image.title': annotations?.['org.cncf.model.filepath'] ?? '' },
    }));
    await registry.push('org/oras', 'latest', layers);
    expectFiles(await pull(`oci://${registry.host}/org/oras`));
  });

  test.each(['ustar', 'pax', 'gnu', 'v7'])('of one archive, by tar in its format %s', async (format) => {
    const more = format === 'pax' || format === 'gnu' ? { [tooDeep]: 'deep' } : {};
    await registry.push(`org/${format}`, 'v1', [tarLayer(archive(format, { ...more, ...files }))]);
    expectFiles(await pull(`oci://${registry.host}/org/${format}:v1`));
  });

  test('of archives of one file each is compared with their digests', async () => {
    const layers = Object.entries(files).map(([name, content]) =>
      tarLayer(archive('pax', { [name]: content })),
    );
    await registry.push('org/archives', 'v1', layers);
    expectFiles(await pull(`oci://${registry.host}/org/archives:v1`));
    await registry.push('org/archives', 'damaged', layers);
    const at = Object.keys(files).indexOf(weights);
    damage(digestOf(layers[at]?.content ?? new Uint8Array()));
    await expect(pull(`oci://${registry.host}/org/archives:damaged`)).rejects.toThrow('it is fetched again');
  });

  const compress = { gzip: gzipSync, zstd: zstdCompressSync };
  test.each(['gzip', 'zstd'] as const)(
    'of archives by %s is pulled, and compared with their digests',
    async (by) => {
      const large = largeCheckpoint(256);
      const alone = Object.entries(large).map(([name, content]) => ({
        ...tarLayer(compress[by](archive('pax', { [name]: content })), `tar+${by}`),
        annotations: { 'org.cncf.model.filepath': name },
      }));
      await registry.push(`org/${by}`, 'files', alone);
      await registry.push(`org/${by}`, 'whole', [tarLayer(compress[by](archive('gnu', large)), `tar+${by}`)]);
      for (const tag of ['files', 'whole'])
        expectFiles(await pull(`oci://${registry.host}/org/${by}:${tag}`), large);
      damage(digestOf(alone[Object.keys(large).indexOf('model.safetensors')]?.content ?? new Uint8Array()));
      const failure = await failureOf(pull(`oci://${registry.host}/org/${by}:files`));
      expect(failure.reason).toBe('CheckpointCorrupt');
    },
  );

  test('has a checkpoint in a folder of it, with the modules of an embedder', async () => {
    const inFolder = Object.fromEntries(Object.entries(files).map(([name, each]) => [`bf16/${name}`, each]));
    const below = {
      '1_Pooling/config.json': '{}',
      '2_Dense/config.json': '{ }',
      '2_Dense/model.safetensors': 'x',
    };
    const modules = Object.fromEntries(Object.entries(below).map(([name, each]) => [`bf16/${name}`, each]));
    const content = { 'README.md': 'x', ...inFolder, ...modules, 'bf16/onnx/config.json': '{}' };
    await registry.push('org/nested', 'v1', [tarLayer(archive('pax', content))]);
    const folder = await pull(`oci://${registry.host}/org/nested:v1/bf16`);
    const flat = Object.entries(below).map(([name, each]) => [name.replace('/', '.'), each] as const);
    expectFiles(folder, { ...files, ...Object.fromEntries(flat) });
  });

  test('is pulled by its digest, wherever its tag has gone', async () => {
    const first = { ...files, 'generation_config.json': '{"top_k":1}' };
    const digest = await registry.push('org/moved', 'v1', rawLayers(first));
    await registry.push('org/moved', 'v1', rawLayers({ ...files, 'generation_config.json': '{"top_k":2}' }));
    expectFiles(await pull(`oci://${registry.host}/org/moved@${digest}`), first);
    const moved = await pull(`oci://${registry.host}/org/moved:v1`);
    expect(readFileSync(join(moved, 'generation_config.json'), 'utf8')).toBe('{"top_k":2}');
  });

  test('stays at the digest at which its tag was listed when another is pushed meanwhile', async () => {
    const first = { ...files, 'generation_config.json': '{"top_k":1}' };
    await registry.push('org/moving', 'v1', rawLayers(first));
    const recorder = new Recorder();
    recorder.begin = () => void registry.push('org/moving', 'v1', rawLayers(files));
    expectFiles(await pull(`oci://${registry.host}/org/moving:v1`, null, recorder), first);
  });
});

describe('behind storage on another host', () => {
  let front: RegistryFront;
  let own: RegistryServer;
  beforeAll(async () => {
    own = await RegistryServer.start('password');
    front = await RegistryFront.start(own.host, registryUser);
  });
  afterAll(async () => {
    front.stop();
    await own.stop();
  });

  test('credentials stay with the registry, which is asked once for each blob', async () => {
    await own.push('org/stored', 'v1', rawLayers(files));
    expectFiles(await pull(`oci://${front.host}/org/stored:v1`, dockerConfig(front.host)));
    expect(front.stored.length).toBeGreaterThan(0);
    expect(front.stored.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    expect(front.asked).toBe(Object.keys(files).length);
  });

  test('a pull continues where a connection broke, and through failures', async () => {
    const large = largeCheckpoint(4_096);
    await own.push('org/broken', 'v1', rawLayers(large));
    front.failures.push(503, 403);
    front.cuts = 2;
    const recorder = new Recorder();
    expectFiles(await pull(`oci://${front.host}/org/broken:v1`, dockerConfig(front.host), recorder), large);
    expect(recorder.outages.some((each) => each.includes('Storage503'))).toBe(true);
    expect(front.cuts).toBe(0);
  });

  test('a compressed layer whose connection broke is read again from its start', async () => {
    const large = largeCheckpoint(1_024);
    await own.push('org/packed', 'v1', [tarLayer(gzipSync(archive('gnu', large)), 'tar+gzip')]);
    front.cuts = 1;
    const recorder = new Recorder();
    expectFiles(await pull(`oci://${front.host}/org/packed:v1`, dockerConfig(front.host), recorder), large);
    expect(recorder.outages.length).toBeGreaterThan(0);
    expect(front.cuts).toBe(0);
  });
});

describe('behind a token server', () => {
  let tokens: TokenServer;
  let own: RegistryServer;
  beforeAll(async () => {
    tokens = await TokenServer.start(registryUser);
    own = await RegistryServer.start(tokens);
    await own.push('private/model', 'v1', rawLayers(files));
    await own.push('public/model', 'v1', rawLayers(files));
  });
  afterAll(async () => {
    tokens.stop();
    await own.stop();
  });

  test('a password gives one token, which may pull the one repository', async () => {
    tokens.asked.length = 0;
    expectFiles(await pull(`oci://${own.host}/private/model:v1`, dockerConfig(own.host)));
    expect(tokens.asked).toEqual([{ scope: 'repository:private/model:pull', isNamed: true }]);
  });

  test('what is public is pulled by nobody', async () => {
    expectFiles(await pull(`oci://${own.host}/public/model:v1`));
  });

  test.each([
    ['nobody', null],
    ['a wrong password', { username: 'tester', password: 'wrong' }],
  ])('what is private is refused to %s', async (_, login) => {
    const config = login === null ? null : dockerConfig(own.host, login);
    const failure = await failureOf(pull(`oci://${own.host}/private/model:v1`, config));
    expect(failure.reason).toBe('RegistryAccessDenied');
  });
});

/** Changes the byte in the middle of a blob, where a checkpoint has weights. */
function damage(digest: string): void {
  const path = registry.blobFile(digest);
  const content = readFileSync(path);
  const middle = Math.floor(content.length / 2);
  content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
  writeFileSync(path, content);
}

describe('refused is', () => {
  test.each<[string, string, string, string]>([
    ['a repository that is not there', 'org/nowhere:v1', 'ArtifactNotFound', 'MANIFEST_UNKNOWN'],
    ['a tag that is not there', 'org/there:v9', 'ArtifactNotFound', 'tag or a digest'],
    ['a digest that is not there', `org/there@${digestOf(Buffer.from('x'))}`, 'ArtifactNotFound', 'digest'],
    ['a folder that is not there', 'org/there:v1/fp8', 'ModelNotFound', 'fp8'],
    ['an artifact without a checkpoint', 'org/empty:v1', 'ModelNotFound', 'config.json'],
    ['an index of images', 'org/index:v1', 'ArtifactUnsupported', 'one manifest of the index'],
    ['a compressed layer that is none', 'org/packed:v1', 'CheckpointCorrupt', 'gzip archive'],
    ['an archive that is none', 'org/noise:v1', 'CheckpointCorrupt', 'tar archive'],
    ['a name that climbs', 'org/there:v1/../etc', 'InvalidEngineConfig', 'oci://REGISTRY'],
  ])('%s', async (_, place, reason, words) => {
    const failure = await failureOf(pull(`oci://${registry.host}/${place}`));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(words);
  });

  beforeAll(async () => {
    await registry.push('org/there', 'v1', rawLayers(files));
    await registry.push('org/empty', 'v1', rawLayers({ 'README.md': 'nothing' }));
    await registry.push('org/packed', 'v1', [tarLayer(Buffer.alloc(2_048, 1), 'tar+gzip')]);
    await registry.push('org/noise', 'v1', [tarLayer(Buffer.alloc(2_048, 1))]);
    const digest = await registry.push('org/index', 'amd64', rawLayers(files));
    const index = 'application/vnd.oci.image.index.v1+json';
    const manifest = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1 };
    await registry.pushManifest('org/index', 'v1', {
      ...{ schemaVersion: 2, mediaType: index },
      manifests: [{ ...manifest, platform: { os: 'linux', architecture: 'amd64' } }],
    });
  });

  test('a layer that the registry has lost', async () => {
    await registry.push('org/lost', 'v1', rawLayers({ ...files, 'generation_config.json': '{"top_k":9}' }));
    rmSync(registry.blobFile(digestOf(Buffer.from('{"top_k":9}'))));
    const failure = await failureOf(pull(`oci://${registry.host}/org/lost:v1`));
    expect(failure.reason).toBe('ArtifactNotFound');
    expect(failure.message).toContain('push the artifact again');
  });

  test('a file whose content is another than its digest says', async () => {
    const content = largeCheckpoint(64);
    await registry.push('org/corrupt', 'v1', rawLayers(content));
    damage(digestOf(Buffer.from(content['model.safetensors'] ?? '')));
    // Once it may have been broken on the way.
    await expect(pull(`oci://${registry.host}/org/corrupt:v1`)).rejects.toThrow('it is fetched again');
    const failure = await failureOf(pull(`oci://${registry.host}/org/corrupt:v1`));
    expect(failure.reason).toBe('CheckpointCorrupt');
  });

  test.each([
    ['nobody', null],
    ['a wrong password', { username: 'tester', password: 'wrong' }],
  ])('%s, before a password', async (_, login) => {
    const own = await RegistryServer.start('password');
    const config = login === null ? null : dockerConfig(own.host, login);
    const failure = await failureOf(pull(`oci://${own.host}/org/any:v1`, config)).finally(() => own.stop());
    expect(failure.reason).toBe('RegistryAccessDenied');
    if (login === null) expect(failure.message).toContain('no credentials were given');
  });
});
