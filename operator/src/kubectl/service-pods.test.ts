import { expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { Pod } from '../kube/types.js';
import { newestRevision } from './service-pods.js';

const pod = (name: string, revision: string): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, annotations: { [annotations.revision]: revision } },
});

test('the pods that are meant are those of the revision of the newest', () => {
  const pods = [pod('new-1', 'b'), pod('old-1', 'a'), pod('new-2', 'b'), pod('old-2', 'a')];
  expect(newestRevision(pods).map(({ metadata }) => metadata.name)).toEqual(['new-1', 'new-2']);
  expect(newestRevision([])).toEqual([]);
});
