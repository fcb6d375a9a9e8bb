// What a service gives for reaching its stores, and whether it may use the Secrets that it names: who may write an
// LlmService may not always read Secrets, so that only those are used that carry the label for it.

import { FailureError, labels, type FailureReason } from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { WantedService } from '../domain/wanted-service.js';
import {
  caConfigMap,
  hubAccess,
  listToken,
  ociAccess,
  s3Access,
  type CredentialSource,
} from '../resource/store-access.js';
import { secretUses, type SecretUse } from '../resource/secret-uses.js';

type Data = Readonly<Record<string, string>>;

interface Secret {
  readonly type?: string;
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Data;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface StoreSecrets {
  /** Null: requests are not signed. */
  readonly credentials: S3Credentials | null;
  /** Of the hub of models; null: requests name nobody. */
  readonly hubToken: string | null;
  /** With the credentials of registries, as container tools keep them; null: requests name nobody. */
  readonly dockerConfig: string | null;
  /** Of the server of a list of files; null: requests name nobody. */
  readonly listToken: string | null;
  /** In PEM, in addition to those that everybody trusts; null: none. */
  readonly certificates: string | null;
}

export interface SecretRules {
  /** `labelled`: as in the cluster; `any`: of a person who plans with Secrets of his own. */
  readonly use: 'labelled' | 'any';
}

/** What a service comes to without the Secret, as its pods would say. */
const whereMissing: Readonly<Record<SecretUse['purpose'], FailureReason | null>> = {
  s3: 'S3AccessDenied',
  hub: 'HubAccessDenied',
  oci: 'RegistryAccessDenied',
  list: 'ListAccessDenied',
  keys: 'KeysInvalid',
  administration: 'KeysInvalid',
  tls: 'CertificateInvalid',
  env: 'SecretNotAllowed',
  // The kubelet says so, and pulls without.
  imagePull: null,
};
const pullTypes: readonly (string | undefined)[] = [
  'kubernetes.io/dockerconfigjson',
  'kubernetes.io/dockercfg',
];

export class ServiceSecrets {
  constructor(
    private readonly client: Pick<KubeClient, 'find'>,
    private readonly rules: SecretRules = { use: 'labelled' },
  ) {}

  /**
   * @throws FailureError SecretNotAllowed where a Secret has no label for what it is used for; S3AccessDenied,
   * HubAccessDenied, RegistryAccessDenied, ListAccessDenied, KeysInvalid or CertificateInvalid where it or a key of it is missing; InvalidSpec where the ConfigMap or its key is
   */
  async open(service: Pick<WantedService, 'namespace' | 'spec'>): Promise<StoreSecrets> {
    const { namespace, spec } = service;
    const secrets = new Map<string, Secret | null>();
    const uses = secretUses(spec);
    // One look at each: what was judged is what is used.
    const read = this.rules.use === 'any' ? storeSecrets(service) : uses.map(({ name }) => name);
    for (const name of read) {
      if (secrets.has(name)) continue;
      secrets.set(name, await this.client.find<Secret>(objectPath(resources.secrets, namespace, name)));
    }
    if (this.rules.use === 'labelled') {
      for (const use of uses) judge(use, namespace, secrets.get(use.name) ?? null);
    }
    const { credentials: wanted } = s3Access(service);
    const { token } = hubAccess(service);
    const { dockerConfig } = ociAccess(service);
    const ofList = listToken(service);
    return {
      credentials:
        wanted === null
          ? null
          : {
              accessKeyId: valueOf(wanted.accessKeyId, secrets, 'S3AccessDenied'),
              secretAccessKey: valueOf(wanted.secretAccessKey, secrets, 'S3AccessDenied'),
            },
      hubToken: token === null ? null : valueOf(token, secrets, 'HubAccessDenied'),
      dockerConfig: dockerConfig === null ? null : valueOf(dockerConfig, secrets, 'RegistryAccessDenied'),
      listToken: ofList === null ? null : valueOf(ofList, secrets, 'ListAccessDenied'),
      certificates: await this.certificates(namespace, caConfigMap(spec)),
    };
  }

  /** @throws FailureError InvalidSpec where the ConfigMap or its key is missing */
  private async certificates(
    namespace: string,
    configMap: ReturnType<typeof caConfigMap>,
  ): Promise<string | null> {
    if (configMap === null) return null;
    const found = await this.client.find<{ data?: Data }>(
      objectPath(resources.configMaps, namespace, configMap.name),
    );
    const text = found?.data?.['ca.crt'];
    if (text !== undefined) return text;
    throw new FailureError(
      'InvalidSpec',
      `the ConfigMap ${configMap.name} of ${configMap.field} does not exist or has no key ca.crt`,
    );
  }
}

/** Names of those that stores are reached with. */
function storeSecrets(service: Pick<WantedService, 'spec'>): string[] {
  const { credentials } = s3Access(service);
  const keys = [credentials?.accessKeyId, credentials?.secretAccessKey];
  const sources = [...keys, hubAccess(service).token, ociAccess(service).dockerConfig, listToken(service)];
  return sources.flatMap((source) => (source?.kind === 'secret' ? [source.name] : []));
}

/** What is missing may come without the label, and a pod that names it would mount it then. */
function judge({ name, purpose, field }: SecretUse, namespace: string, secret: Secret | null): void {
  if (secret === null) {
    const reason = whereMissing[purpose];
    if (reason === null) return;
    throw new FailureError(
      reason,
      `the Secret ${name} (${field}) does not exist: make it, with the label ${labels.secretFor}=${purpose}`,
    );
  }
  if (purpose === 'imagePull') {
    if (pullTypes.includes(secret.type)) return;
    throw new FailureError(
      'SecretNotAllowed',
      `the Secret ${name} (${field}) is not of type kubernetes.io/dockerconfigjson: ` +
        `kubectl create secret docker-registry makes one`,
    );
  }
  if (secret.metadata?.labels?.[labels.secretFor] === purpose) return;
  throw new FailureError(
    'SecretNotAllowed',
    `${field} may not use the Secret ${name}, which has no label ${labels.secretFor}=${purpose}: ` +
      `kubectl label secret ${name} -n ${namespace} ${labels.secretFor}=${purpose}`,
  );
}

function valueOf(
  source: CredentialSource,
  secrets: ReadonlyMap<string, Secret | null>,
  whenMissing: FailureReason,
): string {
  if (source.kind === 'literal') return source.value;
  const { name, key } = source;
  const secret = secrets.get(name) ?? null;
  if (secret === null) throw new FailureError(whenMissing, `the Secret ${name} does not exist`);
  const value = secret.data?.[key];
  if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8').trim();
  throw new FailureError(whenMissing, `the Secret ${name} has no key ${key}`);
}
