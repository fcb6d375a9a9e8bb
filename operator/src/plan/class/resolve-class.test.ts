import { describe, expect, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import { specHash } from '../rollouts/spec-hash.js';
import { after, gpu, known, refused, service, taken } from './class.fixture.js';
import { resolveClass } from './resolve-class.js';
import { asResolved, asWritten } from './resolved-object.js';

describe('defaults', () => {
  const defaults = {
    model: { s3: { endpoint: 'https://s3.example.org', caConfigMapRef: { name: 'ca' } } },
    accelerator: { profile: 'h100' },
    engine: { image: 'example.org/runtime:1' },
    env: [
      { name: 'A', value: 'class' },
      { name: 'MAX_NUM_SEQS', value: '8' },
    ],
    nodeSelector: { pool: 'gpu', zone: 'a' },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    routing: { hostSuffix: 'models.example.org' },
    budget: { deviceHoursPerMonth: 100 },
  };

  test('are what a service has that names none', () => {
    const { spec, taken: kept } = taken(resolveClass(service(), known(gpu({ defaults }))));
    expect(spec).toMatchObject({
      model: { s3: { endpoint: 'https://s3.example.org', caConfigMapRef: { name: 'ca' } } },
      accelerator: { profile: 'h100', resourceName: 'none' },
      engine: { image: 'example.org/runtime:1', maxNumSeqs: 8 },
      nodeSelector: { pool: 'gpu', zone: 'a' },
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      routing: { host: 'demo.team.models.example.org' },
      budget: { deviceHoursPerMonth: 100 },
    });
    expect(kept).toMatchObject({ name: 'gpu', generation: 1, values: { accelerator: { profile: 'h100' } } });
  });

  test('yield to what it names: maps by key, lists by name, tolerations beside its own', () => {
    const own = {
      env: [{ name: 'A', value: 'own' }],
      engine: { maxNumSeqs: 4 },
      nodeSelector: { zone: 'b' },
      tolerations: [{ key: 'team', operator: 'Exists' }],
      routing: { host: 'own.example.org' },
      budget: { costPerMonth: '9', costPerDeviceHour: '1' },
    };
    const { spec, taken: kept } = taken(resolveClass(service(own), known(gpu({ defaults }))));
    expect(spec.env).toEqual([{ name: 'A', value: 'own' }]);
    expect(spec.engine.maxNumSeqs).toBe(4);
    expect(spec.nodeSelector).toEqual({ zone: 'b', pool: 'gpu' });
    expect(spec.tolerations?.map(({ key }) => key)).toEqual(['team', 'gpu']);
    expect(spec.routing.host).toBe('own.example.org');
    expect(spec.budget.deviceHoursPerMonth).toBeUndefined();
    expect(Object.keys(kept.values)).not.toContain('routing');
  });

  test('of an accelerator yield as one, and so do authorities of another store', () => {
    const own = { accelerator: { resourceName: 'amd.com/gpu', memoryPerDevice: '48Gi' } };
    expect(taken(resolveClass(service(own), known(gpu({ defaults })))).spec.accelerator).toEqual({
      ...{ resourceName: 'amd.com/gpu', memoryPerDevice: '48Gi', devices: 1 },
    });
    const hub = { model: { uri: 'hf://Qwen/Qwen3-0.6B' } };
    const { model } = taken(resolveClass(service(hub), known(gpu({ defaults })))).spec;
    expect(model.s3.caConfigMapRef).toBeUndefined();
  });

  test('make the same pods as the same values in the spec', () => {
    const { service: ofClass } = taken(
      resolveClass(service(), known(gpu({ defaults: { nodeSelector: { a: 'b' } } }))),
    );
    const written = resolveClass(service({ nodeSelector: { a: 'b' }, className: undefined }), known());
    expect(written.ok && specHash(written.service)).toBe(specHash(ofClass));
  });

  test('that break the spec are said with whose they are', () => {
    const broken = known(gpu({ defaults: { accelerator: { profile: 'no-such-card' } } }));
    expect(refused(resolveClass(service(), broken)).join()).toMatch(
      /^spec\.accelerator\.profile .*\(of LlmServiceClass gpu\)/,
    );
  });

  test('are seen where many services are read, and the spec as written is kept', () => {
    const object = after({}, known(gpu({ defaults })));
    const seen = asResolved(object);
    expect(seen['spec']).toMatchObject({ routing: { host: 'demo.team.models.example.org' } });
    expect(asWritten(seen)).toEqual(object);
    expect(taken(resolveClass(seen, known(gpu({ defaults })))).newer).toBeNull();
  });
});

describe('a change of the class', () => {
  const one = known(gpu({ defaults: { nodeSelector: { pool: 'a' } } }));
  const two = known(gpu({ defaults: { nodeSelector: { pool: 'b' } } }, 2));

  test('changes nothing of a service, which says that it is there', () => {
    const { spec, newer, taken: kept } = taken(resolveClass(after({}, one), two));
    expect(spec.nodeSelector).toEqual({ pool: 'a' });
    expect(newer).toEqual({ generation: 2, fields: ['nodeSelector'] });
    expect(kept.generation).toBe(1);
  });

  test.each([
    ['the number of replicas', { replicas: 3 }],
    ['a stop', { stop: true }],
    ['a canary', { routing: { host: 'a.example' }, canary: { steps: [{ weight: 10 }] } }],
  ])('does not come with %s', (_, change) => {
    const before = after('routing' in change ? { routing: change.routing } : {}, one, change);
    expect(taken(resolveClass(before, two)).spec.nodeSelector).toEqual({ pool: 'a' });
  });

  test('comes with a change that makes other pods, or when it is asked for', () => {
    const changed = after({}, one, { engine: { maxNumSeqs: 5 } });
    expect(taken(resolveClass(changed, two)).spec.nodeSelector).toEqual({ pool: 'b' });
    const asked = after({}, one, {}, { 'llmservice.dev/refresh-class': '1' });
    const fresh = taken(resolveClass(asked, two));
    expect(fresh.spec.nodeSelector).toEqual({ pool: 'b' });
    expect(fresh.taken.generation).toBe(2);
  });

  test('that means nothing to the service is taken at once', () => {
    const other = known(gpu({ defaults: { nodeSelector: { pool: 'a' } }, bounds: { maxDevices: 8 } }, 2));
    expect(taken(resolveClass(after({}, one), other))).toMatchObject({
      newer: null,
      taken: { generation: 2 },
    });
  });

  test('leaves what is taken where the class is gone, unknown or unreadable', () => {
    for (const classes of [known(), { state: 'absent' }, { state: 'forbidden' }] as const) {
      const { spec, problem } = taken(resolveClass(after({}, one), classes));
      expect(spec.nodeSelector).toEqual({ pool: 'a' });
      expect(problem).not.toBeNull();
    }
  });

  test.each([
    ['adapters', { engine: { maxAdapters: 1 } }, { adapters: [{ name: 'a', uri: 's3://other/a/' }] }],
    ['a budget', {}, { budget: { deviceHoursPerMonth: 9 } }],
    ['an autoscaler', {}, { scaling: { maxReplicas: 90 } }],
  ])('has %s wait where the class is gone, unknown or unreadable', (_, own, change) => {
    const changed = after(own, one, change);
    for (const classes of [known(), { state: 'absent' }, { state: 'forbidden' }] as const)
      expect(refused(resolveClass(changed, classes)).join()).toContain('spec.className');
  });
});

test('a class that is not there is refused with the names of those that are', () => {
  expect(refused(resolveClass(service({ className: 'cpu' }), known(gpu({}))))).toEqual([
    'spec.className names LlmServiceClass cpu, which does not exist (there are gpu); create it, or name another',
  ]);
  expect(refused(resolveClass(service(), { state: 'forbidden' })).join()).toContain('ClusterRole');
  expect(refused(resolveClass(service(), { state: 'absent' })).join()).toContain('upgrade the chart');
});

describe('bounds', () => {
  test('that come later are reported, and stop nothing', () => {
    const first = known(gpu({}));
    const later = known(gpu({ bounds: { maxReplicas: 2, uris: ['s3://other/**'] } }, 2));
    const running = after({ replicas: 4 }, first);
    const status = running['status'] as LlmServiceStatus;
    const { problem, spec } = taken(resolveClass({ ...running, status: { ...status, replicas: 4 } }, later));
    expect(problem?.reason).toBe('OutOfBounds');
    expect(problem?.message).toMatch(/spec\.replicas is 4.*spec\.model\.uri/);
    expect(spec.replicas).toBe(4);
    // An autoscaler adds none.
    const scaled = { ...service({ replicas: 6 }), status: { ...status, replicas: 4 } };
    expect(taken(resolveClass(scaled, later)).spec.replicas).toBe(4);
    const lowered = { ...service({ replicas: 3 }), status: { ...status, replicas: 4 } };
    expect(taken(resolveClass(lowered, later)).spec.replicas).toBe(3);
  });

  test('add no replica for pods of a rollout, for a schedule or for an autoscaler', () => {
    const later = known(gpu({ bounds: { maxReplicas: 2 } }, 2));
    const office = {
      name: 'office',
      timeZone: 'Etc/UTC',
      start: '0 8 * * *',
      end: '0 18 * * *',
      minReplicas: 6,
    };
    const own = { replicas: 6, scaling: { minReplicas: 5, maxReplicas: 9, schedules: [office] } };
    const running = after(own, known(gpu({})));
    const status = running['status'] as LlmServiceStatus;
    // One of them replaces another.
    const surging = { ...running, status: { ...status, replicas: 4 } };
    const { spec, problem } = taken(resolveClass(surging, later, 'cluster', 3));
    expect(spec.replicas).toBe(3);
    expect(spec.scaling).toMatchObject({ minReplicas: 3, maxReplicas: 3, schedules: [{ minReplicas: 3 }] });
    expect(problem?.message).toContain('spec.scaling.schedules[0].minReplicas is 6');
  });

  test('of replicas hold as they were last known where the class is gone, unknown or unreadable', () => {
    const running = after({ replicas: 2 }, known(gpu({ bounds: { maxReplicas: 3 } })));
    const status = running['status'] as LlmServiceStatus;
    expect(status.class).toMatchObject({ maxReplicas: 3 });
    const scaled = { ...service({ replicas: 9 }), status: { ...status, replicas: 2 } };
    for (const classes of [known(), { state: 'absent' }, { state: 'forbidden' }] as const)
      expect(taken(resolveClass(scaled, classes)).spec.replicas).toBe(3);
    const { class: of } = status;
    const before = { ...scaled, status: { class: { ...of, maxReplicas: undefined } as never } };
    expect(taken(resolveClass(before, known())).spec.replicas).toBe(9);
  });

  test('of replicas leave room for the pods of a canary', () => {
    const tries = { routing: { host: 'a.example' }, canary: { steps: [{ weight: 10 }] } };
    const bounds = known(gpu({ bounds: { maxReplicas: 3 } }));
    const { status } = after({ replicas: 2, ...tries }, bounds);
    const scaled = { ...service({ replicas: 9, ...tries }), status };
    expect(taken(resolveClass(scaled, bounds)).spec.replicas).toBe(2);
  });

  test('that came later refuse the next change of the spec, though it rolls no pod', () => {
    const later = known(gpu({ bounds: { maxReplicas: 2 } }, 2));
    const changed = after({}, known(gpu({})), { scaling: { maxReplicas: 5 } });
    expect(refused(resolveClass(changed, later)).join()).toContain('spec.scaling.maxReplicas is 5');
  });
});
