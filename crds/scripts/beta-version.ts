// The version v1beta1 of the CRD, made from v1alpha1: the same schema, defaults and rules under the names of `betaFields`. CEL
// rules are rewritten by the place that each name has, not by its spelling; the API server checks them against the schema.

import { stringify } from 'yaml';
import { betaFields, type BetaField } from '../src/beta-fields.js';
import { betaText } from '../src/convert-service.js';
import { api } from '../src/names.js';
import type { JsonSchema } from './json-schema.js';

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
}

/** @param alpha the version v1alpha1; it is not changed */
export function betaVersion<T extends Version>(alpha: T): T {
  const openAPIV3Schema = renamed(alpha.schema.openAPIV3Schema, '');
  const apiVersion = openAPIV3Schema.properties?.['apiVersion'];
  if (apiVersion !== undefined)
    apiVersion.description = `Version of this schema, ${api.group}/${api.betaVersion}.`;
  return { ...alpha, name: api.betaVersion, served: true, storage: false, schema: { openAPIV3Schema } };
}

/** As a part of the chart's CRD: the version and who converts, where the release does. */
export function betaTemplate(alpha: Version): string {
  const text = stringify([betaVersion(alpha)], { aliasDuplicateObjects: false, lineWidth: 110 });
  const indented = text.replaceAll(/^(?=.)/gm, '    ');
  return `{{- if (.Values.conversion).enabled }}
${indented}  # Without caBundle, which the operator writes.
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service:
          name: {{ .Release.Name }}-conversion
          namespace: {{ .Release.Namespace | quote }}
          path: /convert
          port: 443
{{- end }}
`;
}

const fieldAt = (path: string): BetaField | undefined => betaFields.find((field) => field.path === path);

function renamed(schema: JsonSchema, path: string): JsonSchema {
  const { properties, required, items, additionalProperties, description, ...rest } = structuredClone(schema);
  const rules = rest['x-kubernetes-validations'];
  const values = fieldAt(path)?.values;
  return {
    ...(description === undefined ? {} : { description: betaText(description) }),
    ...rest,
    ...(values === undefined ? {} : spelledBy(values, rest)),
    ...(rules === undefined
      ? {}
      : { 'x-kubernetes-validations': rules.map((rule) => renamedRule(rule, path)) }),
    ...(required === undefined ? {} : { required: required.map((name) => nameOf(path, name)) }),
    ...(items === undefined ? {} : { items: renamed(items, `${path}[]`) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: renamed(additionalProperties, `${path}{}`) }
      : additionalProperties === undefined
        ? {}
        : { additionalProperties }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [
              nameOf(path, name),
              renamed(each, childOf(path, name)),
            ]),
          ),
        }),
  };
}

const childOf = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const nameOf = (path: string, name: string): string => fieldAt(childOf(path, name))?.name ?? name;

/** Every value of the enum and the default. @throws when the table does not have one of them */
function spelledBy(values: Readonly<Record<string, string>>, schema: JsonSchema): JsonSchema {
  const spelled = (value: unknown): string => {
    const found = values[String(value)];
    if (found === undefined) throw new Error(`betaFields has no spelling of ${String(value)}`);
    return found;
  };
  return {
    enum: (schema.enum ?? []).map(spelled),
    ...(schema.default === undefined ? {} : { default: spelled(schema.default) }),
  };
}

type Rule = NonNullable<JsonSchema['x-kubernetes-validations']>[number];

function renamedRule({ rule, message, fieldPath, ...rest }: Rule, path: string): Rule {
  return {
    ...rest,
    rule: renamedCel(rule, path),
    ...(fieldPath === undefined
      ? {}
      : { fieldPath: `.${renamedChain(fieldPath.slice(1).split('.'), path)}` }),
    message: betaText(message),
  };
}

const token = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|(?<![\w.\])])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;

/** @param path what `self` is in the rule */
export function renamedCel(rule: string, path: string): string {
  const places = new Map([
    ['self', path],
    ['oldSelf', path],
  ]);
  return rule.replace(token, (found, offset: number) => {
    const [root = '', ...names] = found.split('.');
    const place = places.get(root);
    if (place === undefined || /^['"]/.test(found)) return found;
    const variable = /^\((\w+),/.exec(rule.slice(offset + found.length))?.[1];
    if (variable !== undefined) places.set(variable, `${names.slice(0, -1).reduce(childOf, place)}[]`);
    return [root, ...(names.length === 0 ? [] : [renamedChain(names, place)])].join('.');
  });
}

/** @throws for a field whose values have another spelling: what a rule compares it with would have to change too */
function renamedChain(names: readonly string[], place: string): string {
  let at = place;
  return names
    .map((name) => {
      const result = nameOf(at, name);
      at = childOf(at, name);
      if (fieldAt(at)?.values !== undefined) throw new Error(`a rule reads ${at}, whose values are others`);
      return result;
    })
    .join('.');
}
