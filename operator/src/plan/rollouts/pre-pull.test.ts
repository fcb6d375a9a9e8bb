import type { V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, test } from '@jest/globals';
import type { WantedService } from '../../domain/wanted-service.js';
import type { Job } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import type { ListedDevice } from '../fit/device-match.js';
import { hostPath, inputs, pvc, withCache } from '../cached-weights.fixture.js';
import { planTemplate } from '../pods/planned-template.js';
import { describePrePull, planPrePull, whyNoPrePull, type CandidateNode } from './pre-pull.js';

describe('weights that are pulled ahead', () => {
  const node = (name: string, change: Partial<CandidateNode> = {}): CandidateNode => ({
    ...{ name, labels: {}, taints: [], free: {} },
    ...change,
  });
  const jobsFor = (
    service: WantedService,
    nodes: readonly CandidateNode[] | null,
    devices: readonly ListedDevice[] | null = null,
  ) =>
    planPrePull(service, planTemplate(service, inputs), nodes, devices) as
      | {
          metadata: { name: string };
          spec: { template: { metadata: { labels: object }; spec: V1PodSpec } };
        }[]
      | null;
  const gpu = wantedService({
    model: { uri: 's3://bucket/folder/', cache: { ...hostPath, prePull: true } },
    accelerator: { resourceName: 'amd.com/gpu', devices: 2, memoryPerDevice: '48Gi' },
    accounting: { persistentVolumeClaimRef: { name: 'log' } },
  });

  const claimed = wantedService({ ...gpu.spec, accelerator: { profile: 'mi300x', claim: {} } });
  const device = (name: string, type: string, holders: string[] | null = null): ListedDevice => ({
    ...{ driver: 'gpu.amd.com', node: name, holders },
    attributes: { productName: 'AMD Instinct MI300X OAM', type },
  });

  test('are pulled by a pod that takes no device by a claim', () => {
    const [job] = jobsFor(claimed, [node('a')], [device('a', 'amdgpu')]) ?? [];
    expect(planTemplate(claimed, inputs).pod.spec.resourceClaims).toHaveLength(1);
    expect(job?.spec.template.spec).not.toHaveProperty('resourceClaims');
  });

  test('are pulled on the nodes that have a device which the claim selects, free or not', () => {
    const nodes = [node('a'), node('cpu'), node('partitioned'), node('b')];
    const devices = [device('a', 'amdgpu'), device('b', 'amdgpu', ['uid']), device('partitioned', 'other')];
    expect(JSON.stringify(jobsFor(claimed, nodes, devices)).match(/"values":\["\w+"\]/g)).toEqual([
      '"values":["a"]',
      '"values":["b"]',
    ]);
  });

  test('are pulled on nodes that are selected where devices are not known, and else on none', () => {
    const why = (service: WantedService, devices: readonly ListedDevice[] | null) =>
      whyNoPrePull(service, planTemplate(service, inputs), devices);
    const selecting = wantedService({ ...claimed.spec, nodeSelector: { pool: 'gpu' } });
    const selected = node('a', { labels: { pool: 'gpu' } });
    expect(jobsFor(selecting, [selected, node('cpu')])).toHaveLength(1);
    expect(why(selecting, null)).toBeNull();
    expect(jobsFor(claimed, [node('a')])).toBeNull();
    expect(why(claimed, null)).toContain('by spec.nodeSelector');
    expect(why(claimed, [device('a', 'other')])).toContain('no driver lists a device');
    expect(why(gpu, null)).toBeNull();
  });

  test('are pulled once on each node that may serve, by a pod that takes no device', () => {
    const free = { 'amd.com/gpu': 0 };
    const tainted = { free, taints: [{ key: 'dedicated', effect: 'NoSchedule' }] };
    const jobs = jobsFor(gpu, [
      node('b', { free }),
      node('a', { free }),
      node('cpu'),
      node('taken', tainted),
    ])!;
    expect(jobs).toHaveLength(2);
    expect(new Set(jobs.map(({ metadata }) => metadata.name)).size).toBe(2);
    const { spec, metadata } = jobs[0]!.spec.template;
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
          },
        },
      },
      containers: [{ command: ['node', 'runtime/dist/pull.js'] }],
    });
    expect(spec.containers[0]?.resources?.requests).not.toHaveProperty(['amd.com/gpu']);
    expect(spec.initContainers).toMatchObject([{ image: 'operator:1' }]);
    expect(spec.containers[0]?.volumeMounts).toContainEqual(
      expect.objectContaining({ name: 'weights', subPath: 'namespaces/ns' }),
    );
    expect(spec.volumes?.map(({ name }) => name).sort()).toEqual(['engine-config', 'tmp', 'weights']);
    expect(metadata.labels).not.toHaveProperty(['llmservice.dev/service']);
  });

  test('are pulled once into a claim, and not where nobody asked for it or nodes are not readable', () => {
    expect(jobsFor(withCache({ ...pvc, prePull: true }), null)).toHaveLength(1);
    expect(jobsFor(withCache(pvc), [node('a')])).toEqual([]);
    expect(jobsFor(gpu, null)).toBeNull();
  });

  test('are pulled by Jobs whose names fit a label, and that no service has in common', () => {
    const names = ['a', 'b'].map((end) => {
      const name = `${'x'.repeat(51)}${end}`;
      return jobsFor({ ...gpu, name }, [node('n', { free: { 'amd.com/gpu': 0 } })])![0]!.metadata.name;
    });
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
  });

  test('are reported by how many Jobs are done, and which have failed', () => {
    const job = (name: string, type: string | null): Job => ({
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
      status: { conditions: type === null ? [] : [{ type, status: 'True' }] },
    });
    expect(describePrePull([])).toBeNull();
    expect(describePrePull([job('a', 'Complete'), job('b', null)])).toMatch(/1 of 2 Jobs are done\.$/);
    expect(describePrePull([job('a', 'Complete'), job('b', 'Failed')])).toMatch(/1 of 2 .*failed have b;/);
  });
});
