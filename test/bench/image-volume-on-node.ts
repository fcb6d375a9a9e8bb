// A model from an image that a real kubelet mounts: Kubernetes with the feature gate ImageVolume, containerd 2.1, and a real
// registry on the node's network. The pod pulls nothing, and answers from the mounted files.
// usage: tsx test/bench/image-volume-on-node.ts, as root, once deploy/local/demo.sh operator is done; three minutes. The
// cluster has image volumes from then on.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tarArchive } from '../builders/tar-archive.js';
import { demoModel } from '../e2e/bucket.js';
import { apply, kubeconfig, kubectl, nodeAddress, repository } from '../e2e/cluster.js';
import { call, chatBody, chatPath } from '../e2e/gateway.js';
import { makeNamespace, namespace, podsOf, remove, serviceOf, waitReady } from '../e2e/service.js';
import { digestOf, RegistryServer } from '../integration/registry-server.js';
import { eventually } from '../processes.js';

const say = (words: string): void => void process.stdout.write(`${words}\n`);
const state = dirname(kubeconfig);
const host = 'mounted.e2e.example';
const system = ['-n', 'llmservice-system'];

/** An image of one layer, which has the model under /models. @returns its digest */
async function pushImage(registry: RegistryServer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-image-'));
  const files = Object.entries(demoModel()).map(([name, content]) => [`models/${name}`, content]);
  const tar = tarArchive(folder, 'ustar', Object.fromEntries(files) as Record<string, Uint8Array>);
  rmSync(folder, { recursive: true });
  const config = Buffer.from(
    JSON.stringify({
      ...{ architecture: 'amd64', os: 'linux', config: {} },
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    }),
  );
  const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', content: gzipSync(tar) };
  return registry.push('models/demo', 'v1', [layer], {
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: await registry.pushBlob('models/demo', config),
      size: config.byteLength,
    },
  });
}

interface MountedPod {
  readonly spec: { readonly volumes: readonly { readonly image?: { readonly reference: string } }[] };
}

execFileSync(join(repository, 'deploy/local/cluster.sh'), ['image-volumes'], { stdio: 'inherit' });
const inNode = ['nsenter', '-t', readFileSync(join(state, 'node.pid'), 'utf8').trim(), '-n'];
const registry = await RegistryServer.start('none', { address: nodeAddress, enter: inNode });
try {
  const digest = await pushImage(registry);
  // For the kubelet; the operator takes plainHttp from the service.
  const settings = join(state, 'registries', registry.host);
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'hosts.toml'), `server = "http://${registry.host}"\n`);
  await kubectl([
    ...['set', 'env', 'deployment/llmservice-operator', ...system],
    `ALLOW_ENDPOINT=s3.storage.svc.cluster.local,${nodeAddress}`,
  ]);
  await kubectl(['rollout', 'status', 'deployment/llmservice-operator', ...system, '--timeout=120s']);
  await makeNamespace();
  const uri = `oci://${registry.host}/models/demo:v1/models`;
  const made = serviceOf('mounted', { uri, host }) as { spec: object };
  const oci = { plainHttp: true, delivery: 'imageVolume' };
  await apply({ ...made, spec: { ...made.spec, model: { uri, name: 'demo', oci } } });
  await waitReady('mounted');

  const [pod] = (await podsOf('mounted')) as unknown as readonly (MountedPod & {
    metadata: { name: string };
  })[];
  assert.ok(pod !== undefined);
  const references = pod.spec.volumes.flatMap(({ image }) => image?.reference ?? []);
  assert.deepEqual(references, [`${registry.host}/models/demo@${digest}`]);
  const body = chatBody('What is the capital of France?');
  const answer = await eventually('an answer', async () => {
    const { status, body: text } = await call(host, chatPath, body);
    return status === 200 ? text : undefined;
  });
  assert.match(answer, /Paris/);
  const logs = await kubectl(['logs', pod.metadata.name, '-n', namespace]);
  assert.match(logs, /"loaded":0,"message":"checkpoint complete"/, 'it pulled files');
  say(`a pod answers from the image that the kubelet mounted, and pulled nothing: ${references.join()}`);
  await remove('mounted');
} finally {
  await registry.stop();
}
