// The whole status of a gateway from what was planned and seen. Equal observations give equal statuses, so that nothing is
// written when nothing changed.

import type { LlmGatewayStatus, Violation } from '@llmservice/crds';
import type { Obstacle } from '../domain/plan-outcome.js';
import type { Deployment, HttpRoute, VirtualService } from '../kube/types.js';
import type { RoutedModels } from '../plan/gateway/route-models.js';
import { gatewayChildName } from '../plan/identity/child-identity.js';
import { publicUrl } from '../plan/traffic/host-claims.js';
import type { Routing } from '../plan/traffic/routing.js';
import { no, unknown, yes, type Answer } from './answer.js';
import { judgeOwnRoute } from './route-condition.js';

export interface ObservedGateway {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly previous: LlmGatewayStatus;
  /** RFC 3339. */
  readonly now: string;
  /** Why the spec cannot be served; then nothing of it was applied, and the rest is as it was. */
  readonly refused: Answer | null;
  readonly models: RoutedModels;
  readonly routing: Routing;
  /** What kept an object from being applied. */
  readonly obstacle: Obstacle | null;
  readonly wantedReplicas: number;
  readonly deployment: Deployment | null;
  readonly httpRoute: HttpRoute | null;
  readonly virtualService: VirtualService | null;
}

/** In the status; the count is of all. */
const maxListed = 256;
/** In one message. */
const maxProblems = 10;

export function gatewayStatus(observed: ObservedGateway): LlmGatewayStatus {
  const { namespace, name, models, routing, generation, deployment, refused, previous } = observed;
  const answers = answersOf(observed);
  const address = `http://${gatewayChildName(name)}.${namespace}.svc`;
  const hasUrl = routing.state === 'planned' && answers.Programmed.status === 'True';
  return {
    observedGeneration: generation,
    ...(hasUrl ? { url: publicUrl({ host: routing.host, pathPrefix: '' }) } : {}),
    address,
    readyReplicas: deployment?.status?.readyReplicas ?? 0,
    ...(refused === null
      ? {
          modelCount: models.routes.length,
          models: models.states.slice(0, maxListed),
        }
      : kept(previous)),
    conditions: Object.entries(answers).map(([type, { status, reason, message }]) => ({
      ...{ type, status, reason, message, observedGeneration: generation },
      lastTransitionTime: since(type, status, observed),
    })),
  };
}

/** Violations as one text, each with its field. */
export function invalidSpec(violations: readonly Violation[]): Answer {
  return no('InvalidSpec', `Correct ${listed(violations)}`);
}

function answersOf(
  observed: ObservedGateway,
): Record<'Accepted' | 'ResolvedRefs' | 'Programmed' | 'Ready', Answer> {
  const { refused, models } = observed;
  if (refused !== null) {
    const waits = unknown('NotAccepted', 'What was applied before stays until the spec is accepted.');
    const Ready = readiness(observed);
    return { Accepted: refused, ResolvedRefs: waits, Programmed: waits, Ready };
  }
  const resolved =
    models.problems.length === 0
      ? yes('ResolvedRefs', `${models.routes.length} models have a service.`)
      : no('RefNotFound', `Correct ${listed(models.problems)}`);
  return {
    Accepted: yes('Accepted', 'The spec can be served.'),
    ResolvedRefs: resolved,
    Programmed: programmed(observed),
    Ready: readiness(observed),
  };
}

function programmed(observed: ObservedGateway): Answer {
  const { obstacle, namespace, name } = observed;
  if (obstacle !== null) return no(obstacle.reason, obstacle.message);
  const routed = judgeOwnRoute({
    ...observed,
    name: gatewayChildName(name),
    namespace,
    backendTlsPolicy: null,
    scheme: 'http',
    fallback: { state: 'none' },
  });
  return routed;
}

function readiness({ deployment, wantedReplicas, models, refused, previous }: ObservedGateway): Answer {
  const ready = deployment?.status?.readyReplicas ?? 0;
  const states = refused === null ? models.states : (previous.models ?? []);
  const serving = states.filter(({ state }) => state === 'Ready' || state === 'Asleep').length;
  if (wantedReplicas === 0) return no('Stopped', 'spec.replicas is 0: set it to 1 or more.');
  if (ready === 0) {
    return no('NoRouter', 'No router takes requests yet. If this lasts, see the events of its pods.');
  }
  if (serving === 0) {
    return no(
      'NoModel',
      `None of ${states.length} models has a pod that answers, or sleeps. See their services.`,
    );
  }
  return yes('Serving', `${serving} of ${states.length} models answer, or wake when they are asked.`);
}

function kept({ models, modelCount }: LlmGatewayStatus): LlmGatewayStatus {
  return { ...(models === undefined ? {} : { models }), ...(modelCount === undefined ? {} : { modelCount }) };
}

function listed(violations: readonly Violation[]): string {
  const lines = violations.map(({ path, message }) => `${path}: ${message}`);
  const more = lines.length - maxProblems;
  return `${lines.slice(0, maxProblems).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

function since(type: string, status: Answer['status'], { previous, now }: ObservedGateway): string {
  const before = previous.conditions?.find((condition) => condition.type === type);
  return before?.status === status ? before.lastTransitionTime : now;
}
