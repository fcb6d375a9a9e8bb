import { describe, expect, test } from '@jest/globals';
import type { LlmGatewaySpec } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import type { PodAuthority } from '../traffic/pod-authority.js';
import { concernedServices, routeModels } from './route-models.js';

const service = (name: string, spec: object = {}, day = 1, status?: object): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: {
    name,
    namespace: 'team',
    creationTimestamp: `2026-01-0${String(day)}T00:00:00Z`,
    labels: { of: name },
  },
  spec: { model: {}, ...spec },
  ...(status === undefined ? {} : { status: { conditions: [{ type: 'Serving', ...status }] } }),
});

function routed(
  spec: Partial<LlmGatewaySpec>,
  services: KubeObject[],
  authority: PodAuthority = { state: 'none' },
) {
  const { routes, states, problems } = routeModels(
    { namespace: 'team', spec: spec as LlmGatewaySpec },
    services,
    () => authority,
  );
  return {
    routes,
    states,
    names: routes.map((route) => [route.name, ...route.aliases, route.service].join(' ')),
    problems: problems.map(({ path, message }) => `${path}: ${message}`),
  };
}

describe('without a list', () => {
  test('each name of each service is a model, adapters on their own', () => {
    const { names, routes, problems } = routed({}, [
      service('a', {
        model: { name: 'A', aliases: ['A-1'] },
        adapters: [{ name: 'law', uri: 's3://b/law/' }],
      }),
      service('b'),
    ]);
    expect(names).toEqual(['A A-1 a', 'law a', 'b b']);
    expect(routes[1]?.served).toEqual(['A', 'A-1', 'law']);
    expect(problems).toEqual([]);
  });

  test('a name of two is the older one’s, and that is said', () => {
    const same = { model: { name: 'same', aliases: ['other'] } };
    const { names, problems } = routed({}, [
      service('a', same, 2),
      service('b', { model: { name: 'same' } }, 1),
    ]);
    expect(names).toEqual(['same b', 'other a']);
    expect(problems).toEqual([
      expect.stringContaining('spec.serviceSelector: selects b and a, which both serve same'),
    ]);
  });

  test('a selector chooses', () => {
    const serviceSelector = { matchLabels: { of: 'b' } };
    expect(routed({ serviceSelector }, [service('a'), service('b')]).names).toEqual(['b b']);
  });
});

