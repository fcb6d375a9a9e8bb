// What of a service is beyond the bounds of its class, each with its field, what was found and what is allowed. Judged are the
// values that pods would be planned with: the service's own, its variables' and the class's. Pure.

import type { ClassBounds, LlmServiceSpec, Violation } from '@llmservice/crds';
import { resourceNameOf } from '../../resource/field-rules.js';
import { matchesGlob } from '../../resource/globs.js';
import { matchesImage } from '../../resource/image-names.js';
import { unjudged } from './unjudged.js';

type Place = readonly [path: string, value: string | undefined];
type Amount = readonly [path: string, value: number | undefined];

/** @param className of the class that the bounds are of */
export function beyondBounds(spec: LlmServiceSpec, bounds: ClassBounds, className: string): Violation[] {
  const { accelerator, parallelism, engine, model, routing, scaling } = spec;
  const { images, uris, endpoints, hosts } = bounds;
  const whose = `LlmServiceClass ${className}`;
  const outside = (
    places: readonly Place[],
    allowed: readonly string[] | undefined,
    matches: (pattern: string, text: string) => boolean,
  ): Violation[] =>
    places.flatMap(([path, value]) =>
      value === undefined || allowed === undefined || allowed.some((pattern) => matches(pattern, value))
        ? []
        : [{ path, message: `is ${value}, and ${whose} allows ${listed(allowed)}; use one of these` }],
    );
  const above = (amounts: readonly Amount[], max: number | undefined): Violation[] =>
    amounts.flatMap(([path, value]) =>
      value === undefined || max === undefined || value <= max
        ? []
        : [
            {
              path,
              message: `is ${String(value)}, and ${whose} allows ${String(max)} at the most; lower it`,
            },
          ],
    );
  const text = (pattern: string, value: string): boolean =>
    !hasOtherMeaning(value) && matchesGlob(pattern, value, '/');
  return [
    ...strangeAccelerator(accelerator, bounds.accelerators, whose),
    ...above([['spec.accelerator.devices', accelerator.devices]], bounds.maxDevices),
    ...above([tensorOf(accelerator, parallelism)], bounds.maxTensor),
    ...above(
      [
        ['spec.replicas', spec.replicas],
        ['spec.scaling.maxReplicas', scaling.maxReplicas],
        ['spec.scaling.minReplicas', scaling.minReplicas],
        ...(scaling.schedules ?? []).map(({ minReplicas }, at): Amount => [
          `spec.scaling.schedules[${String(at)}].minReplicas`,
          minReplicas,
        ]),
      ],
      bounds.maxReplicas,
    ),
    ...beyondBeside(spec, bounds.maxReplicas, whose),
    ...outside([['spec.engine.image', engine.image]], images, matchesImage),
    ...outside(urisOf(spec), uris, text),
    ...outside(
      [
        ['spec.model.s3.endpoint', withoutSlash(model.s3.endpoint)],
        ['spec.model.hub.endpoint', withoutSlash(model.hub.endpoint)],
      ],
      endpoints,
      (pattern, value) => text(withoutSlash(pattern) ?? '', value),
    ),
    ...outside([['spec.routing.host', routing.host]], hosts, (pattern, host) =>
      matchesGlob(pattern, host, '.'),
    ),
    ...unboundBudget(spec.budget, bounds.maxDeviceHoursPerMonth, whose),
    ...unjudged(spec, bounds, whose),
  ];
}

/** Pods that a service has at any time beside its replicas. */
export function podsBeside({
  canary,
  disaggregation,
}: LlmServiceSpec): readonly [path: string, pods: number][] {
  return [
    ['spec.canary.replicas', canary?.replicas ?? 0],
    ['spec.disaggregation.prefill.replicas', disaggregation?.prefill.replicas ?? 0],
  ];
}

