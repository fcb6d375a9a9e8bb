import { expect, test } from '@jest/globals';
import { ownersInStoredVersion } from './field-owners.js';

const owner = (apiVersion: string, fieldsV1: object, more: object = {}) => ({
  ...{
    manager: 'kubectl',
    operation: 'Update',
    apiVersion: `llmservice.dev/${apiVersion}`,
    fieldsType: 'FieldsV1',
  },
  ...more,
  fieldsV1: { ...fieldsV1 },
});

test('owners by names of v1beta1 own the same fields by those of v1alpha1', () => {
  const fields = {
    'f:spec': { '.': {}, 'f:routing': { 'f:hostname': {} }, 'f:suspend': {}, 'f:replicas': {} },
  };
  const status = owner(
    'v1alpha1',
    { 'f:status': { 'f:model': {} } },
    { manager: 'operator', subresource: 'status' },
  );
  expect(ownersInStoredVersion([owner('v1beta1', fields, { operation: 'Apply' }), status])).toEqual([
    owner(
      'v1alpha1',
      { 'f:spec': { '.': {}, 'f:routing': { 'f:host': {} }, 'f:stop': {}, 'f:replicas': {} } },
      { operation: 'Apply' },
    ),
    status,
  ]);
});

test('an owner by both is one, of all that it owned', () => {
  const older = owner('v1alpha1', { 'f:spec': { 'f:stop': {}, 'f:engine': { 'f:image': {} } } });
  const newer = owner('v1beta1', {
    'f:spec': { 'f:suspend': {}, 'f:engine': { 'f:args': {} } },
    'f:metadata': {},
  });
  expect(ownersInStoredVersion([older, newer])).toEqual([
    owner('v1alpha1', {
      'f:spec': { 'f:stop': {}, 'f:engine': { 'f:image': {}, 'f:args': {} } },
      'f:metadata': {},
    }),
  ]);
});

test('there is nothing to do where nobody has names of v1beta1', () => {
  expect(ownersInStoredVersion([owner('v1alpha1', { 'f:spec': {} })])).toBeNull();
  expect(ownersInStoredVersion([])).toBeNull();
});
