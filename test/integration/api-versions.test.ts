// v1beta1 beside v1alpha1 on a real API server, with the operator as a process: services (SERVICES=200, or 40) through Helm's
// upgrade to a chart that serves both, a change of the stored version and back, a webhook that is away, and Helm's rollback.
// None may lose a field or have its pods replaced.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { api, betaText, convertService } from '@llmservice/crds';
import { collectionPath, objectPath, resources, type Resource } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { ApiError } from '../../operator/src/kube/client.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { renamedFields } from '../builders/renamed-fields.js';
import { eventually, freePort, settled } from '../processes.js';
import { Helm } from './helm.js';
import { Kubectl } from './kubectl.js';
import { keepOperator, type OperatorProcess } from './operator-process.js';
import { grantConversion } from './operator-role.js';
import { World } from './operator-world.js';
import { refusedSpecs } from './refused-specs.js';

jest.setTimeout(600_000);

const count = Number(process.env['SERVICES'] ?? 40);
const beta = { ...resources.llmServices, apiVersion: 'llmservice.dev/v1beta1' };
const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llmservices.llmservice.dev';
const mergePatch = 'application/merge-patch+json';

interface Definition extends KubeObject {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
    readonly conversion?: object;
  };
  readonly status: { readonly storedVersions: readonly string[] };
}

let world: World;
let kubectl: Kubectl;
let operator: Pick<OperatorProcess, 'stop'>;
let helm: Helm;
let port: string;

/**
 * Those that this test counts, once the API server has its storage again: for a moment after a change of the CRD it
 * answers 429.
 */
const list = (resource: Resource = resources.llmServices): Promise<KubeObject[]> =>
  eventually(resource.plural, () =>
    world
      .request<{ items: KubeObject[] }>('GET', collectionPath(resource, 'default'))
      .then(({ items }) => items.filter(({ metadata }) => metadata.name.startsWith('service-')))
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 429) return null;
        throw error;
      }),
  );
const specs = async (resource: Resource = resources.llmServices): Promise<Record<string, unknown>> =>
  Object.fromEntries((await list(resource)).map(({ metadata, spec }) => [metadata.name, spec]));
const versions = (objects: readonly KubeObject[], field: 'resourceVersion' | 'generation'): object =>
  Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata[field]]));
const writes = (): number => world.api.writes().filter(({ user }) => user.startsWith('operator')).length;

const wanted = (index: number): object => renamedFields(index, world.model('models/llama/'));

const release = (...args: string[]): Promise<string> =>
  helm.on(world.api.kubeConfig(), ...args, '--namespace', 'system');

/** Where the webhook is, which runs beside this API server: it reaches no Services. */
const callAt = (callee: string): Promise<unknown> =>
  world.request(
    'PATCH',
    crdPath,
    {
      spec: {
        conversion: {
          webhook: { clientConfig: { service: null, url: `https://127.0.0.1:${callee}/convert` } },
        },
      },
    },
    mergePatch,
  );

async function setDefinition(spec: Definition['spec']): Promise<void> {
  const { metadata, apiVersion, kind } = await world.request<Definition>('GET', crdPath);
  await world.request('PUT', crdPath, { apiVersion, kind, metadata, spec });
}

/**
 * Has every object stored in a version, by writes that change nothing: the API server makes those where the stored bytes are
 * of another version, and the resourceVersion shows it. Before it has heard of the change it makes none.
 */
async function storeAs(version: 'v1alpha1' | 'v1beta1'): Promise<void> {
  const { spec } = await world.request<Definition>('GET', crdPath);
  await setDefinition({
    ...spec,
    versions: spec.versions.map((each) => ({ ...each, storage: each.name === version })),
  });
  for (const { metadata } of await list()) {
    const path = `${objectPath(resources.llmServices, 'default', metadata.name)}/status`;
    await eventually(`${metadata.name} as ${version}`, async () => {
      const written = await world.request('PATCH', path, {}, mergePatch);
      return written.metadata.resourceVersion !== metadata.resourceVersion;
    });
  }
  await world.request('PATCH', `${crdPath}/status`, { status: { storedVersions: [version] } }, mergePatch);
}

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  kubectl = new Kubectl(world.api.kubeConfig());
  await grantConversion(world);
  port = String(await freePort());
  helm = new Helm();
  await world.makeNamespace('system');
  await release('upgrade', '--install', '--take-ownership', 'release', 'charts/llmservice-operator');
  operator = keepOperator(world.api);
  for (let index = 0; index < count; index += 1) await world.create(wanted(index));
  const unseen = ({ status }: KubeObject): boolean =>
    (status as { observedGeneration?: number } | undefined)?.observedGeneration === undefined;
  await eventually(
    'every service',
    async () => {
      const left = (await list()).filter(unseen).map(({ metadata }) => metadata.name);
      if (left.length > 0) throw new Error(`without a status: ${left.join(', ')}`);
      return true;
    },
    300_000,
  );
  await settled('what is written', writes);
}, 600_000);

