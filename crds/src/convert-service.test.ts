import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { betaFields } from './beta-fields.js';
import { alphaNamesIn, betaText, convertService, serviceVersionOf } from './convert-service.js';
import { llmServiceSchema } from './generated/llm-service-schema.js';
import { api } from './names.js';
import { randomObject, randomOf } from './random-object.fixture.js';

const alpha = (spec: unknown): { apiVersion: string; spec: unknown } => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  spec,
});
const beta = (spec: unknown): { apiVersion: string; spec: unknown } => ({
  apiVersion: 'llmservice.dev/v1beta1',
  spec,
});

// Written by hand, not by the table.
const rows: readonly [alpha: object, beta: object][] = [
  [{ accelerator: { devices: 4, profile: 'h100' } }, { accelerator: { count: 4, profile: 'h100' } }],
  [
    { model: { cache: { kind: 'pvc', claimName: 'a' } } },
    { model: { cache: { type: 'pvc', claimName: 'a' } } },
  ],
  [{ stop: false }, { suspend: false }],
  [{ routing: { host: 'a.test' } }, { routing: { hostname: 'a.test' } }],
  [{ routing: { fallback: { service: 'b' } } }, { routing: { fallback: { serviceName: 'b' } } }],
  [{ server: { maxBodiesBytes: 1 } }, { server: { maxTotalBodyBytes: 1 } }],
  [{ requestLog: { text: true } }, { requestLog: { includeText: true } }],
  [{ rollout: { strategy: 'Surge' } }, { rollout: { strategy: 'surge' } }],
  [{ rollout: { noProgressTimeoutSeconds: 9 } }, { rollout: { progressDeadlineSeconds: 9 } }],
  [
    { canary: { steps: [{ weight: 5 }, { mirrorPercent: 1 }, { weight: 0, pauseSeconds: 3 }] } },
    {
      canary: { steps: [{ weightPercent: 5 }, { mirrorPercent: 1 }, { weightPercent: 0, pauseSeconds: 3 }] },
    },
  ],
];

describe('between the versions', () => {
  test.each(rows)('%j is %j', (older, newer) => {
    expect(convertService(alpha(older), 'v1beta1')).toEqual(beta(newer));
    expect(convertService(beta(newer), 'v1alpha1')).toEqual(alpha(older));
  });

  test('every row of the table has a case here', () => {
    expect(rows).toHaveLength(betaFields.length);
  });

  test('a member keeps its place, and what is given is not changed', () => {
    const given = Object.freeze(alpha(Object.freeze({ replicas: 2, stop: true, env: [] })));
    expect(JSON.stringify(convertService(given, 'v1beta1'))).toBe(
      '{"apiVersion":"llmservice.dev/v1beta1","spec":{"replicas":2,"suspend":true,"env":[]}}',
    );
  });

  test.each([null, 3, 'text', [], { accelerator: 'h100', canary: { steps: [null, 1, { weight: {} }] } }])(
    'a spec of another type, %j, passes and comes back as it was',
    (spec) => {
      expect(convertService(convertService(alpha(spec), 'v1beta1'), 'v1alpha1')).toEqual(alpha(spec));
    },
  );

  test('an object without a spec passes', () => {
    const status = { apiVersion: 'llmservice.dev/v1alpha1', status: { canary: { weight: 3 } } };
    expect(convertService(status, 'v1beta1')).toEqual({ ...status, apiVersion: 'llmservice.dev/v1beta1' });
  });

  test('a name of the other version does not displace the version’s own', () => {
    expect(convertService(alpha({ stop: true, suspend: false }), 'v1beta1')).toEqual(beta({ suspend: true }));
    expect(convertService(beta({ suspend: false, stop: true }), 'v1alpha1')).toEqual(alpha({ stop: false }));
  });

  test.each(rows.filter(([older]) => !JSON.stringify(older).includes('"strategy"')))(
    'a name of the other version, as in %j, does not become the field',
    (older, newer) => {
      expect(convertService(beta(older), 'v1alpha1')).not.toEqual(alpha(older));
      expect(convertService(alpha(newer), 'v1beta1')).not.toEqual(beta(newer));
    },
  );

  test.each(['llmservice.dev/v1', 'v1beta1', 'example.org/v1beta1', undefined, 7])(
    '%j is refused',
    (version) => {
      expect(() => serviceVersionOf(version)).toThrow(
        'is none of llmservice.dev/v1alpha1 and llmservice.dev/v1beta1',
      );
    },
  );
});

describe('there and back', () => {
  const samples = new URL('../../deploy/samples/', import.meta.url);
  const manifests = readdirSync(samples)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) =>
      [...parseAllDocuments(readFileSync(new URL(name, samples), 'utf8'))].map(
        (document) => [name, document.toJS() as { apiVersion: string; kind: string }] as const,
      ),
    )
    .filter(([, { kind }]) => kind === api.kind);

  test.each(manifests)('%s is the same', (_, manifest) => {
    const [one, other] =
      manifest.apiVersion === api.groupVersion ? ['v1beta1', 'v1alpha1'] : ['v1alpha1', 'v1beta1'];
    const there = convertService(manifest, serviceVersionOf(`llmservice.dev/${one}`));
    expect(convertService(there, serviceVersionOf(`llmservice.dev/${other}`))).toEqual(manifest);
  });

  test('so are objects of any fields', () => {
    const { spec } = (llmServiceSchema as { properties: { spec: object } }).properties;
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = randomOf(seed);
      const object = alpha(randomObject(spec, random, seed % 3 === 0 ? 1 : random()));
      const text = JSON.stringify(object);
      const there = convertService(object, 'v1beta1');
      expect(alphaNamesIn(there)).toEqual([]);
      expect(JSON.stringify(convertService(there, 'v1alpha1'))).toBe(text);
      // All fields are there: none of those that are renamed was missed.
      if (seed % 3 === 0) expect(there).not.toEqual(beta(object.spec));
    }
  });
});

test('names of v1alpha1 in v1beta1 are reported with the name that they have there', () => {
  const spec = { stop: true, rollout: { strategy: 'Drain' }, canary: { steps: [{}, { weight: 1 }] } };
  expect(alphaNamesIn(beta(spec))).toEqual([
    { path: 'spec.stop', message: 'is not a known field of v1beta1; its name there is suspend' },
    { path: 'spec.rollout.strategy', message: 'is drain in v1beta1, not Drain' },
    {
      path: 'spec.canary.steps[1].weight',
      message: 'is not a known field of v1beta1; its name there is weightPercent',
    },
  ]);
});

test.each([
  ['spec.routing.host', 'spec.routing.hostname'],
  ['spec.canary.steps[12].weight', 'spec.canary.steps[12].weightPercent'],
  ['set routing.host, and no provider', 'set routing.hostname, and no provider'],
  ['routing.hosts of the chart', 'routing.hosts of the chart'],
  ['the host of routing', 'the host of routing'],
  ['status.canary.weight', 'status.canary.weight'],
  ['spec.stop', 'spec.suspend'],
])('%j is %j in v1beta1', (older, newer) => {
  expect(betaText(older)).toBe(newer);
});
