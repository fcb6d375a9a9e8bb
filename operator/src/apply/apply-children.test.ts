import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../kube/types.js';
import type { PlannedChildren } from '../plan/children.js';
import type { ChildOwner } from '../plan/identity/child-identity.js';
import { applyChildren, pruneChildren, type ChildrenView } from './apply-children.js';
import { NameTakenError, type Writer } from './writer.js';

const owned = (kind: string, name: string, uid: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ownerReferences: [{ uid, controller: true }] },
});

const owner = { namespace: 'default', name: 'demo', uid: 'mine' };

const children: PlannedChildren = {
  configMap: owned('ConfigMap', 'config', 'mine'),
  deployment: owned('Deployment', 'demo', 'mine'),
  claimTemplates: [],
  groupServices: [],
  adapterList: null,
  adaptersJudged: true,
  canaryLeftovers: 'remove',
  others: [],
};

/** A cluster that has these objects, and what was written to it. */
function world(present: readonly KubeObject[]) {
  const written: string[] = [];
  const ofKind = (wanted: string) => () => present.filter(({ kind }) => kind === wanted);
  const view: ChildrenView = {
    live: ({ kind, metadata }) =>
      present.find((each) => each.kind === kind && each.metadata.name === metadata.name) ?? null,
    remember: () => undefined,
    configMaps: ofKind('ConfigMap'),
    revisions: ofKind('ControllerRevision'),
    optional: ofKind('HTTPRoute'),
  };
  const writer = {
    apply: (desired: KubeObject, live: KubeObject | null, { uid }: ChildOwner) => {
      const [present] = live?.metadata.ownerReferences ?? [];
      if (present !== undefined && present.uid !== uid) {
        return Promise.reject(new NameTakenError(`${desired.metadata.name} is taken`));
      }
      written.push(`apply ${desired.metadata.name}`);
      return Promise.resolve(desired);
    },
    delete: ({ metadata }: KubeObject) => Promise.resolve(void written.push(`delete ${metadata.name}`)),
  };
  return { view, writer: writer as unknown as Writer, written };
}

test('the Service of a group is there before the controller of LeaderWorkerSets could make one', async () => {
  const { writer, view, written } = world([]);
  const planned = { ...children, groupServices: [owned('Service', 'demo-group', 'mine')] };
  const revision = owned('ControllerRevision', 'demo-1', 'mine');
  await applyChildren(writer, view, planned, revision, owner);
  expect(written.indexOf('apply demo-group')).toBeLessThan(written.indexOf('apply demo'));
});

test('nothing of a canary comes behind what could not be applied', async () => {
  const [service, canary, route] = [
    owned('Service', 'demo', 'mine'),
    owned('Service', 'demo-canary', 'mine'),
    owned('HTTPRoute', 'demo', 'mine'),
  ];
  const others = [service, canary, route];
  const { writer, view, written } = world([owned('Service', 'demo-canary', 'of-another')]);
  const revision = owned('ControllerRevision', 'demo-1', 'mine');
  const obstacle = await applyChildren(writer, view, { ...children, others }, revision, owner);
  expect(obstacle).toMatchObject({ reason: 'NameTaken', message: 'demo-canary is taken' });
  // Of three objects named demo one is the Deployment and one the Service: the route is as it was.
  expect(written).toEqual(['apply config', 'apply demo-1', 'apply demo', 'apply demo']);
});

describe('a revision', () => {
  const revision = owned('ControllerRevision', 'demo-1', 'mine');

  test('that is stored is left alone', async () => {
    const { writer, view, written } = world([{ ...revision, data: 'as it was' }]);
    expect(await applyChildren(writer, view, children, revision, owner)).toBeNull();
    expect(written).toEqual(['apply config', 'apply demo']);
  });

  test('whose name a service of before holds is reported', async () => {
    const { writer, view } = world([owned('ControllerRevision', 'demo-1', 'before')]);
    expect(await applyChildren(writer, view, children, revision, owner)).toMatchObject({
      reason: 'NameTaken',
      message: 'demo-1 is taken',
    });
  });
});

test('only what belongs to the service is removed', async () => {
  const kinds = ['ControllerRevision', 'HTTPRoute', 'ConfigMap'];
  const { writer, view, written } = world(
    kinds.flatMap((kind) => [
      owned(kind, `old ${kind}`, 'mine'),
      owned(kind, `${kind} of before`, 'before'),
      { apiVersion: 'v1', kind, metadata: { name: `orphaned ${kind}` } },
    ]),
  );
  const deployment = { ...children.deployment, status: {} };
  await pruneChildren(
    writer,
    view,
    children,
    { kept: [], unreadable: [], deployment, pods: [], prefill: null },
    owner,
  );
  expect(written.sort()).toEqual(kinds.map((kind) => `delete old ${kind}`).sort());
});
