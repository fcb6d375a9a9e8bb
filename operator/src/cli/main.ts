// Entry of `llmservice plan`: arguments, manifests, the plan of each, one report, the exit status.

import { betaText } from '@llmservice/crds';
import { Preflight } from '../preflight/preflight.js';
import { CheckpointPlaces, objectsOf } from './checkpoint-places.js';
import { exitCodeOf as statusOf } from '../command-line.js';
import { Cluster } from './cluster.js';
import { exitCodeOf, exitCodes, type Verdict } from './exit-codes.js';
import { planGateway } from './plan-gateway.js';
import { planManifest, type PlanReport } from './plan-manifest.js';
import { parsePlanOptions, usage, type PlanOptions } from './plan-options.js';
import { readManifests } from './read-manifests.js';
import { describePlan } from './report-text.js';

async function main(args: readonly string[]): Promise<number> {
  const options = parsePlanOptions(args);
  if (options !== null) return plan(options);
  process.stdout.write(usage);
  return exitCodes.fits;
}

async function plan(options: PlanOptions): Promise<number> {
  const manifests = await readManifests(options.sources, process.stdin, options.namespace);
  const cluster = options.diff ? Cluster.connect(options.cluster) : null;
  const reports: PlanReport[] = [];
  try {
    const objects = objectsOf(manifests.others, cluster, process.env, options.namespace);
    const places = new CheckpointPlaces(options.folders, objects);
    const preflight = new Preflight(places);
    const { classes } = manifests;
    for (const manifest of manifests.services) {
      const report = await planManifest(manifest, { ...options, places, preflight, cluster, classes });
      reports.push(manifest.inBeta === true ? { ...report, message: betaText(report.message) } : report);
    }
  } finally {
    cluster?.close();
  }
  const { problems, others } = manifests;
  const gateways = manifests.gateways.map((gateway) =>
    planGateway(gateway, manifests.services, options.gateway),
  );
  const verdicts = [...reports, ...gateways].map(({ verdict }): Verdict => verdict);
  const exitCode = exitCodeOf(problems.length > 0 ? [...verdicts, 'invalid'] : verdicts);
  const passedOver = others.map(({ source, object }) => ({ source, kind: object.kind }));
  process.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify({ exitCode, services: reports, gateways, passedOver, problems }, null, 2)}\n`
      : describePlan(reports, gateways, manifests, options),
  );
  return exitCode;
}

process.exitCode = await statusOf('llmservice plan', () => main(process.argv.slice(3)));
