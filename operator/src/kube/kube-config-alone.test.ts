import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const kubeconfig = {
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
  clusters: [{ name: 'a', cluster: { server: 'https://a.example.org' } }],
  users: [{ name: 'a', user: { token: 'secret' } }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
};

test('a process has KubeConfig of the Kubernetes client, and no clients of APIs', () => {
  const program = `
    import { loadKubeConfigAlone } from ${JSON.stringify(new URL('kube-config-alone.ts', import.meta.url).href)};
    loadKubeConfigAlone();
    const loaded = await import('@kubernetes/client-node');
    const config = new loaded.KubeConfig();
    config.loadFromString(${JSON.stringify(JSON.stringify(kubeconfig))});
    const options = {};
    await config.applyToHTTPSOptions(options);
    const { server } = config.getCurrentCluster();
    console.log(JSON.stringify({ server, headers: options.headers, apis: 'CoreV1Api' in loaded }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(JSON.parse(printed)).toEqual({
    server: 'https://a.example.org',
    headers: { Authorization: 'Bearer secret' },
    apis: false,
  });
});
