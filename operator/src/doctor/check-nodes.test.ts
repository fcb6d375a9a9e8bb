import { describe, expect, test } from '@jest/globals';
import { checkNodes } from './check-nodes.js';
import { checkTaints } from './check-taints.js';
import { clusterFacts, forbidden, node, read, serviceFacts } from './facts.fixture.js';
import type { Finding, Level } from './finding.js';
import type { Node } from '../kube/types.js';

const found = (
  nodes: readonly Node[],
  requested: Record<string, Record<string, number>> = {},
): readonly Finding[] =>
  checkNodes(clusterFacts({ nodes: read(nodes), requested: read(new Map(Object.entries(requested))) }));
const of = (level: Level, findings: readonly Finding[]): string[] =>
  findings.filter((each) => each.level === level).map(({ message }) => message);

const mi300x = { 'amd.com/gpu.product-name': 'AMD_Instinct_MI300X_OAM' };
const cpx = { ...mi300x, 'amd.com/compute-memory-partition': 'cpx_nps4' };
const h100 = { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3', 'nvidia.com/gpu.count': '8' };

describe('devices', () => {
  test('are reported by resource with their profiles, and with what one node has free', () => {
    const nodes = [
      node('a', { 'amd.com/gpu': '64' }, { labels: cpx }),
      node('b', { 'amd.com/gpu': '64' }, { labels: cpx }),
      node('c', { 'nvidia.com/gpu': '8' }, { labels: h100 }),
    ];
    const findings = found(nodes, { a: { 'amd.com/gpu': 62 }, b: { 'amd.com/gpu': 60 } });
    expect(of('ok', findings)).toEqual([
      'amd.com/gpu: 128 allocatable on 2 nodes (mi300x-cpx-nps4); 122 requested, at most 4 free on one node',
      'nvidia.com/gpu: 8 allocatable on 1 node (h100); 0 requested, at most 8 free on one node',
    ]);
    expect(findings).toHaveLength(2);
  });

  test.each([
    ['nvidia.com/mig-3g.40gb', { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' }, 'h100-3g.40gb'],
    [
      'nvidia.com/gpu',
      { 'nvidia.com/gpu.product': 'NVIDIA-A100-SXM4-80GB-MIG-1g.10gb' },
      'a100-80gb-1g.10gb',
    ],
    ['nvidia.com/gpu', { 'nvidia.com/gpu.product': 'NVIDIA-L4-SHARED' }, 'l4'],
    ['amd.com/cpx_nps4', mi300x, 'mi300x-cpx-nps4'],
    ['amd.com/gpu', { ...mi300x, 'amd.com/compute-memory-partition': 'SPX_NPS1' }, 'mi300x-spx-nps1'],
    ['amd.com/gpu', { 'amd.com/gpu.product-name': 'AMD_Instinct_MI210' }, 'mi210'],
  ])('%s of %j are of the profile %s', (resource, labels, profile) => {
    expect(of('ok', found([node('a', { [resource]: '8' }, { labels })])).join()).toContain(`(${profile})`);
  });

  test('without any, services run on the CPU alone', () => {
    expect(of('info', found([node('a', { cpu: '8' })])).join()).toContain('of 1 node none advertises');
  });
});

describe('a complaint', () => {
  test.each<[string, Node, Level, string]>([
    [
      'a label without a device plugin, NVIDIA',
      node('a', {}, { labels: { 'feature.node.kubernetes.io/pci-10de.present': 'true' } }),
      'problem',
      'no resource of nvidia.com is advertised',
    ],
    [
      'a label without a device plugin, AMD',
      node('a', {}, { labels: mi300x }),
      'problem',
      'no resource of amd.com',
    ],
    [
      'devices that are not healthy',
      node('a', { 'nvidia.com/gpu': '7' }, { labels: h100, capacity: { 'nvidia.com/gpu': '8' } }),
      'warning',
      '1 of 8 nvidia.com/gpu are not allocatable',
    ],
    [
      'two kinds of cards',
      node(
        'a',
        { 'amd.com/gpu': '8' },
        {
          labels: {
            'amd.com/gpu.product-name.AMD_Instinct_MI210': '4',
            'amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM': '4',
            'amd.com/compute-memory-partition': 'spx_nps1',
          },
        },
      ),
      'warning',
      'labels name different cards: AMD_Instinct_MI210, AMD_Instinct_MI300X_OAM',
    ],
    [
      'a partition label that the resources contradict',
      node('a', { 'amd.com/spx_nps1': '8' }, { labels: cpx }),
      'problem',
      'says cpx_nps4, the resources say spx_nps1',
    ],
    [
      'partitions that are no multiple of a card',
      node('a', { 'amd.com/gpu': '60' }, { labels: cpx }),
      'warning',
      '60 amd.com/gpu are no multiple of the 8 partitions',
    ],
    [
      'a partition mode that nobody reports',
      node('a', { 'amd.com/gpu': '8' }, { labels: mi300x }),
      'warning',
      'no label names the partition mode',
    ],
    [
      'a card without a profile',
      node(
        'a',
        { 'nvidia.com/gpu': '1' },
        { labels: { 'nvidia.com/gpu.product': 'NVIDIA-GeForce-RTX-5090' } },
      ),
      'info',
      'there is no profile for NVIDIA-GeForce-RTX-5090',
    ],
    [
      'a cordoned node',
      node('a', { 'nvidia.com/gpu': '8' }, { labels: h100, spec: { unschedulable: true } }),
      'info',
      'cordoned',
    ],
  ])('%s', (_, each, level, part) => {
    const complaints = found([each]).filter(({ remedy }) => remedy !== null);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ level, message: expect.stringContaining(part) });
    expect(complaints[0]?.message).toContain('node a: ');
  });

  test('of many nodes is one line', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => node(name, {}, { labels: mi300x }));
    expect(of('problem', found(nodes))).toEqual([expect.stringContaining('nodes a, b, c, d and 1 more: ')]);
  });

  test('of what AMD labels false is none', () => {
    const labels = { 'nvidia.com/gpu.present': 'false' };
    expect(of('problem', found([node('a', {}, { labels })]))).toEqual([]);
  });
});

test('without the right to read nodes, one line says so', () => {
  const findings = checkNodes(clusterFacts({ nodes: forbidden }));
  expect(findings).toEqual([
    {
      check: 'nodes',
      level: 'warning',
      message: 'nodes: you may not read this',
      remedy: expect.stringContaining('User "ann"'),
    },
  ]);
});

test('without the right to read pods, free devices are not guessed', () => {
  const nodes = read([node('a', { 'amd.com/gpu': '64' }, { labels: cpx })]);
  const findings = checkNodes(clusterFacts({ nodes, requested: forbidden }));
  expect(of('ok', findings).join()).toContain('requests not known');
  expect(of('warning', findings).join()).toContain('pods of all namespaces');
});

test('a taint of nodes with devices is reported with the services that tolerate it', () => {
  const taints = [{ key: 'dedicated', value: 'llm', effect: 'NoSchedule' }];
  const nodes = read([
    node('a', { 'amd.com/gpu': '8' }, { spec: { taints } }),
    node('cpu', { cpu: '8' }, { spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] } }),
  ]);
  const metadata = (name: string) => ({ name, namespace: 'default' });
  const services = read([
    serviceFacts({
      metadata: metadata('may'),
      spec: { tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
    }),
    serviceFacts({ metadata: metadata('may-not'), spec: {} }),
  ]);
  expect(checkTaints(clusterFacts({ nodes, services })).map(({ message }) => message)).toEqual([
    'taint dedicated=llm:NoSchedule on a: tolerated by default/may',
  ]);
});
