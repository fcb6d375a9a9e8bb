// Whether another service stands in for one at its public route: while no pod of its own answers. It goes one step and
// no further: requests reach the pods of the other, never the other's fallback, so that two may stand in for each
// other.

import { annotations, headers } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { parseSpec } from '../../resource/parse-spec.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { schemeOf, type Scheme } from '../pods/container-parts.js';
import { handoverMs } from '../scaling/sleep.js';

export type Fallback =
  /** Nobody asked for one. */
  | { readonly state: 'none' }
  /** The one that was named cannot stand in. */
  | { readonly state: 'unfit'; readonly reason: string; readonly message: string }
  | { readonly state: 'standby' }
  /** The route leads to it. */
  | {
      readonly state: 'active';
      readonly service: string;
      /** What its pods speak. */
      readonly scheme: Scheme;
      /** Whether it says that it answers. */
      readonly answers: boolean;
      /** When to ask again; null: when something changes. */
      readonly recheckMs: number | null;
    };

/** Where a route leads instead. */
export type FallbackTarget = Pick<Fallback & { readonly state: 'active' }, 'service' | 'scheme'>;

export interface FallbackInputs {
  readonly service: WantedService;
  /** The LlmService that was named; null: there is none. */
  readonly other: KubeObject | null;
  /** The gateway knows how to verify the other's pods, where they speak HTTPS. */
  readonly otherVerified: boolean;
  /** The route as it is now; null: there is none. */
  readonly route: KubeObject | null;
  /** For how long a pod of its own has answered; null: none does. */
  readonly answeringMs: number | null;
  /** The activator takes its requests. */
  readonly asleep: boolean;
}

/** A pod has to answer for a while before the route leads back: one that comes and goes would drag it along. */
export function planFallback(inputs: FallbackInputs): Fallback {
  const { service, other, otherVerified, route, answeringMs, asleep } = inputs;
  const name = service.spec.routing.fallback?.service;
  if (name === undefined) return { state: 'none' };
  if (other === null || other.metadata.deletionTimestamp !== undefined) {
    const message = `LlmService ${name}, its fallback, does not exist. Create it, or correct spec.routing.fallback.`;
    return { state: 'unfit', reason: 'FallbackMissing', message };
  }
  const defect = defectOf(service, other, otherVerified);
  if (defect !== null) {
    const message = `LlmService ${name} cannot be its fallback: ${defect}`;
    return { state: 'unfit', reason: 'FallbackUnfit', message };
  }
  const isAway = route === null || route.metadata.annotations?.[annotations.fallback] !== undefined;
  const leftMs = answeringMs === null ? null : handoverMs - answeringMs;
  if (asleep || (leftMs !== null && (leftMs <= 0 || !isAway))) return { state: 'standby' };
  const scheme = schemeOfOther(other);
  return { state: 'active', service: name, scheme, answers: answers(other), recheckMs: leftMs };
}

/** Null: it can stand in, or its spec does not say; pods of an older one may answer. */
function defectOf(service: WantedService, other: KubeObject, verified: boolean): string | null {
  const parsed = parseSpec(other);
  if (!parsed.ok) return null;
  const { spec, modelName } = parsed.service;
  if (spec.tls.secretRef !== undefined && !verified) {
    return (
      'its pods speak HTTPS, and the gateway has nothing to verify them by. Give it a routing.host with ' +
      'tls.caConfigMapRef, remove its tls.secretRef, or name another.'
    );
  }
  if (spec.auth.keysSecretRef?.name !== service.spec.auth.keysSecretRef?.name) {
    return 'it asks for other keys, or for none. Give both the same auth.keysSecretRef.';
  }
  const names = [modelName, ...(spec.model.aliases ?? [])];
  if (spec.engine.runtime === 'vllm' && !names.includes(service.modelName)) {
    return `vLLM answers to names of its own alone. Add ${service.modelName} to its model.aliases.`;
  }
  return null;
}

/** By its spec, where that can be read: pods of an older one may speak the other. */
function schemeOfOther(other: KubeObject): Scheme {
  const parsed = parseSpec(other);
  return parsed.ok ? schemeOf(parsed.service) : 'http';
}

function answers(other: KubeObject): boolean {
  const { conditions = [] } = (other['status'] ?? {}) as {
    conditions?: { type: string; status: string; reason: string }[];
  };
  return conditions.some(
    ({ type, status, reason }) => type === 'Serving' && (status === 'True' || reason === 'Asleep'),
  );
}

/** Fits into the header's 4,096 bytes whatever names there are. */
const maxNames = 16;

/** Headers that its route sets: for the fallback the names that clients ask for, for clients who has answered. */
export function fallbackHeaders(
  { spec, modelName }: WantedService,
  fallback: string,
): { readonly request: Record<string, string>; readonly response: Record<string, string> } {
  const names = [modelName, ...(spec.model.aliases ?? [])].slice(0, maxNames);
  return { request: { [headers.fallbackFor]: names.join(',') }, response: { [headers.fallback]: fallback } };
}

/** The name by which the activator knows it, should the fallback be asleep: the host of the route means another. */
export function fallbackHost({ namespace }: WantedService, fallback: string): string {
  return `${fallback}.${namespace}.svc`;
}
