// Checkpoints of hubs of models, registries and lists of files, from the manifest on: judged before a pod exists, with the credentials that the
// pod will have.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds, labels, type FailureReason } from '@llmservice/crds';
import { parseAllDocuments } from 'yaml';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { tarArchive } from '../builders/tar-archive.js';
import { FileServer, listToken } from './file-server.js';
import { HubServer, hubToken } from './hub-server.js';
import { World } from './operator-world.js';
import { RegistryFront } from './registry-front.js';
import { dockerConfig, rawLayers, registryUser, RegistryServer } from './registry-server.js';
import { TokenServer } from './token-server.js';

jest.setTimeout(180_000);

let world: World;
let hub: HubServer;

beforeAll(async () => {
  hub = await HubServer.start();
  world = await World.start();
  world.startOperator();
}, 180_000);

afterAll(async () => {
  await world.stop();
  hub.stop();
});

interface PodSpec {
  readonly containers: readonly { readonly env: readonly object[] }[];
  readonly volumes: readonly object[];
}
interface Workload {
  readonly template: { readonly spec: PodSpec };
}

const rest = { resources: { limits: { memory: '1Gi' } } };

async function makeToken(name: string, data: Record<string, string>, purpose = 'hub'): Promise<void> {
  const metadata = { name, namespace: 'default', labels: { [labels.secretFor]: purpose } };
  await world.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data });
}

test('a private repository is judged by its token, which pods get from the Secret', async () => {
  const commit = hub.push('org/private', llamaCheckpoint(), 'private');
  await makeToken('hub-token', { HF_TOKEN: hubToken });
  const access = { endpoint: hub.endpoint, tokenSecretRef: { name: 'hub-token' } };
  await world.createService('private', {
    model: { uri: `hf://org/private@${commit}`, hub: access, cache: { kind: 'pvc', claimName: 'weights' } },
    ...rest,
  });
  await world.condition('private', 'ModelResolved', 'True');
  const { spec } = await world.deployment('private');
  const [container] = (spec as Workload).template.spec.containers;
  expect(container?.env).toContainEqual({
    name: 'HF_TOKEN',
    valueFrom: { secretKeyRef: { name: 'hub-token', key: 'HF_TOKEN' } },
  });
});

test.each<[string, string, object, FailureReason, string]>([
  ['no-token', 'hf://org/hidden', {}, 'RepositoryNotFound', 'token'],
  ['no-terms', 'hf://org/terms', {}, 'HubAccessDenied', 'terms'],
  ['no-revision', 'hf://org/here@v2', {}, 'RepositoryNotFound', 'branch'],
  ['no-config', 'hf://org/here/elsewhere', {}, 'ModelNotFound', 'elsewhere'],
  ['no-secret', 'hf://org/here', { tokenSecretRef: { name: 'nowhere' } }, 'HubAccessDenied', 'nowhere'],
  [
    'no-label',
    'hf://org/here',
    { tokenSecretRef: { name: 'unlabelled' } },
    'SecretNotAllowed',
    'secret-for=hub',
  ],
  ['no-key', 'hf://org/here', { tokenSecretRef: { name: 'keyless' } }, 'HubAccessDenied', 'HF_TOKEN'],
])('%s is refused, with no Deployment ever', async (name, uri, access, reason, part) => {
  hub.push('org/hidden', llamaCheckpoint(), 'private');
  hub.push('org/terms', llamaCheckpoint(), 'gated');
  hub.push('org/here', llamaCheckpoint());
  if (name === 'no-label') await makeToken('unlabelled', { HF_TOKEN: hubToken }, 's3');
  if (name === 'no-key') await makeToken('keyless', { token: hubToken });
  await world.createService(name, { model: { uri, hub: { endpoint: hub.endpoint, ...access } }, ...rest });
  const { message } = await world.condition(name, 'ModelResolved', 'False', reason);
  expect(message).toContain(part);
  expect(message).toContain(failureKinds[reason].remedy);
  expect(await world.get(resources.deployments, name)).toBeNull();
});

test('a hub that leads to an address of the cluster’s own is followed no further', async () => {
  hub.push('org/led', llamaCheckpoint());
  hub.elsewhere = 'http://169.254.169.254/latest/meta-data';
  await world.createService('led', {
    model: { uri: 'hf://org/led', hub: { endpoint: hub.endpoint } },
    ...rest,
  });
  const { message } = await world.condition('led', 'ModelResolved', 'False', 'InvalidSpec');
  hub.elsewhere = null;
  expect(message).toContain('spec.model.hub.endpoint leads to 169.254.169.254');
});

