import { expect, test } from '@jest/globals';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { refusedClaim } from './claim-modes.js';

const claim = { name: 'models', onePod: true, found: '' };
const day = { start: '0 8 * * *', end: '0 18 * * *', timeZone: 'Europe/Berlin', minReplicas: 2 };

test.each<[object, string | null]>([
  [{}, null],
  [{ replicas: 2 }, 'spec.replicas may come to 2 pods'],
  [{ disaggregation: {} }, 'spec.disaggregation may come to 2 pods'],
  [{ scaling: { maxReplicas: 3 } }, 'spec.scaling.maxReplicas may come to 3 pods'],
  [{ scaling: { schedules: [{ name: 'day', ...day }] } }, 'spec.scaling.schedules[0].minReplicas'],
])('%j on a claim for one pod', (spec, message) => {
  const service = wantedService({ model: { uri: 'pvc://models/m' }, ...spec });
  if (message === null) expect(refusedClaim(service, claim)).toBeNull();
  else expect(refusedClaim(service, claim)).toMatchObject({ reason: 'ClaimUnusable', terminal: true });
  expect(refusedClaim(service, claim)?.message ?? '').toContain(message ?? '');
  expect(refusedClaim(service, { ...claim, onePod: false })).toBeNull();
});
