// The CRD's CEL rules, judged here too: the cluster's copy of the CRD may be older, `plan` asks no API server, and
// variables stand for fields. Rules and messages are the CRD's own (crds/*.yaml).

import { Environment } from '@marcbachmann/cel-js';
import {
  gatewayRules,
  specRules,
  type LlmGateway,
  type LlmService,
  type SpecRule,
  type Violation,
} from '@llmservice/crds';

const cel = new Environment({ unlistedVariablesAreDyn: true });
const parsed = (rules: readonly SpecRule[]) =>
  rules.map((rule) => ({ ...rule, holds: cel.parse(rule.rule) }));
const ofServices = parsed(specRules);
const ofGateways = parsed(gatewayRules);

type Place = readonly [path: string, value: unknown];

/** @param service with its defaults filled in */
export function ruleViolations(service: LlmService): Violation[] {
  return violationsOf(ofServices, service);
}

/** @param gateway with its defaults filled in */
export function gatewayRuleViolations(gateway: LlmGateway): Violation[] {
  return violationsOf(ofGateways, gateway);
}

function violationsOf(rules: ReturnType<typeof parsed>, object: object): Violation[] {
  const self = withIntegers(object);
  return rules.flatMap((rule) =>
    placesOf(rule, self)
      .filter(([, value]) => !isTrue(() => rule.holds({ self: value })))
      .map(([path]) => violation(`${path}${rule.fieldPath}`.replace(/^\./, ''), rule.message)),
  );
}

/** The API server names no field, so that a message begins with its own; beside the path it would be there twice. */
function violation(path: string, message: string): Violation {
  const [field = ''] = message.split(' ', 1);
  const names = path === field || path.endsWith(`.${field}`);
  return { path, message: names ? message.slice(field.length + 1) : message };
}

/** Where the values are that a rule is about; none where a field on the way is absent. */
function placesOf({ at }: SpecRule, service: unknown): Place[] {
  return at.reduce<Place[]>(
    (places, name) => places.flatMap((place) => (name === '[]' ? itemsOf(place) : fieldOf(place, name))),
    [['', service]],
  );
}

function itemsOf([path, value]: Place): Place[] {
  return (value as unknown[]).map((item, index) => [`${path}[${index}]`, item]);
}

function fieldOf([path, value]: Place, name: string): Place[] {
  const field = (value as Readonly<Record<string, unknown>>)[name];
  return field === undefined ? [] : [[path === '' ? name : `${path}.${name}`, field]];
}

/** A rule that cannot be evaluated does not hold, as in the API server. */
function isTrue(rule: () => unknown): boolean {
  try {
    return rule() === true;
  } catch {
    return false;
  }
}

/** CEL's integers are not JavaScript's numbers. */
function withIntegers(value: unknown): unknown {
  if (Number.isInteger(value)) return BigInt(value as number);
  if (Array.isArray(value)) return Array.from(value, withIntegers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withIntegers(each)]));
}
