// How a replica reaches S3: the same for the checkpoint and for the request log.

import { readCertificates } from './config/read-config.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { S3Settings } from './weights/s3-client.js';

export function s3SettingsOf({ engineConfig, server, s3Credentials }: ResolvedConfig): S3Settings {
  const { s3 } = engineConfig.model;
  return {
    endpoint: s3?.endpoint ?? null,
    region: s3?.region ?? 'us-east-1',
    forcePathStyle: s3?.forcePathStyle ?? true,
    credentials: s3Credentials,
    caCertificates: readCertificates(server.s3CaDir),
  };
}
