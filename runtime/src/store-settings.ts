// How a replica reaches the stores that checkpoints are read from, and the bucket of what it keeps.

import { defaultHubEndpoint } from '@llmservice/checkpoint/hub';
import { bindListToken } from '@llmservice/checkpoint/list';
import { readCertificates } from './config/read-config.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { StoreSettings } from './weights/open-store.js';

export function storeSettingsOf({
  engineConfig,
  server,
  s3Credentials,
  hubToken,
  dockerConfig,
  listToken,
}: ResolvedConfig): StoreSettings {
  const { s3, hub, oci } = engineConfig.model;
  const caCertificates = readCertificates(server.s3CaDir);
  return {
    s3: {
      endpoint: s3?.endpoint ?? null,
      region: s3?.region ?? 'us-east-1',
      forcePathStyle: s3?.forcePathStyle ?? true,
      credentials: s3Credentials,
      caCertificates,
    },
    hub: {
      endpoint: (hub?.endpoint ?? defaultHubEndpoint).replace(/\/+$/, ''),
      token: hubToken,
      caCertificates,
    },
    oci: {
      plainHttp: oci?.plainHttp ?? false,
      ...(oci?.mounted === true ? { mounted: engineConfig.model.uri } : {}),
      ...{ dockerConfig, caCertificates },
    },
    list: { token: bindListToken(listToken, engineConfig.model.uri), caCertificates },
  };
}
