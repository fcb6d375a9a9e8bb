// Settings of prefill and decode apart: which of both a process does, where its counterpart is, and what they have in
// common. A prefill pod computes prompts for decode pods; those serve clients, and fetch the KV of long prompts.

import { kvTransferPorts, ports, readList, type EngineConfig } from '@llmservice/crds';
import type { NodeVariables } from './node-settings.js';
import type { ReachSettings } from './reach-settings.js';
import { atLeast, between, defineFor } from './server-setting.js';

export const disaggregationRoles = ['none', 'prefill', 'decode'] as const;
export type DisaggregationRole = (typeof disaggregationRoles)[number];

export interface DisaggregationSettings {
  readonly disaggregationRole: DisaggregationRole;
  /** Names and addresses of prefill pods; all addresses of a name, such as that of a headless Service, are pods. */
  readonly prefillHost: readonly string[];
  /** Of a prompt, beyond what the decode pod's own prefix cache has: fewer are computed where they are. */
  readonly prefillMinTokens: number;
  readonly prefillPort: number;
  readonly kvTransferPort: number;
}

const define = defineFor<DisaggregationSettings>();

export const disaggregationSettings = [
  define(
    'disaggregationRole',
    '--disaggregation-role',
    'ROLE',
    `${disaggregationRoles.join(', ')}: whether it computes prompts for others, has others compute them, or neither`,
    'none',
    asRole,
  ),
  define(
    'prefillHost',
    '--prefill-host',
    'HOST,HOST',
    'names and addresses of prefill pods, for the role decode; every address of a name is one',
    [],
    readList,
  ),
  define(
    'prefillMinTokens',
    '--prefill-min-tokens',
    'N',
    'tokens that a prompt has beyond its cached ones for a prefill pod to compute it',
    512,
    atLeast(1),
  ),
  define(
    'prefillPort',
    '--prefill-port',
    'N',
    'port at which prefill pods take prompts of decode pods',
    ports.prefill,
    between(1, 65_535),
  ),
  define(
    'kvTransferPort',
    '--kv-transfer-port',
    'N',
    'port at which prefill pods hand KV over; rank r listens at this plus r, and ranks exchange over the others of 40',
    ports.kvTransfer,
    between(1, 65_496),
  ),
] as const;

/** What these say together, and with others: each violation by the names of its variables. */
export function disaggregationViolations(
  { disaggregationRole: role, prefillHost, prefillPort, kvTransferPort, groupSize, tlsDir }: Together,
  { engine, parallelism: { pipeline = 1 } }: Pick<EngineConfig, 'engine' | 'parallelism'>,
): string[] {
  if (role === 'none') return [];
  const said = `--disaggregation-role (DISAGGREGATION_ROLE) is ${role}`;
  const rules = [
    [
      role !== 'decode' || prefillHost.length > 0,
      `${said}, and --prefill-host (PREFILL_HOST) does not say where prefill pods are`,
    ],
    [
      engine.prefixCaching,
      `${said}, and what is transferred becomes part of the prefix cache: engine.prefixCaching (--enable-prefix-caching, ENABLE_PREFIX_CACHING) must be true`,
    ],
    [
      groupSize === 1,
      `${said}, and ranks transfer from one pod: --group-size (LWS_GROUP_SIZE) must be 1, not ${String(groupSize)}`,
    ],
    [
      pipeline === 1,
      `${said}, and stages do not transfer: parallelism.pipeline (--pipeline-parallel-size, PIPELINE_PARALLEL_SIZE) must be 1, not ${String(pipeline)}`,
    ],
    [
      tlsDir === null,
      `${said}, and prompts and KV travel between pods unencrypted: --tls-dir (LLMSERVICE_TLS_DIR) must not be set`,
    ],
    [
      prefillPort < kvTransferPort || prefillPort >= kvTransferPort + kvTransferPorts,
      `--prefill-port (PREFILL_PORT) is ${String(prefillPort)}, which is one of the ports of --kv-transfer-port (KV_TRANSFER_PORT): ${String(kvTransferPorts)} from ${String(kvTransferPort)} on`,
    ],
  ] as const;
  return rules.flatMap(([holds, message]) => (holds ? [] : [message]));
}

type Together = DisaggregationSettings & Pick<NodeVariables, 'groupSize'> & Pick<ReachSettings, 'tlsDir'>;

function asRole(text: string): DisaggregationRole {
  const role = disaggregationRoles.find((each) => each === text);
  if (role === undefined) throw new Error(`expected one of ${disaggregationRoles.join(', ')}`);
  return role;
}