afterAll(async () => {
  await operator.stop();
  await world.stop();
  helm.remove();
});

describe('services of v1alpha1', () => {
  let before: { specs: object; generations: object; deployments: object };
  const isAsBefore = async (): Promise<void> => {
    await settled('what is written', writes);
    expect(await specs()).toEqual(before.specs);
    expect(versions(await list(), 'generation')).toEqual(before.generations);
    const deployments = await list(resources.deployments);
    expect(versions(deployments, 'resourceVersion')).toEqual(before.deployments);
  };

  beforeAll(async () => {
    const [services, deployments] = [await list(), await list(resources.deployments)];
    before = {
      specs: await specs(),
      generations: versions(services, 'generation'),
      deployments: versions(deployments, 'resourceVersion'),
    };
    expect(services).toHaveLength(count);
    expect(deployments.length).toBeGreaterThan(count / 2);
  });

  test('are the same after the upgrade, and are served in both versions', async () => {
    await release('upgrade', '--set', 'conversion.enabled=true', 'release', 'charts/llmservice-operator');
    await callAt(port);
    await operator.stop();
    const flags = ['--conversion-secret', 'llmservice-operator-conversion', '--conversion-port', port];
    operator = keepOperator(world.api, ...flags);
    await eventually('v1beta1', () => world.request('GET', collectionPath(beta, 'default')));
    await isAsBefore();
    const newer = await specs(beta);
    const older = before.specs as Record<string, object>;
    for (const [name, spec] of Object.entries(older)) {
      const object = { apiVersion: 'llmservice.dev/v1alpha1', spec };
      expect(newer[name]).toEqual(convertService(object, 'v1beta1').spec);
    }
    expect(newer['service-5']).toMatchObject({
      routing: { hostname: 'a-5.test', fallback: { serviceName: 'service-0' } },
      canary: {
        steps: [{ weightPercent: 5 }, { weightPercent: 0, mirrorPercent: 10 }, { weightPercent: 50 }],
      },
      rollout: { strategy: 'drain', progressDeadlineSeconds: 300 },
      accelerator: { count: 1 },
    });
  });

  test('are the same when v1beta1 is stored, and again when v1alpha1 is', async () => {
    await storeAs('v1beta1');
    await isAsBefore();
    await storeAs('v1alpha1');
    await isAsBefore();
    expect((await world.request<Definition>('GET', crdPath)).status.storedVersions).toEqual(['v1alpha1']);
  });

  describe('beside services of v1beta1', () => {
    const sample = readFileSync(
      new URL('../../deploy/samples/v1beta1.yaml', import.meta.url),
      'utf8',
    ).replace('namespace: experimental', 'namespace: default');

    test.each([[[]], [['--server-side']]])(
      'which kubectl apply %j takes as the sample has them',
      async (how) => {
        await kubectl.output(['apply', ...how, '-f', '-'], sample);
        expect((await world.get(resources.llmServices, 'demo'))?.['spec']).toMatchObject({
          accelerator: { devices: 1 },
          routing: { host: 'demo.experimental.example' },
          rollout: { strategy: 'Surge', noProgressTimeoutSeconds: 120 },
        });
      },
    );

    test('whose fields are soon owned by names of v1alpha1, by the same owner', async () => {
      const owners = await eventually('owners of v1alpha1', async () => {
        const { managedFields = [] } = (await world.get(resources.llmServices, 'demo'))?.metadata ?? {};
        return managedFields.some(({ apiVersion }) => apiVersion === beta.apiVersion) ? null : managedFields;
      });
      expect(owners).toContainEqual(
        expect.objectContaining({
          ...{ manager: 'kubectl', operation: 'Apply', apiVersion: api.groupVersion },
          fieldsV1: expect.objectContaining({
            'f:spec': expect.objectContaining({ 'f:routing': { 'f:host': {} } }),
          }),
        }),
      );
      // What the owner leaves out of its next manifest goes, in whichever version that is.
      await kubectl.output(
        ['apply', '--server-side', '-f', '-'],
        sample.replace('  routing:\n    hostname: demo.experimental.example\n', ''),
      );
      expect((await world.get(resources.llmServices, 'demo'))?.['spec']).not.toHaveProperty('routing.host');
      await kubectl.output(['apply', '--server-side', '-f', '-'], sample);
    });

    test('whose fields nobody else takes in v1alpha1 either', async () => {
      const other = `{apiVersion: ${api.groupVersion}, kind: LlmService, metadata: {name: demo, namespace: default}, spec: {routing: {host: other.test}}}`;
      const { stderr } = await kubectl.run(['apply', '--server-side', '--field-manager=o', '-f', '-'], other);
      expect(stderr).toMatch(/conflict with "kubectl".*: \.spec\.routing\.host/);
    });

    test('which have no names of v1alpha1', async () => {
      const old = sample.replace('hostname:', 'host:');
      const { stderr } = await kubectl.run(['apply', '--server-side', '-f', '-'], old);
      expect(stderr).toContain('.spec.routing.host: field not declared in schema');
    });

    test('which are refused for the same as in v1alpha1, in the names of v1beta1', async () => {
      const refused = async (object: object, resource: Resource = resources.llmServices): Promise<string> =>
        world
          .request('POST', `${collectionPath(resource, 'default')}?dryRun=All&fieldValidation=Strict`, object)
          .then(
            () => 'taken',
            (error: unknown) => (error as Error).message,
          );
      for (const [name, spec] of refusedSpecs) {
        const object = llmService('refused', { model: { uri: 's3://b/m' }, ...spec });
        const older = await refused(object);
        const newer = await refused(convertService(object, 'v1beta1'), beta);
        expect(`${name}: ${newer}`).toBe(`${name}: ${betaText(older).replaceAll('v1alpha1', 'v1beta1')}`);
        expect(older).not.toBe('taken');
      }
    });
  });

  const demo = (): Promise<KubeObject | null> => world.get(resources.llmServices, 'demo');
  const statusOfDemo = (): Promise<unknown> => {
    const { apiVersion, kind } = resources.llmServices;
    const metadata = { name: 'demo', namespace: 'default' };
    return world.api.admin.apply(
      { apiVersion, kind, metadata, status: { model: 'demo' } },
      { subresource: 'status' },
    );
  };

  test('are reconciled, read and changed in v1alpha1 while the webhook is away', async () => {
    await operator.stop('SIGKILL');
    await callAt('1');
    operator = keepOperator(world.api);
    await expect(
      world.request('POST', collectionPath(beta, 'default'), convertService(wanted(900), 'v1beta1')),
    ).rejects.toThrow('conversion webhook for llmservice.dev/v1beta1');
    await statusOfDemo();
    await world.create(wanted(count));
    const name = `service-${String(count)}`;
    await world.deployment(name);
    await world.patch(resources.llmServices, name, { spec: { replicas: 2 } });
    await eventually('2 replicas', async () => (await world.deployment(name)).spec?.replicas === 2);
    await world.delete(resources.llmServices, name);
    await world.delete(resources.deployments, name);
    await isAsBefore();
  });

  test('are the same after the downgrade to a chart of v1alpha1 alone', async () => {
    const before = (await demo())?.['spec'];
    await release('rollback', 'release', '1');
    expect((await world.request<Definition>('GET', crdPath)).spec.conversion).toEqual({ strategy: 'None' });
    await expect(world.request('GET', collectionPath(beta, 'default'))).rejects.toThrow('404');
    await isAsBefore();
    await statusOfDemo();
    expect((await demo())?.['spec']).toEqual(before);
  });
});
