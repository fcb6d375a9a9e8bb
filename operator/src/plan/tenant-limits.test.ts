import { describe, expect, test } from '@jest/globals';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { refusedImage, refusedServiceAccount } from './tenant-limits.js';

const own = [
  'ghcr.io/llmservice/runtime-cpu:0.1.0',
  `docker.io/vllm/vllm-openai@sha256:${'a'.repeat(64)}`,
  null,
];
const imageOf = (image: string, images: readonly string[] = []) =>
  refusedImage(wantedService({ engine: { image } }), { images }, own);

describe('spec.engine.image', () => {
  test.each([
    'ghcr.io/llmservice/runtime-cpu:0.2.0',
    `ghcr.io/llmservice/runtime-cpu@sha256:${'b'.repeat(64)}`,
    'docker.io/vllm/vllm-openai:v1',
    // As the kubelet reads it.
    'vllm/vllm-openai',
  ])('%s is of a repository of the operator’s own images', (image) => {
    expect(imageOf(image)).toBeNull();
  });

  test.each([
    'ghcr.io/llmservice/runtime-cpu-evil:1',
    'ghcr.io/llmservice/other:1',
    'evil.example/ghcr.io/llmservice/runtime-cpu:0.1.0',
    'runtime-cpu',
    'localhost:5000/vllm/vllm-openai',
  ])('%s is refused, with what is allowed', (image) => {
    const obstacle = imageOf(image);
    expect(obstacle).toMatchObject({ reason: 'ImageNotAllowed', terminal: true });
    expect(obstacle?.message).toContain('ghcr.io/llmservice/runtime-cpu, docker.io/vllm/vllm-openai');
    expect(obstacle?.message).toContain('images.allowed');
  });

  test.each([
    ['registry.example/team/*', 'registry.example/team/a:1', true],
    ['registry.example/team/*', 'registry.example/team/a/b:1', false],
    ['registry.example/**', 'registry.example/team/a/b@sha256:0', true],
    ['registry.example/**', 'registry.example.evil/a', false],
    ['*.example/a', 'evil.org/x.example/a', false],
    ['registry.example:5000/a', 'registry.example:5000/a:2', true],
    ['registry.example/a:1.*', 'registry.example/a:1.2', true],
    ['registry.example/a:1.*', 'registry.example/a:2.0', false],
    ['registry.example/a:1.*', 'registry.example/a', false],
    ['python', 'python:3', true],
    ['python', 'docker.io/library/python:3', true],
    ['**', 'anything/at:all', true],
  ])('%s allows %s: %s', (pattern, image, allowed) => {
    expect(imageOf(image, [pattern]) === null).toBe(allowed);
  });

  test('left out is the operator’s', () => {
    expect(refusedImage(wantedService(), { images: [] }, own)).toBeNull();
  });
});

describe('spec.serviceAccountName', () => {
  const accountOf = (serviceAccountName: string, serviceAccounts: readonly string[]) =>
    refusedServiceAccount(wantedService({ serviceAccountName }), { serviceAccounts });

  test.each([
    ['default', [], true],
    ['reader', [], false],
    ['reader', ['ns/reader'], true],
    ['reader', ['other/reader'], false],
    ['reader', ['*/read*'], true],
    ['admin', ['*/read*', 'n/*'], false],
  ])('%s is among %j: %s', (name, patterns, allowed) => {
    const obstacle = accountOf(name, patterns);
    expect(obstacle === null).toBe(allowed);
    if (!allowed) {
      expect(obstacle).toMatchObject({ reason: 'ServiceAccountNotAllowed', terminal: true });
      expect(obstacle?.message).toContain(['default', ...patterns].join(', '));
    }
  });

  test('left out is the default one', () => {
    expect(refusedServiceAccount(wantedService(), { serviceAccounts: [] })).toBeNull();
  });
});
