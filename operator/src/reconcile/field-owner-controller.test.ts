import { expect, test } from '@jest/globals';
import type { FieldOwner } from '@llmservice/crds';
import type { Logger } from 'winston';
import { NotLeaderError } from '../apply/writer.js';
import { ApiError } from '../kube/client.js';
import type { KubeObject } from '../kube/types.js';
import { createOperatorLogger } from '../log.js';
import { FieldOwnerController } from './field-owner-controller.js';

const service = (version: string, more: object = {}): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: {
    ...{ name: 'a', namespace: 'team', resourceVersion: '7' },
    managedFields: [{ manager: 'kubectl', apiVersion: `llmservice.dev/${version}`, fieldsV1: {} }],
    ...more,
  },
});

test('owners by names of v1beta1 are written once, others and those of what is deleted never', async () => {
  const written: (readonly FieldOwner[])[] = [];
  const writeOwners = (_: KubeObject, owners: readonly FieldOwner[]): Promise<void> => {
    written.push(owners);
    return Promise.resolve();
  };
  const controller = new FieldOwnerController({ writeOwners }, createOperatorLogger(null));
  controller.see(service('v1alpha1'));
  controller.see(service('v1beta1', { deletionTimestamp: '2030-01-01T00:00:00Z' }));
  controller.see(service('v1beta1'));
  await controller.stop();
  expect(written).toEqual([[{ manager: 'kubectl', apiVersion: 'llmservice.dev/v1alpha1', fieldsV1: {} }]]);
});

test('a write that others overtook is no error; one that is refused is', async () => {
  const errors: string[] = [];
  const failures = [
    new ApiError(409, 'changed', 'Conflict'),
    new ApiError(404, 'gone', 'NotFound'),
    new NotLeaderError(),
    new ApiError(403, 'forbidden', 'Forbidden'),
  ];
  for (const failure of failures) {
    const warn = (_: string, { service, error }: { service: string; error: string }): void => {
      errors.push(`${service}: ${error}`);
    };
    const logger = { warn } as unknown as Logger;
    const controller = new FieldOwnerController({ writeOwners: () => Promise.reject(failure) }, logger);
    controller.see(service('v1beta1'));
    await controller.stop();
  }
  expect(errors).toEqual(['team/a: forbidden']);
});
