// What the chart of a service renders: its fields, and the Job that waits until it serves.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { repository } from '../processes.js';
import { Helm } from './helm.js';

const helm = new Helm();
afterAll(() => helm.remove());

describe('the service chart', () => {
  const rendered = (...args: string[]) =>
    helm.template('llm-service', '--set', 'model.uri=s3://bucket/tiny/', ...args);

  it('leaves replicas to kubectl scale unless they are set, zero included', async () => {
    expect(await rendered()).not.toContain('replicas:');
    expect(await rendered('--set', 'replicas=0')).toMatch(/^ {2}replicas: 0$/m);
  });

  it('waits by a hook that may read this one service, or not at all', async () => {
    expect(await rendered('--set', 'wait=serving')).toMatch(/- serving$/m);
    expect(await rendered()).toContain('resourceNames: ["llmservice-operator"]');
    expect(await rendered('--set', 'wait=none')).not.toContain('kind: Job');
  });

  it('waits by a Job that ends before Helm does, goes by itself, and runs where the values say', async () => {
    const places = { nodeSelector: { pool: 'x' }, tolerations: [{ operator: 'Exists' }] };
    const args = ['--set-json', `waitJob=${JSON.stringify(places)}`, '--show-only', 'templates/wait.yaml'];
    interface Job {
      readonly kind: string;
      readonly spec: {
        readonly ttlSecondsAfterFinished: number;
        readonly template: {
          readonly spec: { readonly containers: { args: string[]; resources: object }[] };
        };
      };
    }
    const objects = parseAllDocuments(await rendered(...args)).map((document) => document.toJS() as Job);
    const spec = objects.find(({ kind }) => kind === 'Job')?.spec;
    expect(spec).toMatchObject({ ttlSecondsAfterFinished: 86_400, template: { spec: places } });
    const [container] = spec?.template.spec.containers ?? [];
    expect(container?.resources).toHaveProperty('limits');
    // Helm waits for five minutes by default.
    expect(Number(container?.args.at(-1))).toBeLessThan(300);
  });

  it('takes the values of a release that its chart was older for', async () => {
    expect(await rendered('--set', 'waitJob=null')).toContain('kind: Job');
  });

  it('passes on every field that a service has', async () => {
    const crd = parse(await readFile(join(repository, 'crds/llmservices.llmservice.dev.yaml'), 'utf8'));
    const fields = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties as Record<
      string,
      { type: string }
    >;
    const probes: Record<string, unknown> = {
      object: { a: 'b' },
      array: [{ name: 'a' }],
      string: 'a',
      integer: 1,
      boolean: true,
    };
    const others = Object.entries(fields).filter(([field]) => field !== 'model');
    const set = others.flatMap(([field, { type }]) => [
      '--set-json',
      `${field}=${JSON.stringify(probes[type])}`,
    ]);
    const [service] = parseAllDocuments(await rendered(...set, '--show-only', 'templates/llm-service.yaml'));
    const { spec } = service?.toJS() as { spec: object };
    expect(Object.keys(spec).sort()).toEqual(Object.keys(fields).sort());
  });

  it('refuses a value that it does not know', async () => {
    await expect(rendered('--set', 'wiat=serving')).rejects.toThrow(/wiat/);
  });
});
