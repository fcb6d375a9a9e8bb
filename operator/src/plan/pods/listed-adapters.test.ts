import { adapterListText, type ListedAdapter } from '@llmservice/crds';
import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../kube/types.js';
import { listedAdapters } from './listed-adapters.js';

const adapter = (name: string, version = 1): ListedAdapter => ({
  name,
  uri: `s3://b/${name}/${String(version)}/`,
});
const live = (text: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x-adapters' },
  data: { 'adapters.json': text },
});
const refused = (...places: number[]) =>
  places.map((at) => ({ at, uri: '', failure: { reason: 'InvalidEngineConfig', message: 'no' } as const }));
const [a, b, c] = [adapter('a'), adapter('b'), adapter('c')];

test.each<[string, readonly ListedAdapter[], number[], KubeObject | null, readonly ListedAdapter[]]>([
  ['all that are good', [a, b], [], null, [a, b]],
  ['none that is not', [a, b, c], [1], null, [a, c]],
  [
    'what is there under the name of one that is not',
    [adapter('a', 2), c],
    [0],
    live(adapterListText([a, b])),
    [a, c],
  ],
  ['what was good and is not any more', [a, b], [0], live(adapterListText([a])), [a, b]],
  ['nothing of a list that somebody broke', [a, b], [0], live('{"a'), [b]],
  ['nothing of entries that are none', [a, b], [0], live('[1, null, {"name": "a"}]'), [b]],
])('pods are to serve %s', (_, adapters, places, list, expected) => {
  expect(listedAdapters(adapters, refused(...places), list)).toEqual(expected);
});
