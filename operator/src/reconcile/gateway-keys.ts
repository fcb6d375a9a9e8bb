// Whether a gateway may use the Secret that it names for its keys, and whether its routers could. Who may write an LlmGateway may
// not always read Secrets: only those are used that have the label for it. Of what is in one, paths are said and no value.

import { keyFileNames, labels, readKeyFile } from '@llmservice/crds';
import type { WantedGateway } from '../domain/wanted-gateway.js';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { no, type Answer } from '../status/answer.js';

/** One that may be used is not read again for so long: several changes may concern its gateway at once. */
const freshMs = 5_000;

export class GatewayKeys {
  /** By NAMESPACE/NAME of Secrets that may be used, when they were read. */
  private readonly read = new Map<string, number>();

  /** @param now monotonic, in ms */
  constructor(
    private readonly client: Pick<KubeClient, 'find'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Null: they may be used, or none are asked for. @throws ApiError where the API server does not say */
  async refused({ namespace, spec }: Pick<WantedGateway, 'namespace' | 'spec'>): Promise<Answer | null> {
    const name = spec.auth.keysSecretRef?.name;
    if (name === undefined) return null;
    const key = `${namespace}/${name}`;
    const now = this.now();
    if (now - (this.read.get(key) ?? -Infinity) < freshMs) return null;
    this.read.delete(key);
    const secret = await this.client.find<KubeObject>(objectPath(resources.secrets, namespace, name));
    const field = 'spec.auth.keysSecretRef.name';
    if (secret === null) {
      return no(
        'KeysInvalid',
        `${field}: Secret ${name} does not exist in ${namespace}. Create it with keys.yaml.`,
      );
    }
    if (secret.metadata.labels?.[labels.secretFor] !== 'keys') {
      return no(
        'SecretNotAllowed',
        `${field}: Secret ${name} has no label ${labels.secretFor}=keys. Have whoever owns it label it, or name another.`,
      );
    }
    const problem = problemOf(secret);
    if (problem !== null) {
      return no('KeysInvalid', `${field}: Secret ${name}: ${problem}. Routers keep the keys before it.`);
    }
    this.read.set(key, now);
    return null;
  }
}

/** Of its violations so many are said. */
const maxSaid = 5;

/** What routers would refuse it for; null: nothing. */
function problemOf(secret: KubeObject): string | null {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const [file, another] = keyFileNames.filter((name) => data[name] !== undefined);
  if (file === undefined || another !== undefined) return `it must have one of ${keyFileNames.join(' and ')}`;
  const read = readKeyFile(Buffer.from(data[file] ?? '', 'base64').toString('utf8'));
  if (read.ok) return null;
  const said = read.violations.slice(0, maxSaid).map(({ path, message }) => `${path} ${message}`.trim());
  const more = read.violations.length - said.length;
  return `${file}: ${said.join('; ')}${more > 0 ? `; and ${String(more)} more` : ''}`;
}
