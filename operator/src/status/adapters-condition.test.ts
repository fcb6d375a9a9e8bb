import { adapterListDigest, adapterListText, type AdapterReport } from '@llmservice/crds';
import { expect, test } from '@jest/globals';
import { adaptersLoaded } from './adapters-condition.js';
import { base, pod } from './observed.fixture.js';

const adapters = [
  { name: 'legal', uri: 's3://b/legal/' },
  { name: 'poems', uri: 's3://b/poems/' },
];
const list = adapterListDigest(adapterListText(adapters));
const report = (loaded: number[], failed: number[] = [], of = list): AdapterReport => ({
  list: of,
  loaded,
  failed,
});

test.each<[string, readonly (AdapterReport | null)[], string]>([
  ['no pod', [], 'Unknown NoReadyPod No pod answers.'],
  ['all', [report([0, 1]), report([1, 0])], 'True Loaded All pods that answer (2) serve legal, poems.'],
  ['one that failed', [report([0, 1]), report([0], [1])], 'False AdapterFailed pod p1 has not loaded poems.'],
  ['one to come', [report([0, 1]), report([0])], 'False Loading'],
  ['a pod with the list before', [report([0], [1], 'other')], 'False Loading'],
  ['a pod that was not asked yet', [null], 'False Loading'],
])('%s', (_, reports, expected) => {
  const pods = reports.map((_, at) => pod(`p${String(at)}`, { ready: true }));
  const adapterReports = new Map(
    reports.flatMap((each, at) => (each === null ? [] : [[`p${String(at)}`, each] as const])),
  );
  const answer = adaptersLoaded({ ...base, adapters, pods, adapterReports });
  expect(`${answer?.status ?? ''} ${answer?.reason ?? ''} ${answer?.message ?? ''}`).toContain(expected);
});

test('a service without adapters has no such condition', () => {
  expect(adaptersLoaded({ ...base, pods: [pod('p', { ready: true })] })).toBeNull();
});
