// Reads the engine-config file and hands everything to the pure resolver. The only reader of files of settings.

import { FailureError, parseJson, paths } from '@llmservice/crds';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveConfig, type ConfigSources, type ResolvedConfig } from './resolve-config.js';

/**
 * The file named by LLMSERVICE_ENGINE_CONFIG must exist; the one at the default path may be absent.
 * @throws FailureError InvalidEngineConfig
 */
export function readConfig(env: ConfigSources['env'], flags: ConfigSources['flags']): ResolvedConfig {
  const named = env['LLMSERVICE_ENGINE_CONFIG'];
  const path = named ?? paths.engineConfig;
  const text = readText(path, named !== undefined);
  return resolveConfig({ file: text === null ? null : { path, content: parse(path, text) }, env, flags });
}

/** Content of every PEM file in the folder; empty when there is no such folder. */
export function readCertificates(dir: string): string[] {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch {
    return [];
  }
  return names
    .filter((name) => /\.(crt|pem)$/.test(name))
    .map((name) => readFileSync(join(dir, name), 'utf8'));
}

function readText(path: string, required: boolean): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!required && (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new FailureError(
      'InvalidEngineConfig',
      `cannot read ${path}: ${(error as Error).message}`,
      undefined,
      {
        cause: error,
      },
    );
  }
}

function parse(path: string, text: string): unknown {
  try {
    return parseJson(path, text);
  } catch (error) {
    throw new FailureError('InvalidEngineConfig', (error as Error).message);
  }
}
