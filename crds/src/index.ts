// The contract package: everything that more than one part of the system must spell the same way.

export * from './names.js';
export * from './failures.js';
export * from './termination-message.js';
export * from './http-errors.js';
export { hubErrorTable, readHubError } from './hub-errors.js';
export type { HubMeaning } from './hub-errors.js';
export { listErrorTable, readListError } from './list-errors.js';
export type { ListMeaning } from './list-errors.js';
export { ociErrorTable, readOciError } from './oci-errors.js';
export type { OciMeaning } from './oci-errors.js';
export { readS3Error, s3ErrorTable } from './s3-errors.js';
export type { S3ErrorReading, S3ErrorRow, S3Meaning } from './s3-errors.js';
export { describeStoreError } from './store-errors.js';
export type { StoreErrorReading, StoreErrorRow } from './store-errors.js';
export { isStoreAway, stores } from './stores.js';
export type { StoreKind } from './stores.js';
export * from './accelerators.js';
export * from './body-pace.js';
export * from './bytes.js';
export * from './adapter-list.js';
export * from './backoff.js';
export { betaFields } from './beta-fields.js';
export {
  alphaNamesIn,
  betaText,
  convertService,
  serviceVersionOf,
  UnknownVersionError,
} from './convert-service.js';
export { ownersInStoredVersion } from './field-owners.js';
export type { FieldOwner } from './field-owners.js';
export * from './validate.js';
export * from './read-key-file.js';
export * from './fields.js';
export { parseJson, parseJsonObject } from './parse-json.js';
export * from './timestamp.js';
export * from './setting-text.js';
export * from './engine-variables.js';
export * from './server-variables.js';
export * from './spec-variables.js';
export type * from './generated/llm-service.js';
export type * from './generated/engine-config.js';
export type {
  GatewayModel,
  GatewayModelStatus,
  LlmGateway,
  LlmGatewaySpec,
  LlmGatewayStatus,
} from './generated/llm-gateway.js';
export type { ClassBounds, ClassDefaults, LlmServiceClass } from './generated/llm-service-class.js';
export { gatewayRules } from './generated/gateway-rules.js';
export { llmServiceSchema } from './generated/llm-service-schema.js';
export { specDefaults } from './generated/spec-defaults.js';
export { specRules } from './generated/spec-rules.js';
export type { SpecRule } from './spec-rule.js';
