// What a person asks of a gateway of models: does it serve, if not why, where is it, and who answers for which model. Pure.

import type { LlmGatewayStatus } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { gatewayTroubles } from '../status/gateway-troubles.js';
import { alignedRows } from './aligned-rows.js';

export interface GatewayObject extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: LlmGatewayStatus;
}

export function describeGateway(gateway: GatewayObject): string {
  const status = gateway.status ?? {};
  const { address = '', url = address, models = [] } = status;
  const ready = readyOf(gateway);
  const isReady = ready?.status === 'True';
  const lines = [
    `${keyOf(gateway)}: ${isReady ? 'ready' : 'not ready'}, ${ready?.reason ?? 'Pending'}: ${gatewayProgress(gateway)}`,
    ...(url === '' ? [] : [`  url       ${url}`]),
    `  routers   ${String(status.readyReplicas ?? 0)} ready of ${String(gateway.spec?.replicas ?? 1)}`,
    ...gatewayTroubles(status)
      .filter(({ type }) => type !== 'Ready')
      .flatMap(({ type, status: state, reason, message }) => [
        `  ${type}=${state} ${reason}`,
        `    ${message}`,
      ]),
    ...(models.length === 0 ? [] : alignedRows([['MODEL', 'SERVICE', 'STATE'], ...models.map(cells)], '  ')),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * One line each; what is not ready says why below.
 * @param everywhere they are of all namespaces
 */
export function describeGateways(gateways: readonly GatewayObject[], everywhere: boolean): string {
  const rows = gateways.map((gateway) => {
    const { modelCount = 0, address = '', url = address } = gateway.status ?? {};
    const ready = readyOf(gateway);
    return [
      ...(everywhere ? [gateway.metadata.namespace ?? ''] : []),
      ...[gateway.metadata.name, ready?.status ?? 'Unknown', ready?.reason ?? 'Pending'],
      ...[String(modelCount), url],
    ];
  });
  const titles = ['GATEWAY', 'READY', 'REASON', 'MODELS', 'URL'];
  const [head = '', ...lines] = alignedRows([everywhere ? ['NAMESPACE', ...titles] : titles, ...rows]);
  const texts = gateways.map((gateway, index) => {
    const line = lines[index] ?? '';
    return readyOf(gateway)?.status === 'True' ? [line] : [line, `  ${gatewayProgress(gateway)}`];
  });
  return `${[head, ...texts.flat()].join('\n')}\n`;
}

/** Null: it may still become ready by itself. */
export function gatewayOutcome(gateway: GatewayObject): 'ready' | 'failed' | null {
  if (isStale(gateway)) return null;
  const ready = readyOf(gateway);
  if (ready?.status === 'True') return 'ready';
  const accepted = gateway.status?.conditions?.find(({ type }) => type === 'Accepted');
  return accepted?.status === 'False' || ready?.reason === 'Stopped' ? 'failed' : null;
}

const cells = ({ name, service, state }: NonNullable<LlmGatewayStatus['models']>[number]): string[] => [
  ...[name, service, state],
];

function isStale({ metadata, status }: GatewayObject): boolean {
  return (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
}

/** What is happening, in one line. */
export function gatewayProgress(gateway: GatewayObject): string {
  if (isStale(gateway)) return 'The operator has not processed the newest change yet.';
  return readyOf(gateway)?.message ?? 'The operator has not processed it yet.';
}

function readyOf({ status }: GatewayObject) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
