import { describe, expect, it } from '@jest/globals';
import { childEnvironment } from './child-environment.js';
import { serverSettings } from './server-settings.js';
import { settings } from './settings.js';

describe('childEnvironment', () => {
  it('has what systems, devices, collectives and the engine read', () => {
    const env = {
      PATH: '/bin',
      LD_LIBRARY_PATH: '/opt/rocm/lib',
      CUDA_VISIBLE_DEVICES: '0',
      HSA_OVERRIDE_GFX_VERSION: '9.4.2',
      HIP_FORCE_DEV_KERNARG: '1',
      NCCL_SOCKET_IFNAME: 'eth0',
      OMP_NUM_THREADS: '8',
      ASAN_OPTIONS: 'detect_leaks=0',
      LLMSERVICE_NATIVE_ADDON: '/a.node',
    };
    expect(childEnvironment(env)).toEqual(env);
  });

  it.each([
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_ENDPOINT_URL',
    'HF_TOKEN',
    'DOCKER_AUTH_CONFIG',
    'MODEL_LIST_TOKEN',
    'NVIDIA_API_KEY',
    'KEYS_DIR',
    'LLMSERVICE_ADMIN_KEYS_DIR',
    'LLMSERVICE_TLS_DIR',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'KUBERNETES_SERVICE_HOST',
    'DATABASE_PASSWORD',
  ])('leaves %s out', (name) => {
    expect(childEnvironment({ [name]: 'x' })).toEqual({});
  });

  it('has no setting of the server: children get theirs by message', () => {
    const names = [...settings, ...serverSettings].map(({ env }) => env);
    expect(childEnvironment(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual({});
  });
});
