import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOf } from '../kube/resources.js';
import { readManifests, type Manifests } from './read-manifests.js';

const service = (name: string) =>
  `apiVersion: llmservice.dev/v1alpha1\nkind: LlmService\nmetadata: { name: ${name} }\nspec: { model: { uri: s3://b/p/ } }\n`;

const read = (text: string): Promise<Manifests> => readManifests(['-'], Readable.from([text]), 'team');

test('LlmServices are separated from other objects, empty documents and comments are none', async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: s3 }\n';
  const { services, others, problems } = await read(
    `---\n# Source: chart\n---\n${service('a')}---\n${secret}`,
  );
  expect(problems).toEqual([]);
  expect(services.map(({ object }) => keyOf(object))).toEqual(['team/a']);
  expect(services[0]?.source).toBe('standard input, document 2');
  expect(others.map(({ object }) => object.kind)).toEqual(['Secret']);
});

test('a List is its items, and JSON is YAML', async () => {
  const items = [{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService', metadata: { name: 'a' } }];
  const { services } = await read(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  expect(services).toHaveLength(1);
});

test('a kind of that name of another group is passed over', async () => {
  const { services, others, problems } = await read(service('a').replace('llmservice.dev', 'example.org'));
  expect([services.length, others.length]).toEqual([0, 1]);
  expect(problems).toEqual(['there is no LlmService in them']);
});

describe('every problem is reported with its place', () => {
  test.each([
    ['broken YAML', 'a: [', 'standard input, document 1: '],
    ['a key twice', 'a: 1\na: 2\n', 'Map keys must be unique'],
    ['no object', '- 1\n', 'apiVersion and kind are required'],
    ['no kind', 'apiVersion: v1\n', 'apiVersion and kind are required'],
    ['no name', service('').replace('{ name:  }', '{}'), 'metadata.name is required'],
    ['no metadata', service('a').replace('metadata: { name: a }\n', ''), 'metadata.name is required'],
    ['a bad name', service('Demo_1'), 'metadata.name is required'],
    ['a number for a namespace', service('a, namespace: 1'), 'metadata.namespace must be a string'],
    ['nothing', '', 'there is no LlmService in them'],
    [
      'the same service twice',
      `${service('a')}---\n${service('a')}`,
      'team/a is in standard input, document 1',
    ],
    [
      'aliases that grow without end',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      'alias',
    ],
  ])('%s', async (_name, text, part) => {
    const { problems } = await read(text);
    expect(problems.join('\n')).toContain(part);
  });
});

describe('files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmservice-manifests-'));
    await mkdir(join(folder, 'chart/templates'), { recursive: true });
    await mkdir(join(folder, 'empty'));
    await writeFile(join(folder, 'chart/templates/b.yml'), service('b'));
    await writeFile(join(folder, 'a.yaml'), service('a'));
    await writeFile(join(folder, 'notes.txt'), 'a: [');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('of a folder are those of its folders too', async () => {
    const { services, problems } = await readManifests([folder], Readable.from([]), 'team');
    expect(problems).toEqual([]);
    expect(services.map(({ object }) => object.metadata.name)).toEqual(['a', 'b']);
  });

  test.each(['absent.yaml', 'empty'])('%s is reported by its name', async (name) => {
    const { problems } = await readManifests([join(folder, name)], Readable.from([]), 'team');
    expect(problems.join()).toContain(name);
  });
});

describe('a service of v1beta1', () => {
  const beta = (spec: string): string =>
    service('a').replace('v1alpha1', 'v1beta1').replace('spec: { ', `spec: { ${spec}, `);

  test('is read as one of v1alpha1, and what is said of it has its own names', async () => {
    const { services, problems } = await read(beta('suspend: true, accelerator: { count: 2 }'));
    expect(problems).toEqual([]);
    expect(services).toMatchObject([
      {
        object: { apiVersion: 'llmservice.dev/v1alpha1', spec: { stop: true, accelerator: { devices: 2 } } },
        inBeta: true,
      },
    ]);
  });

  test('may have no names of v1alpha1', async () => {
    const { services, problems } = await read(beta('stop: true'));
    expect(services).toEqual([]);
    expect(problems).toEqual([
      'standard input, document 1: spec.stop is not a known field of v1beta1; its name there is suspend',
    ]);
  });
});
