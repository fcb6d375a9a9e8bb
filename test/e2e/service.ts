// LlmService objects and their pods, as the tests apply and observe them.

import type { Condition, LlmServiceStatus } from '@llmservice/crds';
import { eventually } from '../processes.js';
import { apply, getJson, kubectl, s3InCluster } from './cluster.js';
import { s3Keys } from './bucket.js';

export const namespace = 'e2e';

interface Service {
  readonly metadata: { readonly generation: number };
  readonly status?: LlmServiceStatus;
}

export interface PodState {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
}

export const secret = (name: string, secretKey: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { 'llmservice.dev/secret-for': 's3' } },
  stringData: { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: secretKey },
});

/** The namespace of the tests, with a Secret `s3` that is right and one, `wrong`, that is not. */
export async function makeNamespace(): Promise<void> {
  await apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    secret('s3', s3Keys.secretAccessKey),
    secret('wrong', 'not-the-key'),
  );
}

export interface ServiceOptions {
  readonly uri: string;
  readonly credentials?: string;
  readonly engine?: object;
  readonly host?: string;
  readonly resources?: object;
}

const smallResources = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } };

export const serviceOf = (
  name: string,
  { uri, credentials = 's3', engine, host, resources = smallResources }: ServiceOptions,
): object => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name, namespace },
  spec: {
    model: { uri, name: 'demo', s3: { endpoint: s3InCluster, credentialsSecretRef: { name: credentials } } },
    accelerator: { resourceName: 'none' },
    resources,
    engine: { maxNumSeqs: 16, ...engine },
    ...(host === undefined ? {} : { routing: { host } }),
  },
});

export async function statusOf(name: string): Promise<LlmServiceStatus | null> {
  const service = await getJson<Service>(['llm', name, '-n', namespace]);
  return service.status ?? null;
}

export async function conditionOf(name: string, type: string): Promise<Condition | null> {
  return (await statusOf(name))?.conditions?.find((condition) => condition.type === type) ?? null;
}

export async function podsOf(name: string): Promise<readonly PodState[]> {
  const selector = `llmservice.dev/service=${name}`;
  return (await getJson<{ items: readonly PodState[] }>(['pods', '-n', namespace, '-l', selector])).items;
}

export const restartsOf = (pods: readonly PodState[]): number =>
  pods
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);

export async function waitReady(name: string, timeoutMs = 120_000): Promise<void> {
  await kubectl([
    'wait',
    '--for=condition=Ready',
    `llm/${name}`,
    '-n',
    namespace,
    `--timeout=${String(timeoutMs / 1000)}s`,
  ]);
}

/** The one pod of a service, once there is one. */
export async function podOf(name: string): Promise<PodState> {
  return eventually(`a pod of ${name}`, async () => (await podsOf(name))[0], 60_000);
}

/** Runs a JavaScript module in a pod and gives what it prints. */
export function inPod(pod: PodState, script: string): Promise<string> {
  const node = ['node', '--input-type=module', '-e', script];
  return kubectl(['exec', '-n', namespace, pod.metadata.name, '--', ...node]);
}

/** GET on a pod's server from inside the pod: a body comes back whatever its status and the pod's readiness. */
export async function fromPod(pod: PodState, path: string): Promise<string> {
  const script = `fetch('http://127.0.0.1:8080${path}').then((r) => r.text()).then(console.log)`;
  return inPod(pod, script);
}

export async function remove(...names: readonly string[]): Promise<void> {
  await kubectl(['delete', 'llm', ...names, '-n', namespace, '--ignore-not-found']);
}
