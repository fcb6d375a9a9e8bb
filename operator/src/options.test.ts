import { describe, expect, test } from '@jest/globals';
import { parseOptions } from './options.js';

describe('parseOptions', () => {
  test('reads flags and environment, and the flag wins', () => {
    const options = parseOptions(['--runtime-image-cpu', 'flag:1', '--concurrency=3'], {
      POD_NAMESPACE: 'system',
      POD_NAME: 'operator-0',
      OPERATOR_INSTANCE: 'team-a',
      RUNTIME_IMAGE_CPU: 'env:1',
      RUNTIME_IMAGE_ROCM: 'rocm:1',
      VLLM_IMAGE_CUDA: 'vllm:1',
      ISTIO_GATEWAY: 'istio-system/ingress',
      PUBLIC_ADDRESS: 'https://lb.example.org',
      ALLOW_HOST_PATH: '/var/cache, /srv/models',
      PROMETHEUS_URL: 'http://prometheus.monitoring:9090',
      WATCH_NAMESPACE: '',
    });
    expect(options).toMatchObject({
      watchNamespaces: null,
      leaseNamespace: 'system',
      instance: 'team-a',
      identity: 'operator-0',
      publicAddress: 'https://lb.example.org',
      concurrency: 3,
      port: 8081,
      surroundings: {
        images: { cpu: 'flag:1', cuda: null, hip: 'rocm:1' },
        vllmImages: { cpu: null, cuda: 'vllm:1', hip: null },
        gateway: null,
        istioGateway: { namespace: 'istio-system', name: 'ingress' },
        allowedHostPaths: ['/var/cache', '/srv/models'],
        prometheusUrl: 'http://prometheus.monitoring:9090',
      },
    });
  });

  test('names everything that is wrong', () => {
    expect(() =>
      parseOptions([], {
        ...{ GATEWAY_NAME: 'x', ISTIO_GATEWAY: 'x', PUBLIC_ADDRESS: 'lb:80', PROMETHEUS_URL: 'x' },
        ...{ PORT: 'many', OPERATOR_INSTANCE: 'Team A' },
      }),
    ).toThrow(
      /lease-namespace.*--instance.*gateway-namespace.*istio-gateway.*public-address.*prometheus-url.*--port/s,
    );
  });

  test.each(['cache', '/var/../etc'])('refuses to allow %s', (path) => {
    expect(() => parseOptions(['--allow-host-path', path], { POD_NAMESPACE: 'x' })).toThrow(
      '--allow-host-path',
    );
  });

  test('an unknown flag is refused', () => {
    expect(() => parseOptions(['--nonsense'], { POD_NAMESPACE: 'x' })).toThrow('nonsense');
  });
});

test.each([
  ['a', ['a']],
  ['a, b,a', ['a', 'b']],
  [' ,', null],
])('--watch-namespace %s is %j', (text, namespaces) => {
  const args = ['--lease-namespace', 'system', '--watch-namespace', text];
  expect(parseOptions(args, {}).watchNamespaces).toEqual(namespaces);
});

test('a namespace that can be none is refused', () => {
  const args = ['--lease-namespace', 'system', '--watch-namespace', 'a,B_'];
  expect(() => parseOptions(args, {})).toThrow('--watch-namespace');
});
