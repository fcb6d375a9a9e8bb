import { expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { Deployment, Pod } from '../kube/types.js';
import { templateInputs } from '../plan/children.fixture.js';
import { planTemplate } from '../plan/pods/planned-template.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { RolloutController } from './rollout-controller.js';

const service = (devices: number) =>
  wantedService({ accelerator: { profile: 'mi300x', devices, claim: {} } });
const old = {
  metadata: { name: 'old', annotations: { [annotations.revision]: 'old' } },
  spec: { nodeName: 'a' },
} as unknown as Pod;

test.each([
  ['the spec asks for are looked up', 2, 1],
  ['a template is gone back to with are not taken for those of the spec', 1, 0],
])('devices that %s', async (_, devices, looks) => {
  let looked = 0;
  const none = () => {
    looked += 1;
    return Promise.resolve([]);
  };
  const rollouts = new RolloutController({ look: () => Promise.resolve(null) }, { look: none }, 0);
  const template = planTemplate(service(2), templateInputs);
  await rollouts.decide(service(devices), template, {} as Deployment, [old], new Date(0));
  expect(looked).toBe(looks);
});
