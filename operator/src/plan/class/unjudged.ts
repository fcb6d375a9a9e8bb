// What would get a service around the bounds of its class, because nobody can judge it before there are pods: devices that are not
// asked for by spec.accelerator, values that are elsewhere, and arguments that name models. Pure.

import { engineVariables, type ClassBounds, type LlmServiceSpec, type Violation } from '@llmservice/crds';
import { resourceNameOf } from '../../resource/field-rules.js';

/** @param whose the bounds are, for messages */
export function unjudged(spec: LlmServiceSpec, bounds: ClassBounds, whose: string): Violation[] {
  return [
    ...devicesBeside(spec, bounds, whose),
    ...strangeClaim(spec.accelerator, bounds, whose),
    ...valuesElsewhere(spec, bounds, whose),
    ...modelArguments(spec.engine, bounds, whose),
  ];
}

function boundsDevices({ accelerators, maxDevices, maxDeviceHoursPerMonth }: ClassBounds): boolean {
  return accelerators !== undefined || maxDevices !== undefined || maxDeviceHoursPerMonth !== undefined;
}

/** Runtimes of containers give devices for these too, which no scheduler counts. */
const deviceVariables: readonly string[] = ['NVIDIA_VISIBLE_DEVICES', 'AMD_VISIBLE_DEVICES'];
const deviceAnnotation = 'cdi.k8s.io/';

function devicesBeside(spec: LlmServiceSpec, bounds: ClassBounds, whose: string): Violation[] {
  if (!boundsDevices(bounds)) return [];
  const { accelerator, resources, env = [], podAnnotations = {} } = spec;
  const listed = bounds.accelerators ?? null;
  const own = accelerator.claim === undefined ? resourceNameOf(accelerator) : null;
  const isBeside = (name: string): boolean => {
    // Of its own resource the operator sets the number.
    if (name === own || !name.includes('/')) return false;
    return /^(amd|nvidia)\.com\//.test(name) || (listed !== null && !listed.includes(name));
  };
  const asked = (['limits', 'requests'] as const).flatMap((side) =>
    Object.keys(resources?.[side] ?? {})
      .filter(isBeside)
      .map((name) => ({ path: `spec.resources.${side}`, found: name })),
  );
  const variables = env.flatMap(({ name }, at) =>
    deviceVariables.includes(name) ? [{ path: `spec.env[${String(at)}].name`, found: name }] : [],
  );
  const notes = Object.keys(podAnnotations)
    .filter((name) => name.startsWith(deviceAnnotation))
    .map((name) => ({ path: 'spec.podAnnotations', found: name }));
  return [...asked, ...variables, ...notes].map(({ path, found }) => ({
    path,
    message: `asks for devices by ${found}, and ${whose} bounds those of spec.accelerator alone; remove it`,
  }));
}

/** A template, a device class and selectors of a team's own may mean any device. */
function strangeClaim(
  { claim, profile }: LlmServiceSpec['accelerator'],
  bounds: ClassBounds,
  whose: string,
): Violation[] {
  if (claim === undefined || !boundsDevices(bounds)) return [];
  const { templateName, deviceClassName, selectors } = claim;
  const at = 'spec.accelerator.claim';
  const because = `and ${whose} bounds devices; remove it, so that ${profile ?? 'a profile'} says which`;
  if (templateName !== undefined)
    return [{ path: `${at}.templateName`, message: `is ${templateName}, which may ask for any, ${because}` }];
  const { accelerators } = bounds;
  if (accelerators === undefined) return [];
  if (deviceClassName !== undefined) {
    const path = `${at}.deviceClassName`;
    const message = `is ${deviceClassName}, which ${whose} does not list in accelerators; remove it`;
    return accelerators.includes(deviceClassName) ? [] : [{ path, message }];
  }
  if (selectors === undefined) return [];
  return [{ path: `${at}.selectors`, message: `may select any device, ${because}` }];
}

type Field = (typeof engineVariables)[keyof typeof engineVariables]['spec'];

const boundBy: readonly (readonly [bound: keyof ClassBounds, fields: readonly Field[]])[] = [
  ['uris', ['model.uri', 'engine.speculative.uri']],
  ['endpoints', ['model.s3.endpoint', 'model.hub.endpoint']],
  ['maxTensor', ['parallelism.tensor']],
];

/** The runtime reads them in the pod alone. */
function valuesElsewhere({ env = [] }: LlmServiceSpec, bounds: ClassBounds, whose: string): Violation[] {
  const fields = boundBy.flatMap(([bound, those]) => (bounds[bound] === undefined ? [] : those));
  const stand: Readonly<Record<string, { readonly spec: Field }>> = engineVariables;
  return env.flatMap(({ name, valueFrom }, at) => {
    const field = Object.hasOwn(stand, name) ? stand[name]?.spec : undefined;
    if (valueFrom === undefined || field === undefined || !fields.includes(field)) return [];
    const message = `hides what ${name} is, and ${whose} bounds spec.${String(field)}; give it as a value`;
    return [{ path: `spec.env[${String(at)}].valueFrom`, message }];
  });
}

/** vLLM takes the last of an option, and many name a model or a file of options. */
function modelArguments(
  { args = [] }: LlmServiceSpec['engine'],
  { uris }: ClassBounds,
  whose: string,
): Violation[] {
  if (uris === undefined || args.length === 0) return [];
  const message = `may name other models than spec.model.uri, and ${whose} bounds URIs; remove it`;
  return [{ path: 'spec.engine.args', message }];
}
