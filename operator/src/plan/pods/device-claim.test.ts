import { expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children, container, podSpec, templateInputs } from '../children.fixture.js';
import { planClaimTemplate } from './device-claim.js';
import { planTemplate } from './planned-template.js';

const accelerator = { profile: 'h100-3g.40gb', devices: 2, claim: {} };

test('a pod asks for its devices by the template of claims that is applied before it', () => {
  const [template] = children(wantedService({ accelerator })).claimTemplates;
  const [claim] = podSpec({ accelerator })['resourceClaims'] as never as [object];
  expect(claim).toEqual({ name: 'devices', resourceClaimTemplateName: template?.metadata.name });
  expect(container({ accelerator })['resources']).toMatchObject({ claims: [{ name: 'devices' }] });
  expect(template).toMatchObject({
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaimTemplate' },
    spec: {
      spec: {
        devices: {
          requests: [
            {
              name: 'devices',
              exactly: { deviceClassName: 'mig.nvidia.com', allocationMode: 'ExactCount', count: 2 },
            },
          ],
        },
      },
    },
  });
});

test('another request is another template, since one never changes', () => {
  const nameFor = (devices: number) =>
    children(wantedService({ accelerator: { ...accelerator, devices } })).claimTemplates[0]?.metadata.name;
  expect(nameFor(1)).not.toBe(nameFor(2));
  expect(nameFor(2)).toBe(nameFor(2));
});

test('a template of the spec is named, and none is made', () => {
  const named = { ...accelerator, claim: { templateName: 'mine' } };
  expect(podSpec({ accelerator: named })['resourceClaims']).toEqual([
    { name: 'devices', resourceClaimTemplateName: 'mine' },
  ]);
  expect(children(wantedService({ accelerator: named })).claimTemplates).toEqual([]);
});

test('a template is made anew from what a stored revision asks for, and from nothing that it does not', () => {
  const service = wantedService({ accelerator });
  const planned = planTemplate(service, templateInputs);
  const stored = (request: string) => ({
    ...planned,
    pod: { ...planned.pod, metadata: { annotations: { [annotations.deviceRequest]: request } } },
  });
  const request = { deviceClass: 'old', count: 1, selectors: ['true'], adminAccess: true };
  const made = JSON.stringify(planClaimTemplate(service, stored(JSON.stringify(request))));
  expect(made).toContain('"deviceClassName":"old"');
  expect(made).not.toContain('adminAccess');
  for (const bad of ['', '{}', '[]', 'null', '{"deviceClass":"a","count":1,"selectors":[7]}'])
    expect(planClaimTemplate(service, stored(bad))).toBeNull();
});

test('Kueue finds its queue on the Deployment and on the pods', () => {
  const label = { 'kueue.x-k8s.io/queue-name': 'team' };
  const { deployment } = children(wantedService({ queueName: 'team' }));
  expect(deployment).toMatchObject({
    metadata: { labels: label },
    spec: { template: { metadata: { labels: label } } },
  });
});
