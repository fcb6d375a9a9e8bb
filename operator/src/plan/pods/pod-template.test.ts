import { describe, expect, test } from '@jest/globals';
import { paths } from '@llmservice/crds';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children, container, podSpec, templateInputs } from '../children.fixture.js';
import { planEngineConfig } from './engine-config.js';
import { planTemplate } from './planned-template.js';
import { podMetadata } from './pod-metadata.js';

describe('the pod', () => {
  /** Says to the server which service it is of. */
  const itself = { name: 'LLMSERVICE_SERVICE', value: 'ns/demo' };

  test('meets the restricted profile', () => {
    expect(podSpec({})).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container({})).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    });
  });

  test('has time to drain: 5 s before, the drain, 15 s after', () => {
    expect(podSpec({ rollout: { drainTimeoutSeconds: 60 } })).toMatchObject({
      terminationGracePeriodSeconds: 80,
    });
  });

  test("the user's variable replaces ours of the same name", () => {
    const env = [{ name: 'AWS_ACCESS_KEY_ID', value: 'mine' }];
    const s3 = { credentialsSecretRef: { name: 'keys' } };
    const planned = container({ model: { uri: 's3://b/x', s3 }, env })['env'] as {
      name: string;
      value?: string;
    }[];
    expect(planned.filter(({ name }) => name === 'AWS_ACCESS_KEY_ID')).toEqual(env);
    expect(planned.map(({ name }) => name)).toContain('AWS_SECRET_ACCESS_KEY');
  });

  test.each([[{ profile: 'mi300x-cpx-nps4' }], [{ profile: 'mi210' }], [{ resourceName: 'amd.com/gpu' }]])(
    'on %j gets what AMD advises, unless the user says otherwise',
    (accelerator) => {
      const ours = { name: 'HIP_FORCE_DEV_KERNARG', value: '1' };
      const users = { ...ours, value: '0' };
      expect(container({ accelerator })['env']).toEqual([itself, ours]);
      expect(container({ accelerator, env: [users] })['env']).toEqual([itself, users]);
    },
  );

  test('passes the server what the spec says of it, the place of the request log, and where administrators are', () => {
    expect(container({})['env']).toEqual([itself]);
    const spec = {
      administration: { keysSecretRef: { name: 'admins' } },
      requestLog: { uri: 's3://logs/demo/', text: true },
      server: { maxBodyBytes: 65_536, maxWaiting: 0, logLevel: 'debug' },
    };
    expect(container(spec)).toMatchObject({
      env: expect.arrayContaining([
        { name: 'LLMSERVICE_MAX_BODY_BYTES', value: '65536' },
        { name: 'LLMSERVICE_MAX_WAITING', value: '0' },
        { name: 'LLMSERVICE_LOG_LEVEL', value: 'debug' },
        { name: 'LLMSERVICE_ADMIN_HOST', value: '127.0.0.1' },
        { name: 'LLMSERVICE_ADMIN_PORT', value: '8083' },
        { name: 'LLMSERVICE_ADMIN_KEYS_DIR', value: paths.administrationKeys },
        { name: 'LLMSERVICE_REQUEST_LOG_URI', value: 's3://logs/demo/' },
        { name: 'LLMSERVICE_REQUEST_LOG_TEXT', value: 'true' },
      ]),
      volumeMounts: expect.arrayContaining([
        { name: 'administration', mountPath: paths.administrationKeys, readOnly: true },
      ]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'administration', secret: { secretName: 'admins', defaultMode: 0o440, optional: true } },
      ]),
    });
  });

  test('says of the self-check that it is off, and nothing where it is on: older runtimes do not know it', () => {
    expect(planEngineConfig(wantedService()).engine).not.toHaveProperty('selfCheck');
    expect(planEngineConfig(wantedService({ engine: { selfCheck: false } })).engine.selfCheck).toBe(false);
  });

  test('has the keys and the accounting log where the runtime looks for them', () => {
    const spec = {
      replicas: 2,
      auth: { keysSecretRef: { name: 'team-keys' }, maxReplicas: 4, protectMetrics: true },
      accounting: { persistentVolumeClaimRef: { name: 'usage' } },
    };
    const config = planEngineConfig(wantedService(spec));
    expect(config.auth).toEqual({ keysDir: paths.keys, maxReplicas: 4, protectMetrics: true });
    expect(config.accounting).toEqual({ dir: `${paths.accounting}/demo` });
    // A mount with a subPath would never see another version of the Secret.
    expect(container(spec)).toMatchObject({
      volumeMounts: expect.arrayContaining([
        { name: 'keys', mountPath: config.auth.keysDir, readOnly: true },
        { name: 'accounting', mountPath: paths.accounting },
      ]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'keys', secret: { secretName: 'team-keys', defaultMode: 0o440, optional: true } },
        { name: 'accounting', persistentVolumeClaim: { claimName: 'usage' } },
      ]),
    });
  });

  test('without keys and accounting has neither', () => {
    const { auth, accounting } = planEngineConfig(wantedService());
    expect([auth, accounting]).toEqual([
      { keysDir: null, maxReplicas: 1, protectMetrics: false },
      { dir: null },
    ]);
    expect(JSON.stringify(podSpec({}))).not.toMatch(/secretName|persistentVolumeClaim|accounting/);
  });

  test('with a certificate speaks HTTPS: to probes, to the Service, and to nobody by plain HTTP', () => {
    const spec = { tls: { secretRef: { name: 'demo-tls' } } };
    const https = { httpGet: { port: 'https', scheme: 'HTTPS' } };
    expect(container(spec)).toMatchObject({
      ports: [{ name: 'https', containerPort: 8080 }],
      env: [itself, { name: 'LLMSERVICE_TLS_DIR', value: paths.tls }],
      startupProbe: https,
      livenessProbe: https,
      readinessProbe: https,
      volumeMounts: expect.arrayContaining([{ name: 'tls', mountPath: paths.tls, readOnly: true }]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'tls', secret: { secretName: 'demo-tls', defaultMode: 0o440, optional: true } },
      ]),
    });
    const service = children(wantedService(spec)).others.find(({ kind }) => kind === 'Service');
    expect(service).toMatchObject({
      spec: { ports: [{ name: 'https', port: 443, targetPort: 'https', appProtocol: 'https' }] },
    });
  });

  test('is of another revision when its config changes, and not when the service scales', () => {
    const revision = (spec: object) => planTemplate(wantedService(spec), templateInputs).revision;
    expect(revision({ engine: { maxNumSeqs: 8 } })).not.toBe(revision({}));
    expect(revision({ replicas: 3 })).toBe(revision({}));
  });
});

