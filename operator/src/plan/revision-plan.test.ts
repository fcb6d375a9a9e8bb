import { expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { planRevisions } from './revision-plan.js';
import type { ServicePlan } from './plan-service.js';
import { readRevisions } from './rollouts/revision.js';

const rules = { allowedHostPaths: ['/var/cache/models'], operatorImage: 'registry/operator:2' };

const plan: ServicePlan = {
  resolution: { state: 'resolved' },
  fit: { state: 'unmeasured' },
  routing: { state: 'none' },
  autoscaling: { state: 'off' },
  pooling: { endpointPickerImage: null, inferencePools: false, destinationRules: false },
  obstacle: null,
  fingerprint: 'print',
  firstFingerprint: 'print',
  formerFingerprint: 'print',
  refusedAdapters: [],
  groundwork: {
    image: 'runtime:1',
    pullImage: null,
    operatorImage: null,
    checkpoint: { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'print' },
  },
};

test('a stored revision is taken as it is, unless a service of the same name left it behind', () => {
  const service = wantedService();
  const { target } = planRevisions(service, plan, [], null);
  const objects = target === null ? [] : [target.object];
  const stored = readRevisions(objects, service, rules).history;
  expect(planRevisions(service, plan, stored, null).target).toBe(stored[0]);

  const anew = { ...service, uid: 'uid-2' };
  const own = planRevisions(anew, plan, readRevisions(objects, anew, rules).history, null).target;
  expect(own?.number).toBe(1);
  expect(own?.template.configMap.metadata.ownerReferences).toMatchObject([{ uid: 'uid-2' }]);
});

test.each([
  ['the first releases', undefined],
  ['the former release', 'all'],
])('a revision of %s is kept whatever the files say that its runtime does not read', (_, note) => {
  const service = wantedService();
  const stored = (of: ServicePlan, isOfAllFiles: boolean) => {
    const { metadata, ...object } = planRevisions(service, of, [], null).target!.object;
    const { [annotations.checkpointFiles]: files, ...first } = metadata.annotations ?? {};
    expect(files).toBe('sentences');
    const noted = note === undefined ? first : { ...first, [annotations.checkpointFiles]: note };
    const notes = isOfAllFiles ? metadata.annotations : noted;
    return readRevisions(
      [{ ...object, metadata: { ...metadata, annotations: notes } } as KubeObject],
      service,
      rules,
    ).history;
  };
  const judged = (fingerprint: string, earlier: string): ServicePlan => {
    const other = 'print of other files';
    const [firstFingerprint, formerFingerprint] = note === undefined ? [earlier, other] : [other, earlier];
    const prints = { fingerprint, firstFingerprint, formerFingerprint };
    const checkpoint = { ...plan.groundwork!.checkpoint, ...prints };
    return { ...plan, ...prints, groundwork: { ...plan.groundwork!, checkpoint } };
  };
  const withPooling = judged('print of more files', 'print');
  const old = stored(plan, false);
  expect(planRevisions(service, withPooling, old, null)).toMatchObject({
    target: old[0],
    attempt: planRevisions(service, plan, old, null).attempt,
  });
  const replaced = judged('print of more files', 'print of another config.json');
  expect(planRevisions(service, replaced, old, null).target).not.toBe(old[0]);
  // Whose runtime reads them has a new revision when they come.
  const own = stored(plan, true);
  expect(planRevisions(service, withPooling, own, null).target).not.toBe(own[0]);
});

test('a stored revision that mounts a whole folder of the node is planned anew', () => {
  const cache = { kind: 'hostPath', path: '/var/cache/models' };
  const service = wantedService({ model: { uri: 's3://bucket/folder/', cache } });
  const withImage = { ...plan, groundwork: { ...plan.groundwork!, operatorImage: 'registry/operator:1' } };
  const stored = planRevisions(service, withImage, [], null).target!.object;
  const kept = readRevisions([stored], service, rules).history;
  expect(kept).toHaveLength(1);
  expect(planRevisions(service, withImage, kept, null).target).toBe(kept[0]);
  const whole = JSON.parse(JSON.stringify(stored).replaceAll(/,"subPath":"[^"]*"/g, '')) as typeof stored;
  const { history } = readRevisions([whole], service, rules);
  const { target, good } = planRevisions(service, withImage, history, null);
  expect(JSON.stringify(target?.template.pod)).toContain('"subPath":"namespaces/');
  expect(good).toBeNull();
});
