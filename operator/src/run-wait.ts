// Waits for a service until it is accepted or serves. Prints each change of what it waits for; the reason of a failure also goes to
// the termination log, so that `kubectl describe pod` shows it.

import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { paths, type LlmService } from '@llmservice/crds';
import { KubeClient } from './kube/client.js';
import { objectPath, resources } from './kube/resources.js';
import { waitGoals, waitVerdict, type WaitGoal, type WaitVerdict } from './status/wait-verdict.js';

const pollIntervalMs = 1000;
const usage = 'usage: wait NAMESPACE/NAME accepted|serving TIMEOUT_SECONDS';

interface WaitArguments {
  readonly namespace: string;
  readonly name: string;
  readonly goal: WaitGoal;
  readonly timeoutMs: number;
}

function parseArguments([service = '', goal = '', seconds = '']: string[]): WaitArguments | null {
  const [namespace = '', name = ''] = service.split('/');
  const timeoutMs = Number(seconds) * 1000;
  if (namespace === '' || name === '' || !Object.hasOwn(waitGoals, goal) || !(timeoutMs > 0)) return null;
  return { namespace, name, goal: goal as WaitGoal, timeoutMs };
}

/** An API server that does not answer for a while is waited for, too. */
async function look(client: KubeClient, wanted: WaitArguments): Promise<WaitVerdict> {
  try {
    const path = objectPath(resources.llmServices, wanted.namespace, wanted.name);
    return waitVerdict(await client.find<LlmService>(path), wanted.goal);
  } catch (error) {
    return { kind: 'waiting', message: `cannot read the LlmService: ${String(error)}` };
  }
}

async function wait(client: KubeClient, wanted: WaitArguments): Promise<WaitVerdict> {
  const deadline = performance.now() + wanted.timeoutMs;
  let printed = '';
  for (;;) {
    const verdict = await look(client, wanted);
    if (verdict.kind !== 'waiting') return verdict;
    if (verdict.message !== printed) console.log(`waiting: ${verdict.message}`);
    printed = verdict.message;
    if (performance.now() > deadline) {
      const message = `timed out after ${wanted.timeoutMs / 1000} s: ${verdict.message}`;
      return { kind: 'failed', message };
    }
    await sleep(pollIntervalMs);
  }
}

function reportFailure(message: string): void {
  console.error(`failed: ${message}`);
  try {
    writeFileSync(paths.terminationMessage, message);
  } catch {
    // Outside a pod there is no such file.
  }
}

/** @returns the exit status: 0 reached, 1 failed or timed out, 2 wrong arguments */
export async function runWait(args: string[]): Promise<number> {
  const wanted = parseArguments(args);
  if (wanted === null) {
    console.error(usage);
    return 2;
  }
  const config = new KubeConfig();
  config.loadFromDefault();
  const client = new KubeClient(config);
  const { kind, message } = await wait(client, wanted);
  client.close();
  if (kind === 'reached') {
    console.log(`${wanted.namespace}/${wanted.name} is ${wanted.goal}: ${message}`);
    return 0;
  }
  reportFailure(message);
  return 1;
}
