import { describe, expect, test } from '@jest/globals';
import { parseOptions } from './options.js';

describe('parseOptions', () => {
  test('reads flags and environment, and the flag wins', () => {
    const options = parseOptions(['--runtime-image-cpu', 'flag:1', '--concurrency=3'], {
      POD_NAMESPACE: 'system',
      POD_NAME: 'operator-0',
      RUNTIME_IMAGE_CPU: 'env:1',
      RUNTIME_IMAGE_ROCM: 'rocm:1',
      WATCH_NAMESPACE: '',
    });
    expect(options).toMatchObject({
      watchNamespace: null,
      leaseNamespace: 'system',
      identity: 'operator-0',
      concurrency: 3,
      port: 8081,
      surroundings: { images: { cpu: 'flag:1', cuda: null, hip: 'rocm:1' }, gateway: null },
    });
  });

  test('names everything that is wrong', () => {
    expect(() => parseOptions([], { GATEWAY_NAME: 'x', PORT: 'many' })).toThrow(
      /lease-namespace.*gateway-namespace.*--port/s,
    );
  });

  test('an unknown flag is refused', () => {
    expect(() => parseOptions(['--nonsense'], { POD_NAMESPACE: 'x' })).toThrow('nonsense');
  });
});
