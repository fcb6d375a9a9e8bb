import { expect, test } from '@jest/globals';
import type { Gateway } from '../plan/traffic/routing.js';
import { describeGatewayPlan, planGateway, type GatewayReport } from './plan-gateway.js';
import type { Manifest } from './read-manifests.js';

const manifest = (kind: string, name: string, spec: object): Manifest => ({
  source: `${name}.yaml`,
  object: { apiVersion: 'llmservice.dev/v1alpha1', kind, metadata: { name, namespace: 'team' }, spec },
});
const service = (name: string, model: object = {}) =>
  manifest('LlmService', name, { model: { uri: 's3://b/m/', ...model } });
const plan = (spec: object, ...services: Manifest[]): GatewayReport =>
  planGateway(manifest('LlmGateway', 'models', spec), services);

test('a gateway without a word has the names of all services beside it', () => {
  const report = plan({}, service('first'), service('second', { name: 'big' }));
  expect(report).toMatchObject({ verdict: 'fits', problems: [], elsewhere: [] });
  expect(describeGatewayPlan(report).split('\n')).toEqual([
    'team/models: can be served (models.yaml)',
    '  model        first: first',
    '  model        big: second',
  ]);
});

test('a service that the manifests lack may be in the cluster, which is said', () => {
  const report = plan({ models: [{ name: 'chat', service: 'third', fallback: ['x'] }] }, service('first'));
  expect(report).toMatchObject({ verdict: 'fits', problems: [], elsewhere: ['third'] });
  expect(describeGatewayPlan(report)).toContain(
    '  elsewhere    third: not in these manifests, and not asked of the cluster',
  );
});

test.each([
  ['a field out of its bounds', { replicas: -1 }, 'spec.replicas '],
  ['a CEL rule', { models: [{ name: 'x', service: 'first', visibleTo: ['a'] }] }, 'spec.auth.keysSecretRef '],
  [
    'a fallback that is no model',
    { models: [{ name: 'x', service: 'first', fallback: ['y'] }] },
    'spec.models[0].fallback[0] names y',
  ],
])('%s is refused with its field', (_, spec, start) => {
  const report = plan(spec, service('first'));
  expect([report.verdict, report.problems]).toEqual(['invalid', [expect.stringContaining(start)]]);
  expect(describeGatewayPlan(report)).toContain('team/models: the manifest is wrong (models.yaml)\n  spec.');
});

test('its objects are those of the operator, with a route where the operator’s Gateway is known', () => {
  const host = 'models.example.org';
  const of = (carrier: Gateway | null): GatewayReport =>
    planGateway(manifest('LlmGateway', 'models', { routing: { host } }), [service('first')], carrier);
  const kinds = ({ objects }: GatewayReport): string[] => objects.map(({ kind }) => kind);
  expect(kinds(of(null))).toEqual(['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget']);
  const report = of({ name: 'public', namespace: 'gateways' });
  expect(kinds(report)).toContain('HTTPRoute');
  const text = describeGatewayPlan(report, true);
  expect(text).toContain('---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n');
  expect(text).toContain('"url":"http://first.team.svc:80"');
  expect(describeGatewayPlan(report)).not.toContain('---');
});

test('a service of another namespace is none of its own', () => {
  const other = service('first');
  const away = { ...other, object: { ...other.object, metadata: { name: 'first', namespace: 'else' } } };
  expect(plan({ models: [{ name: 'chat', service: 'first' }] }, away).elsewhere).toEqual(['first']);
});
