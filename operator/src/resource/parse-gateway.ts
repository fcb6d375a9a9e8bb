// From an LlmGateway as the API server gives it to one complete, typed value, or to every violation at once. The API server
// has checked schema and CEL rules already; they are checked again because its copy of the CRD may be older.

import { readLlmGateway, type GatewayModel, type Violation } from '@llmservice/crds';
import type { WantedGateway } from '../domain/wanted-gateway.js';
import type { KubeObject } from '../kube/types.js';
import { gatewayRuleViolations } from './spec-rules.js';

export type ParsedGateway =
  | { readonly ok: true; readonly gateway: WantedGateway }
  | { readonly ok: false; readonly violations: readonly Violation[] };

export function parseGateway(object: KubeObject): ParsedGateway {
  // The status is the operator's own and may be of another version: it is not judged.
  const checked = readLlmGateway(
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'status')),
  );
  if (!checked.ok) return checked;
  const { spec } = checked.value;
  const violations = [...gatewayRuleViolations(checked.value), ...repeatedNames(spec.models ?? [])];
  if (violations.length > 0) return { ok: false, violations };
  const { name, namespace = '', uid = '', generation = 0 } = object.metadata;
  return { ok: true, gateway: { kind: 'LlmGateway', namespace, name, uid, generation, spec } };
}

/** A name means one model; CEL would compare each with each, which costs more than the API server allows. */
function repeatedNames(models: readonly GatewayModel[]): Violation[] {
  const owners = new Map(models.map(({ name }, index) => [name, `spec.models[${String(index)}].name`]));
  return models.flatMap(({ aliases = [] }, index) =>
    aliases.flatMap((alias, at) => {
      const path = `spec.models[${String(index)}].aliases[${String(at)}]`;
      const owner = owners.get(alias);
      owners.set(alias, path);
      if (owner === undefined) return [];
      return [{ path, message: `repeats ${alias}, which ${owner} is; give each model names of its own` }];
    }),
  );
}