describe('with a list', () => {
  const models = [{ name: 'chat', service: 'a', fallback: ['b'] }];

  test('it alone is served, and beside it what is selected, with its names first', () => {
    const services = [service('a'), service('b')];
    expect(routed({ models: [{ name: 'b', service: 'a' }] }, services).names).toEqual(['b a']);
    const both = routed(
      { models: [{ name: 'b', service: 'a' }], serviceSelector: { matchLabels: {} } },
      services,
    );
    expect(both.names).toEqual(['b a', 'a a']);
    expect(both.problems).toEqual([expect.stringContaining('which both serve b')]);
  });

  test('keeps the names of what is not there from services that are selected', () => {
    const { names, states, problems } = routed(
      {
        models: [{ name: 'b', service: 'gone', aliases: ['c'], visibleTo: ['team-a'] }],
        serviceSelector: { matchLabels: {} },
      },
      [service('b'), service('c', { model: { aliases: ['free'] } }, 2)],
    );
    expect(names).toEqual(['free c']);
    expect(states.map(({ name, state }) => `${name} ${state}`)).toEqual(['free NotReady', 'b Unresolved']);
    expect(problems.slice(1)).toEqual([
      expect.stringContaining('which both serve b'),
      expect.stringContaining('which both serve c'),
    ]);
  });

  test('hides a selected service by its own names from whom a listed model hides it', () => {
    const adapters = [{ name: 'law', uri: 's3://b/law/' }];
    const { routes } = routed(
      {
        models: [
          { name: 'chat', service: 'a', visibleTo: ['team-a', 'team-b'] },
          { name: 'beta', service: 'a', visibleTo: ['team-b', 'team-c'] },
          { name: 'open', service: 'a' },
        ],
        serviceSelector: { matchLabels: {} },
      },
      [service('a', { adapters }), service('b', {}, 2)],
    );
    expect(routes.slice(2).map(({ name, visibleTo }) => ({ name, visibleTo }))).toEqual([
      { name: 'open', visibleTo: null },
      { name: 'a', visibleTo: ['team-b'] },
      { name: 'law', visibleTo: ['team-b'] },
      { name: 'b', visibleTo: null },
    ]);
  });

  test('what cannot be is said with its field: %s', () => {
    const vllm = { engine: { runtime: 'vllm' } };
    const adapters = [{ name: 'law', uri: 's3://b/law/' }];
    const rows: [object[], KubeObject[], string][] = [
      [
        [{ name: 'chat', service: 'none' }],
        [],
        'spec.models[0].service: names LlmService none, which does not exist in team',
      ],
      [models, [service('a')], 'spec.models[0].fallback[0]: names b, which is no model'],
      [[{ name: 'x', service: 'a' }], [service('a', vllm)], 'spec.models[0].name: a runs vLLM'],
      [
        [{ name: 'a', service: 'a', aliases: ['x'] }],
        [service('a', vllm)],
        'spec.models[0].aliases: a runs vLLM',
      ],
      [
        [{ name: 'law', service: 'a', aliases: ['x'] }],
        [service('a', { adapters })],
        'spec.models[0].aliases: law is an adapter',
      ],
      [
        [
          { name: 'law', service: 'a' },
          { name: 'b', service: 'a', fallback: ['law'] },
        ],
        [service('a', { adapters })],
        'spec.models[1].fallback[0]: names law, an adapter',
      ],
      [
        [...models, { name: 'b', service: 'b' }],
        [service('a'), service('b', vllm)],
        'spec.models[0].fallback[0]: names b of b, which runs vLLM',
      ],
      [
        [{ name: 'a', service: 'a' }],
        [service('a', { tls: { secretRef: { name: 't' } } })],
        'spec.models[0].service: names a, whose pods speak HTTPS',
      ],
    ];
    for (const [list, services, said] of rows) {
      const { problems } = routed({ models: list as NonNullable<LlmGatewaySpec['models']> }, services);
      expect(problems).toEqual([expect.stringContaining(said)]);
    }
  });

  test('a fallback that cannot stand in keeps the others', () => {
    const [first] = routed(
      {
        models: [
          { name: 'chat', service: 'a', fallback: ['none', 'b'] },
          { name: 'b', service: 'b' },
        ],
      },
      [service('a'), service('b')],
    ).routes;
    expect(first?.fallback).toEqual(['b']);
  });
});

test('pods that speak HTTPS are verified by their authorities, for the name of their Service', () => {
  const tls = { secretRef: { name: 't' }, caConfigMapRef: { name: 'ca' } };
  const [route] = routed({}, [service('a', { tls })], { state: 'known', pem: 'PEM' }).routes;
  expect(route).toMatchObject({ url: 'https://a.team.svc:443', ca: 'PEM' });
});

test('each model says how its service is', () => {
  const services = [
    service('a', {}, 1, { status: 'True' }),
    service('b', {}, 2, { status: 'False', reason: 'Asleep' }),
    service('c', {}, 3, { status: 'False', reason: 'Loading' }),
    service('d', {}, 4),
  ];
  expect(routed({}, services).states.map(({ state }) => state)).toEqual([
    'Ready',
    'Asleep',
    'NotReady',
    'NotReady',
  ]);
});

test('services concern a gateway that it names or selects', () => {
  const services = [service('a'), service('b'), service('c')];
  const names = (spec: object): string =>
    concernedServices(spec as LlmGatewaySpec, services)
      .map(({ metadata }) => metadata.name)
      .join('');
  const models = [{ name: 'x', service: 'a' }];
  expect(names({})).toBe('abc');
  expect(names({ models })).toBe('a');
  expect(names({ models, serviceSelector: { matchLabels: { of: 'c' } } })).toBe('ac');
});
