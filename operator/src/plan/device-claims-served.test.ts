import { expect, test } from '@jest/globals';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { refusedDeviceClaim } from './device-claims-served.js';

const claimed = wantedService({ accelerator: { profile: 'h100', claim: {} } });

test('a claim is refused where the API is not served, with another remedy where it is forbidden', () => {
  const refused = (served: Parameters<typeof refusedDeviceClaim>[1]) =>
    refusedDeviceClaim(claimed, served)?.message;
  expect(refused({ deviceClaims: false })).toContain('Kubernetes has from 1.34 on: upgrade it, or remove');
  expect(refused({ deviceClaims: false, forbidden: ['resourceclaimtemplates'] })).toContain(
    'install its chart anew',
  );
  expect(refused({ deviceClaims: true })).toBeUndefined();
  const byResource = wantedService({ accelerator: { profile: 'h100' } });
  expect(refusedDeviceClaim(byResource, { deviceClaims: false })).toBeNull();
});
