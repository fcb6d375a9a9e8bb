// Variables of the runtime's server by the key of their setting: what the operator sets and the runtime reads.

export const serverVariableNames = {
  host: 'LLMSERVICE_HOST',
  port: 'LLMSERVICE_PORT',
  weightsDir: 'LLMSERVICE_WEIGHTS_DIR',
  terminationLog: 'LLMSERVICE_TERMINATION_LOG',
  service: 'LLMSERVICE_SERVICE',
  s3CaDir: 'LLMSERVICE_S3_CA_DIR',
  tlsDir: 'LLMSERVICE_TLS_DIR',
  adminPort: 'LLMSERVICE_ADMIN_PORT',
  adminHost: 'LLMSERVICE_ADMIN_HOST',
  adminKeysDir: 'LLMSERVICE_ADMIN_KEYS_DIR',
  adminAllowedUris: 'LLMSERVICE_ADMIN_ALLOWED_URIS',
  compatibility: 'LLMSERVICE_COMPATIBILITY',
  logLevel: 'LLMSERVICE_LOG_LEVEL',
  maxBodyBytes: 'LLMSERVICE_MAX_BODY_BYTES',
  maxBodiesBytes: 'LLMSERVICE_MAX_BODIES_BYTES',
  maxConnections: 'LLMSERVICE_MAX_CONNECTIONS',
  corsOrigins: 'LLMSERVICE_CORS_ORIGINS',
  maxWaiting: 'LLMSERVICE_MAX_WAITING',
  mostUrgentPriority: 'LLMSERVICE_MOST_URGENT_PRIORITY',
  accountingFileBytes: 'LLMSERVICE_ACCOUNTING_FILE_BYTES',
  requestLog: 'LLMSERVICE_REQUEST_LOG_URI',
  requestLogText: 'LLMSERVICE_REQUEST_LOG_TEXT',
  threads: 'LLMSERVICE_THREADS',
  trustRemoteCode: 'TRUST_REMOTE_CODE',
} as const;
export type ServerVariableKey = keyof typeof serverVariableNames;
