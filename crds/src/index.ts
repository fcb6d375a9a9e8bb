// The contract package: everything that more than one part of the system must spell the same way.

export * from './names.js';
export * from './failures.js';
export * from './termination-message.js';
export * from './http-errors.js';
export { describeS3Error, readS3Error, s3ErrorTable } from './s3-errors.js';
export type { S3ErrorReading, S3ErrorRow, S3Meaning } from './s3-errors.js';
export * from './accelerators.js';
export * from './bytes.js';
export * from './adapter-list.js';
export * from './backoff.js';
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
export { llmServiceSchema } from './generated/llm-service-schema.js';
export { specDefaults } from './generated/spec-defaults.js';
export { specRules } from './generated/spec-rules.js';
export type { SpecRule } from './spec-rule.js';
