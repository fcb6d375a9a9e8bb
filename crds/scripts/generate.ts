// Writes everything that follows from the CRD and the engine-config schema. Run by `npm run generate`.

import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { acceleratorsModule, acceleratorsPage, type Card } from './accelerators.js';
import { betaTemplate } from './beta-version.js';
import { api, classApi, gatewayApi } from '../src/names.js';
import { classDefinition, classDefinitionText } from './class-definition.js';
import { failureReasonsHeader } from './failure-reasons-header.js';
import {
  classTitles,
  fromCustomResource,
  gatewayTitles,
  serviceTitles,
  type JsonSchema,
} from './json-schema.js';
import { failuresPage, referencePage } from './reference-page.js';
import { rulesModule } from './spec-rules.js';
import { defaultsModule, schemaModule, typesModule } from './typescript-files.js';
import { writeGenerated } from './write-generated.js';

interface CustomResourceDefinition {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { versions: { name: string; schema: { openAPIV3Schema: JsonSchema } }[] };
}

const root = new URL('../../', import.meta.url);
const crdFile = 'llmservices.llmservice.dev.yaml';
const gatewayFile = 'llmgateways.llmservice.dev.yaml';
const classBase = 'llmserviceclasses.base.yaml';
const classFile = 'llmserviceclasses.llmservice.dev.yaml';
const engineConfigFile = 'engine-config.schema.json';
const keyFileFile = 'key-file.schema.json';

async function outputs(): Promise<Record<string, string>> {
  const crd = await readCrd(crdFile);
  const gatewayCrd = await readCrd(gatewayFile);
  const engineConfig = JSON.parse(
    await readFile(new URL(`crds/${engineConfigFile}`, root), 'utf8'),
  ) as JsonSchema;
  const keyFile = JSON.parse(await readFile(new URL(`crds/${keyFileFile}`, root), 'utf8')) as JsonSchema;
  const cards = parse(await readFile(new URL('crds/accelerators.yaml', root), 'utf8')) as Card[];
  const openApiSchema = schemaOf(crd);
  const gatewaySchema = schemaOf(gatewayCrd);
  const spec = openApiSchema.properties?.['spec'] ?? {};
  const classCrd = classDefinition(await readCrd(classBase), spec);
  const classSchema = schemaOf(classCrd);
  const llmService = fromCustomResource(openApiSchema, api.groupVersion, api.kind, serviceTitles);
  const llmGateway = fromCustomResource(gatewaySchema, api.groupVersion, gatewayApi.kind, gatewayTitles);
  const llmServiceClass = fromCustomResource(classSchema, api.groupVersion, classApi.kind, classTitles);
  const generated = 'crds/src/generated';
  return {
    [`${generated}/llm-service.ts`]: await typesModule(llmService, 'LlmService', crdFile),
    [`${generated}/llm-service-schema.ts`]: schemaModule(llmService, 'llmServiceSchema', crdFile),
    [`${generated}/spec-defaults.ts`]: defaultsModule(spec, crdFile),
    [`${generated}/spec-rules.ts`]: rulesModule(openApiSchema, 'specRules', crdFile),
    [`${generated}/llm-gateway.ts`]: await typesModule(llmGateway, 'LlmGateway', gatewayFile),
    [`${generated}/llm-gateway-schema.ts`]: schemaModule(llmGateway, 'llmGatewaySchema', gatewayFile),
    [`${generated}/gateway-rules.ts`]: rulesModule(gatewaySchema, 'gatewayRules', gatewayFile),
    [`crds/${classFile}`]: classDefinitionText(classCrd),
    [`${generated}/llm-service-class.ts`]: await typesModule(llmServiceClass, 'LlmServiceClass', classFile),
    [`${generated}/llm-service-class-schema.ts`]: schemaModule(
      llmServiceClass,
      'llmServiceClassSchema',
      classFile,
    ),
    [`${generated}/engine-config.ts`]: await typesModule(engineConfig, 'EngineConfig', engineConfigFile),
    [`${generated}/engine-config-schema.ts`]: schemaModule(
      engineConfig,
      'engineConfigSchema',
      engineConfigFile,
    ),
    [`${generated}/key-file.ts`]: await typesModule(keyFile, 'KeyFile', keyFileFile),
    [`${generated}/key-file-schema.ts`]: schemaModule(keyFile, 'keyFileSchema', keyFileFile),
    [`${generated}/accelerators.ts`]: acceleratorsModule(cards),
    'deploy/docs/accelerators.md': acceleratorsPage(cards),
    'deploy/docs/reference.md': referencePage(openApiSchema, gatewaySchema, classSchema),
    'deploy/docs/failures.md': failuresPage(),
    'native/src/ops/failure_reason.h': failureReasonsHeader(),
    'charts/llmservice-operator/templates/crd.yaml': chartCopy(crd, crdFile, betaTemplate),
    'charts/llmservice-operator/templates/crd-gateways.yaml': chartCopy(gatewayCrd, gatewayFile),
    'charts/llmservice-operator/templates/crd-classes.yaml': chartCopy(classCrd, classFile),
  };
}

async function readCrd(file: string): Promise<CustomResourceDefinition> {
  const text = await readFile(new URL(`crds/${file}`, root), 'utf8');
  return parse(text, { merge: true }) as CustomResourceDefinition;
}

function schemaOf({ metadata, spec }: CustomResourceDefinition): JsonSchema {
  const schema = spec.versions[0]?.schema.openAPIV3Schema;
  if (schema?.properties?.['spec'] === undefined) throw new Error(`${metadata.name} has no spec schema`);
  return schema;
}

/**
 * The CRD as a chart template: Helm never upgrades what lies in a chart's crds/ folder.
 * @param more what follows its last version in the template
 */
function chartCopy(
  crd: CustomResourceDefinition,
  file: string,
  more: (version: CustomResourceDefinition['spec']['versions'][number]) => string = () => '',
): string {
  const { metadata } = crd;
  const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  const text = stringify(
    { ...crd, metadata: { ...metadata, annotations } },
    { aliasDuplicateObjects: false, lineWidth: 118 },
  );
  const banner = `# Generated from crds/${file} by \`npm run generate\`. Do not edit.`;
  const after = crd.spec.versions.map(more).join('');
  return `${banner}\n{{- if .Values.crd.install }}\n${text}${after}{{- end }}\n`;
}

await writeGenerated(await outputs());
