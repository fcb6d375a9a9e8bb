// What was planned, for a person at a terminal. Pure.

import { type RoughEstimate } from '@llmservice/checkpoint';
import { formatGiB } from '@llmservice/crds';
import { stringify } from 'yaml';
import type { Difference } from '../apply/needs-apply.js';
import type { ObjectChange } from './changes.js';
import type { Cost } from './cost.js';
import { describeDisruption } from './disruption.js';
import type { Verdict } from './exit-codes.js';
import { describeGatewayPlan, type GatewayReport } from './plan-gateway.js';
import type { PlanReport } from './plan-manifest.js';
import type { PodShare } from './pod-share.js';
import type { Manifests } from './read-manifests.js';

const words: Readonly<Record<Verdict, string>> = {
  fits: 'fits',
  refused: 'does not fit or is not supported',
  invalid: 'the manifest is wrong',
  unreadable: 'could not be read',
  unmeasured: 'may fit',
};

export function describePlan(
  reports: readonly PlanReport[],
  gateways: readonly GatewayReport[],
  { others, problems }: Pick<Manifests, 'others' | 'problems'>,
  { objects }: { readonly objects: boolean },
): string {
  const blocks = [
    ...problems,
    ...reports.map((report) => describe(report, objects)),
    ...gateways.map((report) => describeGatewayPlan(report, objects)),
    ...(others.length === 0 ? [] : [passedOver(others)]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function describe(report: PlanReport, withObjects: boolean): string {
  const {
    serviceClass,
    checkpoint,
    accelerator,
    estimate,
    memoryPlan,
    disruption,
    canary,
    prefill,
    cost,
    changes,
    objects,
  } = report;
  const lines = [`${report.service}: ${outcomeOf(report)} (${report.source})`, `  ${report.message}`];
  for (const { name, uri, message } of report.refusedAdapters)
    lines.push(`  adapter ${name}, ${uri}, is refused: ${message}`);
  if (checkpoint !== null) {
    const { architecture, quantization, fileBytes, tensorParallel } = checkpoint;
    lines.push(
      `  checkpoint   ${architecture}, quantization ${quantization}, ${formatGiB(fileBytes)} of weight files; ` +
        `ranks that divide it: ${tensorParallel.join(', ')}`,
    );
  }
  if (serviceClass !== null) lines.push(`  class        ${serviceClass}`);
  if (accelerator !== null) lines.push(`  accelerator  ${describeAccelerator(accelerator)}`);
  if (estimate !== null) lines.push(`  estimate     ${describeEstimate(estimate)}`);
  if (memoryPlan !== null) lines.push('  memory of one rank', ...memoryTable(memoryPlan.rows));
  if (disruption !== null) lines.push(`  disruption   ${describeDisruption(disruption)}`);
  if (canary !== null) lines.push(`  canary       ${describeShare(canary, ' more while a change is tried')}`);
  if (prefill !== null) lines.push(`  prefill      ${describeShare(prefill, ' beside those of replicas')}`);
  if (cost !== null) lines.push(...describeCost(cost));
  if (changes !== null) lines.push(...changes.flatMap(describeChange));
  if (withObjects) lines.push(...objects.map((object) => `---\n${stringify(object).trimEnd()}`));
  return lines.join('\n');
}

function describeShare({ pods, devices, memoryBytes }: PodShare, which: string): string {
  const memory = memoryBytes === null ? '' : `, ${formatGiB(memoryBytes)}`;
  return `${counted(pods, 'pod')}${which}: ${devices === 0 ? 'CPU' : counted(devices, 'device')}${memory}`;
}

/** What the model's own verdict is, whatever its adapters make of the whole. */
function outcomeOf({ verdict, modelVerdict, refusedAdapters }: PlanReport): string {
  const outcome = words[modelVerdict];
  return verdict === modelVerdict
    ? outcome
    : `${outcome}, without ${counted(refusedAdapters.length, 'refused adapter')}`;
}

function describeAccelerator(accelerator: NonNullable<PlanReport['accelerator']>): string {
  const { nodes, podRanks } = accelerator;
  return nodes === 1
    ? describeDevices(accelerator)
    : `${describeDevices(accelerator)}, by ${nodes} pods (nodes) of a replica with ${counted(podRanks, 'rank')} each`;
}

function describeDevices(accelerator: NonNullable<PlanReport['accelerator']>): string {
  const { kind, resourceName, claim, devices, nodes, memoryBytesPerDevice: memory } = accelerator;
  const size = memory === null ? 'memory not stated' : formatGiB(memory);
  if (kind === 'cpu') return `CPU, ${counted(devices, 'rank')}, ${size}${nodes === 1 ? '' : ' a pod'}`;
  const byClaim = claim?.state === 'planned' ? claim.deviceClass : `template ${claim?.templateName ?? ''}`;
  return `${devices} x ${resourceName ?? `${byClaim} by claim`}, ${size} each`;
}

function describeEstimate({ bytes, devices }: RoughEstimate): string {
  const on = devices === null ? '' : `, ${devices} of these devices`;
  return `an engine that runs it would take about ${formatGiB(bytes)}${on} (rule of thumb: weight files and a fifth, powers of two)`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function memoryTable(rows: NonNullable<PlanReport['memoryPlan']>['rows']): string[] {
  return rows.map(
    ({ name, bytes, note }) => `    ${name.padEnd(16)} ${formatGiB(bytes).padStart(12)}  ${note}`,
  );
}

function describeCost({ perHour, devices, estimates }: Cost): string[] {
  const first = `  cost         ${perHour.toFixed(2)} an hour for ${counted(devices, 'device')}`;
  if (estimates === null) {
    return [`${first}; per token: name spec.accelerator.profile, whose bandwidth the estimate takes`];
  }
  return [
    first,
    ...estimates.map(
      ({ sequences, tokensPerSecond, perMillionTokens }) =>
        `               estimate, at best: ${perMillionTokens.toPrecision(3)} a million output tokens with ${sequences} at once ` +
        `(${tokensPerSecond.toFixed(0)} tokens a second a replica, by memory bandwidth alone)`,
    ),
  ];
}

/** Hashes of the rest say nothing to a person. */
const derived =
  /^metadata\.annotations\.llmservice\.dev\/|\.annotations\.llmservice\.dev\/(revision|config-hash)$/;

function describeChange({ kind, name, change, differences }: ObjectChange): string[] {
  const shown = differences.filter(({ path }) => !derived.test(path));
  const word = { create: 'created', update: 'changed', none: 'unchanged' }[change];
  return [`  ${word.padEnd(12)} ${kind} ${name}`, ...shown.map(describeDifference)];
}

function describeDifference({ path, live, desired }: Difference): string {
  const shown = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value));
  return `    ${path}: ${shown(live)} -> ${shown(desired)}`;
}

function passedOver(others: Manifests['others']): string {
  const kinds = new Map<string, number>();
  for (const { object } of others) kinds.set(object.kind, (kinds.get(object.kind) ?? 0) + 1);
  const list = [...kinds].sort().map(([kind, count]) => `${count} ${kind}`);
  return `Passed over: ${list.join(', ')}.`;
}