/** Where the replicas alone are too many, of those beside them only what is too much by itself is reported. */
function beyondBeside(spec: LlmServiceSpec, max: number | undefined, whose: string): Violation[] {
  if (max === undefined) return [];
  const { replicas, scaling } = spec;
  const floors = (scaling.schedules ?? []).map(({ minReplicas }) => minReplicas);
  let total = Math.max(replicas, scaling.maxReplicas ?? 0, scaling.minReplicas ?? 0, ...floors);
  return podsBeside(spec).flatMap(([path, pods]) => {
    const before = total;
    total += pods;
    const isBeyond = pods > max || (before <= max && pods > 0 && total > max);
    if (!isBeyond) return [];
    const message = `is ${String(pods)} beside ${String(before)} pods, and ${whose} allows ${String(max)} at the most; lower either`;
    return [{ path, message }];
  });
}

/** Of a URL that is read otherwise than it is matched: `..` leaves the folder, and behind `?`, `#` and `\\` is no host. */
function hasOtherMeaning(url: string): boolean {
  return /[?#\\\s]/.test(url) || url.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part));
}

/** Of a claim the profile alone says what is asked for. */
function strangeAccelerator(
  accelerator: LlmServiceSpec['accelerator'],
  allowed: ClassBounds['accelerators'],
  whose: string,
): Violation[] {
  const { profile, claim } = accelerator;
  const resource = claim === undefined ? [resourceNameOf(accelerator)] : [];
  const named = [...(profile === undefined ? [] : [profile]), ...resource];
  if (allowed === undefined || named.some((name) => allowed.includes(name))) return [];
  const field = profile !== undefined ? 'profile' : claim === undefined ? 'resourceName' : 'claim';
  const found = profile ?? (claim === undefined ? resource.join() : 'of a claim without a profile');
  const message = `is ${found}, and ${whose} allows ${listed(allowed)}; use one of these`;
  return [{ path: `spec.accelerator.${field}`, message }];
}

function tensorOf(
  { devices }: LlmServiceSpec['accelerator'],
  { tensor, pipeline }: LlmServiceSpec['parallelism'],
): Amount {
  return tensor === undefined
    ? ['spec.accelerator.devices', devices / pipeline]
    : ['spec.parallelism.tensor', tensor];
}

/** What keys of the administration may load later is a pattern itself: it is allowed as the text that it is. */
function urisOf({
  model,
  engine,
  adapters = [],
  administration,
  requestLog,
  server,
}: LlmServiceSpec): Place[] {
  const later = administration?.allowedUris ?? [];
  return [
    ['spec.model.uri', model.uri],
    ['spec.engine.speculative.uri', engine.speculative.uri],
    ...adapters.map(({ uri }, at): Place => [`spec.adapters[${String(at)}].uri`, uri]),
    ...later.map((uri, at): Place => [`spec.administration.allowedUris[${String(at)}]`, uri]),
    ['spec.requestLog.uri', requestLog?.uri],
    ['spec.server.storedResponses.uri', server?.storedResponses?.uri],
    ['spec.server.batches.uri', server?.batches?.uri],
  ];
}

function unboundBudget(
  { deviceHoursPerMonth, action }: LlmServiceSpec['budget'],
  max: number | undefined,
  whose: string,
): Violation[] {
  if (max === undefined) return [];
  const path = 'spec.budget.deviceHoursPerMonth';
  const bound = `${whose} allows ${String(max)} at the most`;
  if (deviceHoursPerMonth === undefined) return [{ path, message: `is not set, and ${bound}; set it` }];
  const wrong =
    deviceHoursPerMonth <= max
      ? []
      : [{ path, message: `is ${String(deviceHoursPerMonth)}, and ${bound}; lower it` }];
  if (action === 'stop') return wrong;
  const message = `is ${action}, and ${whose} bounds device hours, which stop alone keeps to; set stop`;
  return [...wrong, { path: 'spec.budget.action', message }];
}

function withoutSlash(url: string | undefined): string | undefined {
  return url?.replace(/\/$/, '');
}

function listed(allowed: readonly string[]): string {
  return allowed.length === 0 ? 'none' : allowed.join(', ');
}