test('a hub inside of the cluster is connected to only where the administrator allows it', async () => {
  await world.createService('inside', {
    model: { uri: 'hf://org/here', hub: { endpoint: 'http://169.254.169.254' } },
    ...rest,
  });
  const { message } = await world.condition('inside', 'ModelResolved', 'False', 'InvalidSpec');
  expect(message).toContain('spec.model.hub.endpoint leads to 169.254.169.254');
});

describe('a registry behind a token server', () => {
  let tokens: TokenServer;
  let registry: RegistryServer;
  beforeAll(async () => {
    tokens = await TokenServer.start(registryUser);
    registry = await RegistryServer.start(tokens);
    await registry.push('private/model', 'v1', rawLayers(llamaCheckpoint()));
    const metadata = { name: 'registry', namespace: 'default', labels: { [labels.secretFor]: 'oci' } };
    await world.create({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/dockerconfigjson', metadata },
      stringData: { '.dockerconfigjson': dockerConfig(registry.host) },
    });
  });
  afterAll(async () => {
    tokens.stop();
    await registry.stop();
  });

  const access = { plainHttp: true, credentialsSecretRef: { name: 'registry' } };

  test('is asked with the credentials of the Secret, which pods get from it', async () => {
    await world.createService('artifact', {
      model: { uri: `oci://${registry.host}/private/model:v1`, oci: access },
      ...rest,
    });
    await world.condition('artifact', 'ModelResolved', 'True');
    const { spec } = await world.deployment('artifact');
    const [container] = (spec as Workload).template.spec.containers;
    expect(container?.env).toContainEqual({
      name: 'DOCKER_AUTH_CONFIG',
      valueFrom: { secretKeyRef: { name: 'registry', key: '.dockerconfigjson' } },
    });
  });

  test('has compressed artifacts judged by what their headers say', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-packed-'));
    const content = zstdCompressSync(tarArchive(folder, 'pax', llamaCheckpoint()));
    rmSync(folder, { recursive: true });
    const mediaType = 'application/vnd.cncf.model.weight.v1.tar+zstd';
    await registry.push('public/packed', 'v1', [{ mediaType, content }]);
    await world.createService('packed', {
      model: { uri: `oci://${registry.host}/public/packed:v1`, oci: access },
      ...rest,
    });
    await world.condition('packed', 'ModelResolved', 'True');
  });

  test.each<[string, string, object, FailureReason, string]>([
    ['oci-nobody', 'private/model:v1', { plainHttp: true }, 'RegistryAccessDenied', 'no credentials'],
    ['oci-no-tag', 'private/model:v9', access, 'ArtifactNotFound', 'tag or a digest'],
    ['oci-no-config', 'private/model:v1/fp8', access, 'ModelNotFound', 'config.json'],
    [
      'oci-no-label',
      'private/model:v1',
      { plainHttp: true, credentialsSecretRef: { name: 'keyless' } },
      'SecretNotAllowed',
      'secret-for=oci',
    ],
  ])('%s is refused', async (name, place, oci, reason, part) => {
    await world.createService(name, { model: { uri: `oci://${registry.host}/${place}`, oci }, ...rest });
    const { message } = await world.condition(name, 'ModelResolved', 'False', reason);
    expect(message).toContain(part);
  });

  test('is mounted as an image by the digest that was judged, once the API server has such volumes', async () => {
    const digest = await registry.push('private/mounted', 'v1', rawLayers(llamaCheckpoint()));
    const image = `${registry.host}/private/mounted`;
    const oci = { ...access, delivery: 'imageVolume' } as const;
    await world.createService('mounted', { model: { uri: `oci://${image}:v1`, oci }, ...rest });
    const { message } = await world.condition('mounted', 'Stalled', 'True', 'ImageVolumesNotServed');
    expect(message).toContain('set spec.model.oci.delivery to pull');
    expect(await world.get(resources.deployments, 'mounted')).toBeNull();
    // As Kubernetes has them by default from 1.35 on.
    await world.api.restart('SIGTERM', ['--feature-gates', 'ImageVolume=true']);
    const again = { metadata: { annotations: { 'llmservice.dev/retry': 'upgraded' } } };
    await world.patch(resources.llmServices, 'mounted', again);
    const { spec } = await world.deployment('mounted');
    const volume = { reference: `${image}@${digest}`, pullPolicy: 'IfNotPresent' };
    expect((spec as Workload).template.spec.volumes).toContainEqual({ name: 'checkpoint', image: volume });
  });

  test('on an address inside of the cluster is connected to only where the administrator allows it', async () => {
    await world.createService('oci-inside', {
      model: { uri: 'oci://169.254.169.254/private/model:v1', oci: { plainHttp: true } },
      ...rest,
    });
    const { message } = await world.condition('oci-inside', 'ModelResolved', 'False', 'InvalidSpec');
    expect(message).toContain('spec.model.uri leads to 169.254.169.254');
  });

  test('that leads to such an address is followed no further', async () => {
    await registry.push('public/led', 'v1', rawLayers(llamaCheckpoint()));
    const front = await RegistryFront.start(registry.host, registryUser);
    front.elsewhere = 'http://169.254.169.254/latest/meta-data';
    try {
      await world.createService('oci-led', {
        model: { uri: `oci://${front.host}/public/led:v1`, oci: { plainHttp: true } },
        ...rest,
      });
      const { message } = await world.condition('oci-led', 'ModelResolved', 'False', 'InvalidSpec');
      expect(message).toContain('spec.model.uri leads to 169.254.169.254');
    } finally {
      front.stop();
    }
  });
});

