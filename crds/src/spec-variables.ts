// Fields of a spec that a variable of its container may stand for: a values file that sets MAX_NUM_SEQS needs no
// engine.maxNumSeqs. The operator plans with what the runtime will read.

import { engineVariables, type EngineVariable, type EngineVariableName } from './engine-variables.js';
import { getField, setField, type JsonObject } from './fields.js';
import type { LlmServiceSpec } from './generated/llm-service.js';
import { specDefaults } from './generated/spec-defaults.js';
import type { Violation } from './validate.js';

/**
 * The spec with its variables in the fields that they stand for. A field that is unset, or stands at its default,
 * yields to the variable; one that says something else is a violation. Variables with `valueFrom` are not looked into.
 */
export function withVariables(spec: LlmServiceSpec): { spec: LlmServiceSpec; violations: Violation[] } {
  const result = structuredClone(spec);
  const violations: Violation[] = [];
  for (const [index, { name, value }] of (spec.env ?? []).entries()) {
    const variable = variableNamed(name);
    // An empty value unsets a variable of the image.
    if (variable === null || variable.spec === null || value === undefined || value === '') continue;
    // Said to other programs of an image: a service without a hub is the same with it and without.
    if (name === 'HF_ENDPOINT' && !usesHub(spec)) continue;
    const { spec: field } = variable;
    const violate = (message: string): void => {
      violations.push({ path: `spec.env[${String(index)}]`, message: `${name}=${value} ${message}` });
    };
    try {
      const read = variable.read(value);
      // A quantity, which is text.
      const wanted = field === 'accelerator.memoryPerDevice' ? String(read) : read;
      const set = getField(result as unknown as JsonObject, field);
      const unset = set === undefined || set === getField(specDefaults, field);
      if (unset) setField(result as unknown as JsonObject, field, wanted);
      else if (JSON.stringify(set) !== JSON.stringify(wanted))
        violate(`contradicts spec.${field}: ${JSON.stringify(set)}; keep one of them`);
    } catch (error) {
      violate(`is not valid: ${(error as Error).message}`);
    }
  }
  return { spec: result, violations };
}

/** Whether any checkpoint lies in a hub of models. */
export function usesHub(spec: LlmServiceSpec): boolean {
  return urisOf(spec).some((uri) => uri.startsWith('hf://'));
}

/** Whether any checkpoint lies in a registry. */
export function usesRegistry(spec: LlmServiceSpec): boolean {
  return urisOf(spec).some((uri) => uri.startsWith('oci://'));
}

/** Whether a list of files names any checkpoint. */
export function usesList(spec: LlmServiceSpec): boolean {
  return urisOf(spec).some((uri) => /^https?:/.test(uri));
}

/** Whether any checkpoint lies in Google Cloud Storage, which is reached as S3 is: none lies there then. */
export function usesGoogle(spec: LlmServiceSpec): boolean {
  return urisOf(spec).some((uri) => uri.startsWith('gs://'));
}

function urisOf({ model, engine, adapters = [] }: LlmServiceSpec): string[] {
  return [model.uri, engine.speculative.uri ?? '', ...adapters.map(({ uri }) => uri)];
}

function variableNamed(name: string): EngineVariable | null {
  return Object.hasOwn(engineVariables, name) ? engineVariables[name as EngineVariableName] : null;
}
