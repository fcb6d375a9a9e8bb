import { describe, expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { HttpRoute } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { verdict } from '../../status/observed.fixture.js';
import { planRoute } from '../children.js';
import { planPool, type Pool, type PoolInputs } from './pool.js';
import type { Routing } from './routing.js';

const host = 'demo.example.org';
const service = wantedService({ routing: { host, backend: 'inferencePool' } });
const gateway = { name: 'public', namespace: 'gateways', provider: 'gatewayApi' } as const;
const routing: Routing = { state: 'planned', host, pathPrefix: '', gateway };
const now = '2026-11-30T12:00:00Z';
const capabilities = { endpointPickerImage: 'picker:1', inferencePools: true, destinationRules: true };
const ownedBy = (uid: string) => ({ name: 'demo-picker', ownerReferences: [{ uid, controller: true }] });
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: ownedBy(service.uid) };
const own = { ...deployment, kind: 'InferencePool' };
const pickerService = { apiVersion: 'v1', kind: 'Service', metadata: ownedBy(service.uid) };
const ready = { ...deployment, status: { readyReplicas: 1 } };
const pool = (change: Partial<PoolInputs> = {}): Pool =>
  planPool({
    ...{ service, routing, capabilities, pool: own, picker: ready, pickerService, pickerRule: null },
    ...{ route: null, now },
    ...change,
  });
const leading: Pool & { state: 'planned' } = {
  state: 'planned',
  image: 'picker:1',
  awaits: null,
  byIstio: false,
};

interface Rule {
  readonly matches: readonly {
    readonly path: { readonly value: string };
    readonly headers?: readonly { readonly name: string }[];
  }[];
  readonly backendRefs: readonly { readonly kind: string; readonly name: string; readonly port?: number }[];
}
const routeTo = (
  planned: Pool,
  spec: object = {},
  change: object = {},
): HttpRoute & { spec: { rules: Rule[] } } =>
  planRoute(wantedService({ routing: { host, backend: 'inferencePool', ...spec } }), {
    gateway,
    fallback: { state: 'none' },
    canary: { state: 'off' },
    pool: planned,
    ...change,
  })[0] as never;
const kinds = (route: { spec: { rules: Rule[] } }): string[] =>
  route.spec.rules.flatMap(({ matches, backendRefs }) =>
    matches.map(
      ({ path, headers = [] }) =>
        `${[path.value, ...headers.map(({ name }) => name)].join('?')} ${backendRefs[0]!.kind}`,
    ),
  );