describe('a list of files', () => {
  let files: FileServer;
  beforeAll(async () => {
    files = await FileServer.start();
    const metadata = { name: 'files-ca', namespace: 'default' };
    await world.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'ca.crt': files.certificate },
    });
    await makeToken('list-token', { MODEL_LIST_TOKEN: listToken }, 'list');
    await makeToken('of-lists-no-more', { MODEL_LIST_TOKEN: listToken }, 'env');
    files.put('model', llamaCheckpoint());
    const entry = { path: 'config.json', bytes: 1, hash: `sha256:${'0'.repeat(64)}` };
    const inside = { ...entry, name: 'tokenizer.json', path: 'https://169.254.169.254/latest/meta-data' };
    files.putList('model/inside.json', { resources: [entry, inside] });
    files.putList('model/climbs.json', { resources: [entry, { ...entry, path: '../config.json' }] });
  });
  afterAll(() => files.stop());

  const trust = { caConfigMapRef: { name: 'files-ca' } };

  test('is asked with the token of the Secret, which pods get from it', async () => {
    await world.createService('listed', {
      model: {
        uri: `${files.https}/private/model/datapackage.json`,
        list: { ...trust, tokenSecretRef: { name: 'list-token' } },
      },
      ...rest,
    });
    await world.condition('listed', 'ModelResolved', 'True');
    const { spec } = await world.deployment('listed');
    const [container] = (spec as Workload).template.spec.containers;
    expect(container?.env).toContainEqual({
      name: 'MODEL_LIST_TOKEN',
      valueFrom: { secretKeyRef: { name: 'list-token', key: 'MODEL_LIST_TOKEN' } },
    });
  });

  test.each<[string, string, object, FailureReason, string]>([
    ['list-absent', 'nowhere/datapackage.json', trust, 'ListNotFound', 'ListAbsent'],
    ['list-nobody', 'private/model/datapackage.json', trust, 'ListAccessDenied', '401'],
    ['list-untrusted', 'model/datapackage.json', {}, 'ListCertificateUntrusted', 'UNABLE_TO_VERIFY'],
    ['list-climbs', 'model/climbs.json', trust, 'ListUnsupported', 'resources[1].path must lie below'],
    ['list-whole', 'whole/model/datapackage.json', trust, 'ListUnsupported', 'gives all of it for a part'],
    ['list-inside', 'model/inside.json', trust, 'InvalidSpec', 'spec.model.uri leads to 169.254.169.254'],
    ['list-led', 'metadata/files.json', trust, 'InvalidSpec', 'spec.model.uri leads to 169.254.169.254'],
    [
      'list-digest',
      `model/datapackage.json@sha256:${'0'.repeat(64)}`,
      trust,
      'CheckpointCorrupt',
      'name its new digest',
    ],
    [
      'list-no-label',
      'model/datapackage.json',
      { tokenSecretRef: { name: 'of-lists-no-more' } },
      'SecretNotAllowed',
      'secret-for=list',
    ],
  ])('%s is refused', async (name, place, list, reason, part) => {
    await world.createService(name, { model: { uri: `${files.https}/${place}`, list }, ...rest });
    const { message } = await world.condition(name, 'ModelResolved', 'False', reason);
    expect(message).toContain(part);
  });
});

test('the API server takes the sample of each place', async () => {
  const text = readFileSync(new URL('../../deploy/samples/sources.yaml', import.meta.url), 'utf8');
  const samples = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  expect(samples.length).toBeGreaterThan(1);
  for (const sample of samples)
    await world.create({ ...sample, metadata: { ...sample.metadata, namespace: 'default' } });
});
