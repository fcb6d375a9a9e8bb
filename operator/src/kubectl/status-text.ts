// What a person asks of a service: does it serve, if not why and how to fix it, how far is it, where is it. Pure.

import { formatGiB, type LlmServiceStatus, type LoadingStatus } from '@llmservice/crds';
import { memoryTable } from '../cli/report-text.js';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { troubles } from '../status/troubles.js';
import { alignedRows } from './aligned-rows.js';

export interface ServiceObject extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly routing?: { readonly backend?: string } };
  readonly status?: LlmServiceStatus;
}

export function describeService(service: ServiceObject, now: Date): string {
  const status = service.status ?? {};
  const { url = '', model = '', loading, memoryPlan } = status;
  const lines = [
    `${keyOf(service)}: ${headline(service)}`,
    ...(url === '' ? [] : [`  url       ${url}`]),
    ...(model === '' ? [] : [`  model     ${model}`]),
    `  replicas  ${status.readyReplicas ?? 0} ready of ${service.spec?.replicas ?? 1}`,
    ...describePrefill(status),
    ...describePool(service),
    ...describeClass(service),
    ...(loading === undefined ? [] : [`  loading   ${describeLoading(loading)}`]),
    ...troubles(status).flatMap(({ type, status: state, reason, message }) => [
      `  ${type}=${state} ${reason}`,
      `    ${message}`,
    ]),
    ...describeFailure(status, now),
  ];
  if (memoryPlan !== undefined) lines.push(...describePlan(memoryPlan));
  return `${lines.join('\n')}\n`;
}

/** Decode pods are the replicas, and compute what these do not. */
function describePrefill({ prefill }: LlmServiceStatus): string[] {
  return prefill === undefined ? [] : [`  prefill   ${prefill.ready} ready of ${prefill.replicas}`];
}

/** What it took of its class; what is wrong with that is among the troubles. */
function describeClass(service: ServiceObject): string[] {
  const resolved = conditionOf(service, 'ClassResolved');
  if (resolved?.status !== 'True') return [];
  const { maxReplicas } = service.status?.class ?? {};
  const bound = maxReplicas === undefined ? '' : ` It allows ${String(maxReplicas)} pods.`;
  return [`  class     ${resolved.message}${bound}`];
}

/** Where completions go of a service that wants an InferencePool: its route is good without one too. */
function describePool(service: ServiceObject): string[] {
  const routed = conditionOf(service, 'Routed');
  if (service.spec?.routing?.backend !== 'inferencePool' || routed?.status !== 'True') return [];
  return [`  pool      ${routed.reason}: ${routed.message}`];
}

/**
 * One line each, as wide as the widest of each column; what is not ready says why below.
 * @param everywhere they are of all namespaces
 */
export function describeServices(services: readonly ServiceObject[], everywhere: boolean): string {
  const rows = services.map((service) => {
    const ready = readyOf(service);
    const { readyReplicas = 0, model = '', url = '' } = service.status ?? {};
    const replicas = `${readyReplicas}/${service.spec?.replicas ?? 1}`;
    return [
      ...(everywhere ? [service.metadata.namespace ?? ''] : []),
      service.metadata.name,
      ready?.status ?? 'Unknown',
      ready?.reason ?? 'Pending',
      replicas,
      model,
      url,
    ];
  });
  const titles = ['NAME', 'READY', 'REASON', 'REPLICAS', 'MODEL', 'URL'];
  const [head = '', ...lines] = alignedRows([everywhere ? ['NAMESPACE', ...titles] : titles, ...rows]);
  const texts = services.map((service, index) => {
    const ready = readyOf(service);
    return ready?.status === 'True' ? [lines[index]] : [lines[index], `  ${progress(service)}`];
  });
  return `${[head, ...texts.flat()].join('\n')}\n`;
}

/** What is happening, in one line. */
export function progress(service: ServiceObject): string {
  const { loading } = service.status ?? {};
  if (isStale(service)) return 'The operator has not processed the newest change yet.';
  if (loading !== undefined) return describeLoading(loading);
  return readyOf(service)?.message ?? 'The operator has not processed it yet.';
}

/** Null: it may still become ready by itself. */
export function outcome(service: ServiceObject): 'ready' | 'failed' | null {
  if (isStale(service)) return null;
  if (readyOf(service)?.status === 'True') return 'ready';
  const moving = conditionOf(service, 'Reconciling')?.status;
  return conditionOf(service, 'Stalled')?.status === 'True' || moving === 'False' ? 'failed' : null;
}

function headline(service: ServiceObject): string {
  const ready = readyOf(service);
  if (isStale(service)) return progress(service);
  if (ready === undefined)
    return 'the operator has not processed it yet (kubectl llm doctor says whether it runs)';
  if (ready.status === 'True') return `ready, ${ready.reason}: ${ready.message}`;
  return conditionOf(service, 'Serving')?.status === 'True'
    ? `not ready, but older pods answer (${ready.reason})`
    : `not ready (${ready.reason})`;
}

function isStale({ metadata, status }: ServiceObject): boolean {
  return (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
}

function conditionOf({ status }: ServiceObject, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

function readyOf(service: ServiceObject) {
  return conditionOf(service, 'Ready');
}

const barWidth = 24;

export function describeLoading({
  phase,
  bytesDone,
  bytesTotal,
  bytesPerSecond,
  etaSeconds,
  shapesDone,
  shapesTotal,
}: LoadingStatus): string {
  if (phase === 'warmup') return `warming up ${String(shapesDone ?? 0)}/${String(shapesTotal ?? 0)}`;
  const share = bytesTotal === 0 ? 0 : bytesDone / bytesTotal;
  const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
  const rate = bytesPerSecond === undefined || bytesPerSecond === 0 ? '' : `, ${formatGiB(bytesPerSecond)}/s`;
  const eta = etaSeconds === undefined ? '' : `, ${etaSeconds} s left`;
  const name = phase === 'pull' ? 'from S3' : 'into memory';
  return `${name} [${bar}] ${formatGiB(bytesDone)} of ${formatGiB(bytesTotal)}${rate}${eta}`;
}

function describeFailure({ lastFailure }: LlmServiceStatus, now: Date): string[] {
  if (lastFailure === undefined) return [];
  const { reason, message, remedy, terminal, at, pod } = lastFailure;
  const minutes = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 60_000));
  const where = pod === undefined || pod === '' ? '' : `, pod ${pod}`;
  const next = terminal ? 'nothing is tried until something changes' : 'it is tried again';
  return [
    `  last failure  ${reason}, ${minutes} min ago${where}; ${next}`,
    `    ${message}`,
    `    -> ${remedy}`,
  ];
}

function describePlan(plan: NonNullable<LlmServiceStatus['memoryPlan']>): string[] {
  const { devices = 1, memoryBytes = 0, maxModelLen = 0, maxConcurrencyAtMaxLen = 0, rows = [] } = plan;
  return [
    `  plan      up to ${maxModelLen} tokens a sequence, ${maxConcurrencyAtMaxLen} such at once, on ${devices} x ${formatGiB(memoryBytes)}`,
    ...memoryTable(rows),
  ];
}
