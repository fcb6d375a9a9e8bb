import { adapterListDigest, adapterListText, type AdapterReport, type Failure } from '@llmservice/crds';
import { describe, expect, test } from '@jest/globals';
import type { RefusedAdapter } from '../domain/checkpoint.js';
import { adaptersLoaded } from './adapters-condition.js';
import type { Answer } from './answer.js';
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

describe('an adapter that cannot be served', () => {
  const refused = (at: number, reason: Failure['reason'] = 'InvalidEngineConfig'): RefusedAdapter => ({
    at,
    uri: `s3://b/${String(at)}/`,
    failure: { reason, message: 'rank 17' },
  });
  const answerTo = (refusedAdapters: RefusedAdapter[], loaded = adapters): Answer | null => {
    const adapterReports = new Map([['p', report([0, 1])]]);
    return adaptersLoaded({
      ...base,
      adapters: loaded,
      refusedAdapters,
      pods: [pod('p', { ready: true })],
      adapterReports,
    });
  };

  test('is named, beside what becomes of the others', () => {
    expect(answerTo([refused(2)])).toEqual({
      status: 'False',
      reason: 'AdapterRefused',
      message:
        'spec.adapters[2].uri s3://b/2/: rank 17. What pods have under these names stays; neither the model nor ' +
        'other adapters wait for it. Of the others: All pods that answer (1) serve legal, poems.',
    });
    expect(answerTo([refused(0)], [])?.message).toMatch(/adapters wait for it\.$/);
  });

  test('and whose bucket does not answer may be there later', () => {
    expect(answerTo([refused(2, 'S3Unavailable')])?.reason).toBe('AdapterUnavailable');
    expect(answerTo([refused(2, 'S3Unavailable'), refused(3)])?.reason).toBe('AdapterRefused');
  });

  test('of many, some are named', () => {
    const many = Array.from({ length: 256 }, (_, at) => refused(at));
    expect(answerTo(many)?.message).toContain('[7].uri s3://b/7/: rank 17; 248 more are not served either. ');
  });
});

test('a service without adapters has no such condition', () => {
  expect(adaptersLoaded({ ...base, pods: [pod('p', { ready: true })] })).toBeNull();
});