describe('a route leads to an InferencePool', () => {
  test.each<[string, Partial<PoolInputs>, object]>([
    ['once the gateway takes it and the picker answers', { route: answered() }, leading],
    ['not before the gateway is asked', {}, { ...leading, awaits: 'gateway' }],
    ['not before', { picker: deployment, route: answered() }, { state: 'planned', awaits: 'picker' }],
    [
      'not for the pods of a service that has the picker’s name',
      { picker: { ...ready, metadata: ownedBy('uid-2') } },
      { state: 'planned', awaits: 'pool' },
    ],
    ['not before there is a pool', { pool: null }, { state: 'planned', awaits: 'pool' }],
    [
      'not where somebody else has one of its name',
      { pool: { ...own, metadata: ownedBy('uid-2') } },
      { state: 'planned', awaits: 'pool' },
    ],
    [
      'not to a Service of the picker’s name that is somebody else’s',
      { pickerService: { ...pickerService, metadata: ownedBy('uid-2') } },
      { state: 'planned', awaits: 'pool' },
    ],
    ['not before the picker has a Service', { pickerService: null }, { state: 'planned', awaits: 'pool' }],
    ['not before there is a picker', { picker: null }, { state: 'planned', awaits: 'pool' }],
    ['not unless asked for', { service: wantedService({ routing: { host } }) }, { state: 'none' }],
    ['not without a route', { routing: { state: 'none' } }, { state: 'none' }],
    [
      'not by istio',
      { routing: { ...routing, gateway: { ...gateway, provider: 'istio' } } },
      { state: 'unfit', reason: 'InferencePoolUnroutable' },
    ],
    [
      'not where the operator has no picker',
      { capabilities: { ...capabilities, endpointPickerImage: null } },
      { state: 'unfit', reason: 'EndpointPickerNotConfigured' },
    ],
    [
      'not where the cluster has none',
      { capabilities: { ...capabilities, inferencePools: false } },
      { state: 'unfit', reason: 'InferencePoolMissing' },
    ],
    [
      'not where the operator may not read it',
      { capabilities: { ...capabilities, inferencePools: false, forbidden: ['inferencepools'] } },
      { state: 'unfit', reason: 'InferencePoolForbidden' },
    ],
  ])('%s', (_, change, expected) => {
    expect(pool(change)).toMatchObject(expected);
  });

  test('with completions alone: bodies that a picker cannot read go to the Service', () => {
    const route = routeTo(leading);
    expect(kinds(route)).toEqual([
      '/v1 Service',
      '/openai Service',
      '/health Service',
      '/v1/chat/completions?llmservice-pool InferencePool',
      '/v1/chat/completions InferencePool',
      '/v1/completions InferencePool',
      '/openai/v1/chat/completions InferencePool',
      '/openai/v1/completions InferencePool',
    ]);
    expect(route.spec.rules[2]).toMatchObject({
      matches: [{ path: { type: 'Exact' } }, {}, {}, {}],
      backendRefs: [{ group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'demo' }],
      timeouts: { request: '0s' },
    });
  });

  test('behind a prefix, which the pods do not see', () => {
    const { rules } = routeTo(leading, { pathPrefix: '/demo' }).spec;
    expect(rules).toHaveLength(8);
    expect(rules[5]).toMatchObject({
      matches: [{ path: { type: 'Exact', value: '/demo/v1/completions' } }],
      filters: [{ urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/v1/completions' } } }],
      backendRefs: [{ kind: 'InferencePool' }],
    });
  });

  test.each<[string, Pool, object]>([
    ['before there is a pool to ask for', { ...leading, awaits: 'pool' }, {}],
    [
      'while another service stands in',
      leading,
      { fallback: { state: 'active', service: 'other', scheme: 'http', answers: true, recheckMs: null } },
    ],
  ])('not %s', (_, planned, change) => {
    expect(kinds(routeTo(planned, {}, change)).join()).not.toContain('InferencePool');
  });
});

/** What the gateway says of the route as it is. */
function judged(condition: object, of: Pool = leading): HttpRoute {
  const route = routeTo(of);
  return {
    ...route,
    metadata: { ...route.metadata, generation: 2 },
    status: {
      parents: [
        {
          parentRef: { name: 'public', namespace: 'gateways' },
          controllerName: 'example.org/gateway',
          conditions: [{ type: 'ResolvedRefs', status: 'False', reason: 'InvalidKind', ...condition }],
        },
      ],
    },
  };
}

/** The route that asks, with what the gateway says of both that it judges. */
function answered(resolved = 'True'): HttpRoute {
  const route = judged({}, { ...leading, awaits: 'gateway' });
  const conditions = [
    { type: 'Accepted', status: 'True', observedGeneration: 2 },
    { type: 'ResolvedRefs', status: resolved, reason: 'BackendNotFound', observedGeneration: 2 },
  ];
  const parents = [{ ...route.status!.parents![0]!, conditions }];
  return { ...route, status: { parents } };
}
const complaint = { observedGeneration: 2, message: 'Kind is invalid' };

describe('a gateway that leads to no InferencePool', () => {
  test('says so when it is asked, before a completion goes there', () => {
    const asked = judged(complaint, { ...leading, awaits: 'gateway' });
    expect(pool({ route: asked })).toMatchObject({ state: 'refused' });
  });

  test('has its route lead to the Service again', () => {
    const refused = pool({ route: judged(complaint) });
    expect(refused).toMatchObject({
      state: 'refused',
      message: expect.stringContaining('(Kind is invalid)'),
    });
    expect(kinds(routeTo(refused)).join()).not.toContain('InferencePool');
  });

  test.each([
    [{ reason: 'BackendNotFound' }],
    [{ type: 'Accepted', reason: 'UnsupportedValue' }],
    [{ reason: 'RefNotPermitted', message: undefined }],
  ])('is recognised by whatever it has against the route: %j', (said) => {
    expect(pool({ route: judged({ ...complaint, ...said }) })).toMatchObject({ state: 'refused' });
  });

  test('is not asked again by that route, until the retry annotation changes', () => {
    const plain = judged(
      { status: 'True', reason: 'ResolvedRefs', observedGeneration: 3 },
      pool({ route: judged(complaint) }),
    );
    expect(pool({ route: plain })).toMatchObject({ state: 'refused' });
    expect(pool({ route: plain, service: { ...service, retry: 'again' } })).toMatchObject({
      awaits: 'gateway',
    });
  });

  describe('for a reason that may pass', () => {
    const passing = { ...complaint, reason: 'BackendNotFound', message: 'no InferencePool demo' };
    /** The plain route that is written then, later. */
    const later = (minutes: number, of: Pool, change: Partial<PoolInputs> = {}): Pool => {
      const route = judged({ status: 'True', observedGeneration: 3 }, of);
      const at = new Date(Date.parse(now) + minutes * 60_000).toISOString();
      return pool({ route, now: at, ...change });
    };

    test('costs no request and is no refusal while it is only asked: istio finds a pool a moment later', () => {
      const asking = pool({ route: answered('False') });
      expect(asking).toMatchObject({ state: 'planned', awaits: 'gateway', said: 'BackendNotFound' });
      expect(kinds(routeTo(asking)).filter((kind) => kind.endsWith('InferencePool'))).toEqual([
        '/v1/chat/completions?llmservice-pool InferencePool',
      ]);
      const seen = { routing, pool: asking, httpRoute: answered('False') };
      expect(verdict(seen, 'Routed')).toBe('True InferencePoolUnanswered');
    });

    test('is asked again by itself, after a minute at first', () => {
      const refused = pool({ route: judged(passing) });
      expect(refused).toMatchObject({ state: 'refused', recheckMs: 60_000 });
      expect(refused).toMatchObject({ message: expect.stringContaining('again at 2026-11-30T12:01:00Z') });
      expect(later(0.9, refused)).toMatchObject({ state: 'refused', recheckMs: 6_000 });
      const again = later(1, refused);
      expect(again).toMatchObject({ awaits: 'gateway' });
      expect(routeTo(again).metadata.annotations).toMatchObject({
        [annotations.poolRefusals]: `1 ${now}`,
      });
    });

    test('is asked ever later, after an hour at last, and after a day as at first', () => {
      let of = pool({ route: judged(passing) });
      const waits = [];
      for (let time = Date.parse(now), turn = 0; turn < 9; turn += 1) {
        if (of.state !== 'refused') throw new Error('it is refused');
        waits.push(of.recheckMs! / 60_000);
        time += of.recheckMs!;
        const at = new Date(time).toISOString();
        const asks = pool({ route: judged({ status: 'True' }, of), now: at });
        expect(asks).toMatchObject({ awaits: 'gateway' });
        of = pool({ route: judged(passing, { ...asks, awaits: null } as Pool), now: at });
      }
      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
      const tomorrow = new Date(Date.parse(now) + 36 * 3_600_000).toISOString();
      const leading = { ...of, state: 'planned', image: 'picker:1', awaits: null, byIstio: false } as Pool;
      expect(pool({ route: judged(passing, leading), now: tomorrow })).toMatchObject({ recheckMs: 60_000 });
    });

    test('is not asked again by itself where it says of the kind too that it does not have it', () => {
      expect(pool({ route: judged(complaint) })).not.toHaveProperty('recheckMs');
    });
  });

  test.each([
    ['of the route as it was before', { ...complaint, observedGeneration: 1 }],
    ['in its favour', { ...complaint, status: 'True' }],
    ['of something else', { ...complaint, type: 'Programmed' }],
  ])('is not recognised by what it says %s', (_, condition) => {
    expect(pool({ route: judged(condition) })).toMatchObject({ awaits: null });
  });
});

test.each<[string, Pool, string]>([
  ['that leads', leading, 'True InferencePool'],
  ['whose picker does not answer', { ...leading, awaits: 'picker' }, 'True EndpointPickerPending'],
  ['that the gateway has not judged', { ...leading, awaits: 'gateway' }, 'True InferencePoolUnanswered'],
  [
    'that nobody can make',
    { state: 'unfit', reason: 'InferencePoolMissing', message: '' },
    'True InferencePoolMissing',
  ],
  ['that was refused', { state: 'refused', retry: '', message: '' }, 'True InferencePoolRefused'],
])(
  'Routed says of a pool %s what became of it, and a route that is there stays True',
  (_, planned, expected) => {
    const accepted = ['Accepted', 'ResolvedRefs'].map((type) => ({ type, status: 'True' }));
    const httpRoute = judged({});
    const parents = [{ ...httpRoute.status!.parents![0]!, conditions: accepted }];
    const seen = { routing, pool: planned, httpRoute: { ...httpRoute, status: { parents } } };
    expect(verdict(seen, 'Routed')).toBe(expected);
  },
);
