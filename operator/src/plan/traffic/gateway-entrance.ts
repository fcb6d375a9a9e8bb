// Where a Gateway of the Gateway API is entered for a host: its address, and the listener that takes the host.

import type { KubeObject } from '../../kube/types.js';

export interface GatewayObject extends KubeObject {
  readonly spec?: {
    readonly listeners?: readonly {
      readonly protocol: string;
      readonly port: number;
      readonly hostname?: string;
    }[];
  };
  readonly status?: { readonly addresses?: readonly { readonly value: string }[] };
}

/** @returns a URL without a path, such as http://192.0.2.1:80; null: it has no address, or no listener for the host */
export function gatewayEntrance({ spec, status }: GatewayObject, host: string): string | null {
  const address = status?.addresses?.[0]?.value;
  const taking = (spec?.listeners ?? []).filter(({ hostname }) => takes(hostname, host));
  // Where there is HTTPS, plain HTTP often does no more than lead there.
  const listener =
    taking.find(({ protocol }) => protocol === 'HTTPS') ?? taking.find(({ protocol }) => protocol === 'HTTP');
  if (address === undefined || listener === undefined) return null;
  const name = address.includes(':') ? `[${address}]` : address;
  return `${listener.protocol.toLowerCase()}://${name}:${String(listener.port)}`;
}

function takes(hostname: string | undefined, host: string): boolean {
  if (hostname === undefined || hostname === host) return true;
  return hostname.startsWith('*.') && host.endsWith(hostname.slice(1));
}
