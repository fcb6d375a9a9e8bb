import { describe, expect, test } from '@jest/globals';
import { parseOptions } from './options.js';

describe('parseOptions', () => {
  test('reads flags and environment, and the flag wins', () => {
    const options = parseOptions(['--runtime-image-cpu', 'flag:1', '--concurrency=3'], {
      POD_NAMESPACE: 'system',
      POD_NAME: 'operator-0',
      OPERATOR_INSTANCE: 'team-a',
      OPERATOR_IMAGE: 'operator:1',
      RUNTIME_IMAGE_CPU: 'env:1',
      RUNTIME_IMAGE_ROCM: 'rocm:1',
      VLLM_IMAGE_CUDA: 'vllm:1',
      ISTIO_GATEWAY: 'istio-system/ingress',
      ENDPOINT_PICKER_IMAGE: 'picker:1',
      PUBLIC_ADDRESS: 'https://lb.example.org',
      ACTIVATOR_TLS: 'true',
      ALLOW_HOST_PATH: '/var/cache, /srv/models',
      PROMETHEUS_URL: 'http://prometheus.monitoring:9090',
      ALLOW_ENDPOINT: 'S3.storage.svc, 10.2.0.0/16',
      DEVICE_PRICE: 'h100=2.49, cpu=0.05',
      CURRENCY: 'EUR',
      CONVERSION_SECRET: 'operator-conversion',
      REFUSE_ENDPOINT: '203.0.114.0/24,2600::/32',
      ALLOW_IMAGE: 'registry.example.org/team/*',
      ALLOW_SERVICE_ACCOUNT: 'team-a/reader',
      ALLOW_ROUTE_HOST: 'team-a=*.a.example.org,team-*=llm.example.org',
      WATCH_NAMESPACE: '',
    });
    expect(options).toMatchObject({
      watchNamespaces: null,
      leaseNamespace: 'system',
      instance: 'team-a',
      identity: 'operator-0',
      publicAddress: 'https://lb.example.org',
      activatorTls: true,
      conversion: { secretName: 'operator-conversion', port: 9443 },
      concurrency: 3,
      port: 8081,
      capabilities: {
        operatorImage: 'operator:1',
        images: { cpu: 'flag:1', cuda: null, hip: 'rocm:1' },
        vllmImages: { cpu: null, cuda: 'vllm:1', hip: null },
        gateway: null,
        istioGateway: { namespace: 'istio-system', name: 'ingress' },
        endpointPickerImage: 'picker:1',
        allowedHostPaths: ['/var/cache', '/srv/models'],
        limits: {
          images: ['registry.example.org/team/*'],
          serviceAccounts: ['team-a/reader'],
          routeHosts: [
            { namespace: 'team-a', host: '*.a.example.org' },
            { namespace: 'team-*', host: 'llm.example.org' },
          ],
        },
        prometheusUrl: 'http://prometheus.monitoring:9090',
      },
      prices: {
        perHour: new Map([
          ['h100', 2.49],
          ['cpu', 0.05],
        ]),
        currency: 'EUR',
      },
      endpoints: {
        allowed: ['s3.storage.svc', '10.2.0.0/16'],
        refused: ['203.0.114.0/24', '2600::/32'],
      },
    });
  });

  test('names everything that is wrong', () => {
    expect(() =>
      parseOptions([], {
        ...{ GATEWAY_NAME: 'x', ISTIO_GATEWAY: 'x', PUBLIC_ADDRESS: 'lb:80', PROMETHEUS_URL: 'x' },
        ...{ ACTIVATOR_TLS: 'yes', PORT: 'many', OPERATOR_INSTANCE: 'Team A' },
      }),
    ).toThrow(
      /lease-namespace.*--instance.*gateway-namespace.*istio-gateway.*public-address.*activator-tls.*prometheus-url.*--port/s,
    );
  });

  test.each(['cache', '/var/../etc', '/', '/var/cache/', '/a,/b:c'])('refuses to allow %s', (path) => {
    expect(() => parseOptions(['--allow-host-path', path], { POD_NAMESPACE: 'x' })).toThrow(
      '--allow-host-path',
    );
  });

  test.each([
    ['--allow-endpoint', 'http://s3.example.org'],
    ['--allow-endpoint', '10.0.0.0/33'],
    ['--allow-endpoint', '10.0.0'],
    ['--refuse-endpoint', 's3.example.org'],
    ['--allow-service-account', 'reader'],
    ['--allow-route-host', 'chat.example.org'],
    ['--device-price', 'h100=cheap'],
    ['--device-price', '2.49'],
  ])('refuses %s %s', (flag, value) => {
    expect(() => parseOptions([flag, value], { POD_NAMESPACE: 'x' })).toThrow(flag);
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
