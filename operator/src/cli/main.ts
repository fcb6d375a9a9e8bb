// Entry of `llmservice plan`: arguments, manifests, the plan of each, one report, the exit status.

import { Preflight } from '../preflight/preflight.js';
import { CheckpointPlaces, objectsOf } from './checkpoint-places.js';
import { Cluster, ClusterError } from './cluster.js';
import { exitCodeOf, exitCodes, type Verdict } from './exit-codes.js';
import { planManifest, type PlanReport } from './plan-manifest.js';
import { parsePlanOptions, usage, UsageError, type PlanOptions } from './plan-options.js';
import { readManifests } from './read-manifests.js';
import { describePlan } from './report-text.js';

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parsePlanOptions(args);
    if (options !== null) return await plan(options);
    process.stdout.write(usage);
    return exitCodes.fits;
  } catch (error) {
    const told = error instanceof UsageError || error instanceof ClusterError;
    const text = told ? error.message : String((error as Error).stack);
    process.stderr.write(`llmservice plan: ${text}\n`);
    // Also of a mistake in here: nothing can be said, which must not read as "does not fit".
    return error instanceof UsageError ? exitCodes.invalid : exitCodes.unreadable;
  }
}

async function plan(options: PlanOptions): Promise<number> {
  const manifests = await readManifests(options.sources, process.stdin, options.namespace);
  const cluster = options.diff ? Cluster.connect() : null;
  const reports: PlanReport[] = [];
  try {
    const objects = objectsOf(manifests.others, cluster, process.env, options.namespace);
    const places = new CheckpointPlaces(options.folders, objects);
    const preflight = new Preflight(places);
    for (const manifest of manifests.services) {
      reports.push(await planManifest(manifest, { ...options, places, preflight, cluster }));
    }
  } finally {
    cluster?.close();
  }
  const { problems, others } = manifests;
  const verdicts = reports.map(({ verdict }): Verdict => verdict);
  const exitCode = exitCodeOf(problems.length > 0 ? [...verdicts, 'invalid'] : verdicts);
  const passedOver = others.map(({ source, object }) => ({ source, kind: object.kind }));
  process.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify({ exitCode, services: reports, passedOver, problems }, null, 2)}\n`
      : describePlan(reports, manifests, options),
  );
  return exitCode;
}

process.exitCode = await main(process.argv.slice(3));