describe('the pods', () => {
  const template = (spec: object) =>
    (
      children(wantedService(spec)).deployment as never as {
        spec: {
          template: {
            metadata: Record<'labels' | 'annotations', Record<string, string>>;
            spec: { securityContext: object };
          };
        };
      }
    ).spec.template;

  test('point Prometheus to where their metrics are, unless only a key opens them', () => {
    const scraped = {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '8080',
      'prometheus.io/path': '/metrics',
    };
    const https = { tls: { secretRef: { name: 't' } } };
    expect(template({}).metadata.annotations).toMatchObject({ ...scraped, 'prometheus.io/scheme': 'http' });
    expect(template(https).metadata.annotations).toMatchObject({ 'prometheus.io/scheme': 'https' });
    const keys = { auth: { keysSecretRef: { name: 'k' }, protectMetrics: true } };
    expect(template(keys).metadata.annotations).not.toHaveProperty('prometheus.io/scrape');
  });

  test('have what the user adds, and keep what is ours', () => {
    const { metadata, spec } = template({
      podLabels: { team: 'search' },
      podAnnotations: { 'prometheus.io/scrape': 'false', owner: 'search' },
      supplementalGroups: [109],
    });
    expect(metadata.labels).toMatchObject({ team: 'search', 'llmservice.dev/service': 'demo' });
    const service = wantedService();
    const podLabels = { 'llmservice.dev/service': 'other' };
    const { labels } = podMetadata({ ...service, spec: { ...service.spec, podLabels } }, {});
    expect(labels).toMatchObject({ 'llmservice.dev/service': 'demo' });
    expect(metadata.annotations).toMatchObject({ 'prometheus.io/scrape': 'false', owner: 'search' });
    expect(spec.securityContext).toMatchObject({ supplementalGroups: [109] });
  });
});
