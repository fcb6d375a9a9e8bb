import { expect, test } from '@jest/globals';
import { pluralIn } from './resources.js';

test.each([
  ['/api/v1/namespaces/default/pods/a', 'pods'],
  ['/api/v1/pods', 'pods'],
  ['/api/v1/namespaces/default', 'namespaces'],
  ['/apis/apps/v1/namespaces/default/deployments/a/status', 'deployments'],
  ['/apis/llmservice.dev/v1alpha1/llmservices', 'llmservices'],
  ['/apis/gateway.networking.k8s.io/v1', ''],
])('%s is about %j', (path, plural) => {
  expect(pluralIn(path)).toBe(plural);
});
