// `llmservice serve`: the same server and engine as in a pod, on this machine, with the load shown in the terminal.

import { failureKinds } from '@llmservice/crds';
import { denyTracing } from '@llmservice/native';
import type { Command } from 'commander';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../config/read-config.js';
import { failureOf, stopOnSignals } from '../end-process.js';
import { makeLogger } from '../log/logger.js';
import { NodeWorker } from '../node-worker.js';
import { Replica } from '../replica.js';
import { addSettingOptions, flagsOf, type CommandLineDefaults } from './options.js';
import { LoadDisplay } from './load-display.js';
import { stopWithNpx } from './stop-with-npx.js';

const defaults: CommandLineDefaults = {
  '--weights-dir': join(homedir(), '.cache', 'llmservice', 'models'),
  '--log-level': 'warn',
  '--host': '127.0.0.1',
};

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description(
      'Serve a model on this machine. Every setting is a flag, with its default in parentheses, and an environment name in brackets; the flag wins.',
    )
    .action(async (options: Record<string, string | undefined>) => {
      process.exit(await serve(options));
    });
  addSettingOptions(command, defaults);
}

async function serve(options: Record<string, string | undefined>): Promise<number> {
  const { stderr } = process;
  let display: LoadDisplay | null = null;
  try {
    denyTracing();
    const config = readConfig(process.env, flagsOf(options, process.env, defaults));
    const logger = makeLogger(config.server.logLevel);
    const replica =
      config.server.workerIndex > 0 ? new NodeWorker(config, logger) : new Replica(config, logger);
    stopOnSignals(replica);
    stopWithNpx(
      process,
      () => process.ppid,
      () => replica.stop(),
    );
    process.once('SIGINT', () => stderr.write('\nDraining; press Ctrl-C again to stop at once.\n'));
    const running = replica.run();
    display = new LoadDisplay(
      () => replica.health(),
      stderr,
      () => {
        const { name } = config.engineConfig.model;
        const { host, tlsDir, workerIndex, leaderAddress } = config.server;
        const shown = host?.includes(':') === true ? `[${host}]` : (host ?? 'localhost');
        const what =
          workerIndex > 0
            ? `Computing ranks of ${name} for ${String(leaderAddress)}`
            : `Serving ${name} at ${tlsDir === null ? 'http' : 'https'}://${shown}:${String(replica.port)}/v1`;
        stderr.write(`${what} (Ctrl-C stops)\n`);
      },
    );
    await running;
    display.stop();
    return 0;
  } catch (error) {
    display?.stop();
    const failure = failureOf(error);
    stderr.write(`${failure.reason}: ${failure.message}\n${failureKinds[failure.reason].remedy}\n`);
    return 1;
  }
}
