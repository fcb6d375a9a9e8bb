// The operator's settings: each a flag and an environment variable (the flag wins), parsed once.

import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { ports } from '@llmservice/crds';
import { parseDevicePrice, type DevicePrices } from './device-prices.js';
import type { Installation } from './plan/plan-service.js';
import type { TenantLimits } from './plan/tenant-limits.js';
import type { EndpointRules } from './preflight/address-guard.js';
import { isRange } from './preflight/address-ranges.js';

export interface OperatorOptions {
  /** Whose services are looked after; null: all namespaces. */
  readonly watchNamespaces: readonly string[] | null;
  readonly leaseNamespace: string;
  /** Which of several operators in one namespace it is: its Lease has this name. Null: the only one. */
  readonly instance: string | null;
  /** Unique among replicas. */
  readonly identity: string;
  readonly capabilities: Installation;
  readonly endpoints: EndpointRules;
  /** Where public routes are entered, as a URL without a path; null: where the Gateway says. */
  readonly publicAddress: string | null;
  /** Whether the activators have a certificate: they take requests by HTTPS too. */
  readonly activatorTls: boolean;
  /** Null: this process converts nothing. */
  readonly conversion: { readonly secretName: string; readonly port: number } | null;
  readonly prices: DevicePrices;
  readonly concurrency: number;
  readonly port: number;
  readonly logLevel: string;
}

/** Flag → environment variable. */
const settings = {
  'watch-namespace': 'WATCH_NAMESPACE',
  'lease-namespace': 'POD_NAMESPACE',
  instance: 'OPERATOR_INSTANCE',
  identity: 'POD_NAME',
  'operator-image': 'OPERATOR_IMAGE',
  'runtime-image-cpu': 'RUNTIME_IMAGE_CPU',
  'runtime-image-cuda': 'RUNTIME_IMAGE_CUDA',
  'runtime-image-rocm': 'RUNTIME_IMAGE_ROCM',
  'vllm-image-cpu': 'VLLM_IMAGE_CPU',
  'vllm-image-cuda': 'VLLM_IMAGE_CUDA',
  'vllm-image-rocm': 'VLLM_IMAGE_ROCM',
  'gateway-name': 'GATEWAY_NAME',
  'gateway-namespace': 'GATEWAY_NAMESPACE',
  'istio-gateway': 'ISTIO_GATEWAY',
  'endpoint-picker-image': 'ENDPOINT_PICKER_IMAGE',
  'public-address': 'PUBLIC_ADDRESS',
  'activator-tls': 'ACTIVATOR_TLS',
  'allow-host-path': 'ALLOW_HOST_PATH',
  'allow-endpoint': 'ALLOW_ENDPOINT',
  'refuse-endpoint': 'REFUSE_ENDPOINT',
  'allow-image': 'ALLOW_IMAGE',
  'allow-service-account': 'ALLOW_SERVICE_ACCOUNT',
  'allow-route-host': 'ALLOW_ROUTE_HOST',
  'prometheus-url': 'PROMETHEUS_URL',
  'conversion-secret': 'CONVERSION_SECRET',
  'conversion-port': 'CONVERSION_PORT',
  'device-price': 'DEVICE_PRICE',
  currency: 'CURRENCY',
  concurrency: 'CONCURRENCY',
  port: 'PORT',
  'log-level': 'LOG_LEVEL',
} as const;

type Flag = keyof typeof settings;

/** @throws Error naming every setting that is wrong */
export function parseOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): OperatorOptions {
  const flags = Object.fromEntries(Object.keys(settings).map((flag) => [flag, { type: 'string' as const }]));
  const { values } = parseArgs({ args: [...args], options: flags });
  const errors: string[] = [];
  const text = (flag: Flag): string | null => {
    const value = (values[flag] ?? env[settings[flag]] ?? '').trim();
    return value === '' ? null : value;
  };
  const count = (flag: Flag, fallback: number, most: number): number => {
    const value = Number(text(flag) ?? fallback);
    if (Number.isInteger(value) && value >= 0 && value <= most) return value;
    errors.push(`--${flag} (${settings[flag]}) must be a whole number up to ${most}`);
    return fallback;
  };

  const watchNamespaces = parseNamespaces(text('watch-namespace'));
  if (watchNamespaces?.some((each) => !isNamespace(each)) === true) {
    errors.push('--watch-namespace (WATCH_NAMESPACE) must be names of namespaces, separated by commas');
  }
  const leaseNamespace = text('lease-namespace');
  if (leaseNamespace === null) errors.push('--lease-namespace (POD_NAMESPACE) is required');
  const instance = text('instance');
  if (instance !== null && !/^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$/.test(instance)) {
    errors.push(
      "--instance (OPERATOR_INSTANCE) must be of lower-case letters, digits, '-' and '.', at most 63",
    );
  }
  const gatewayName = text('gateway-name');
  const gatewayNamespace = text('gateway-namespace');
  if ((gatewayName === null) !== (gatewayNamespace === null)) {
    errors.push('--gateway-name and --gateway-namespace are given together or not at all');
  }
  const list = (flag: Flag): string[] => (text(flag) ?? '').split(',').flatMap((each) => each.trim() || []);
  const allowedHostPaths = list('allow-host-path');
  if (allowedHostPaths.some((path) => !/^(\/[^/:]+)+$/.test(path) || /(^|\/)\.\.?(\/|$)/.test(path))) {
    errors.push(
      "--allow-host-path (ALLOW_HOST_PATH) must be absolute paths without '.', '..', ':' and a slash at their end, separated by commas",
    );
  }
  const istioGateway = parseIstioGateway(text('istio-gateway'));
  if (istioGateway === undefined) errors.push('--istio-gateway (ISTIO_GATEWAY) must be NAMESPACE/NAME');
  const publicAddress = text('public-address');
  if (publicAddress !== null && !isOrigin(publicAddress)) {
    errors.push(
      '--public-address (PUBLIC_ADDRESS) must be a URL without a path, such as https://lb.example.org:443',
    );
  }
  const activatorTls = text('activator-tls');
  if (activatorTls !== null && activatorTls !== 'true' && activatorTls !== 'false') {
    errors.push('--activator-tls (ACTIVATOR_TLS) must be true or false');
  }
  const prometheusUrl = text('prometheus-url');
  if (prometheusUrl !== null && !/^https?:\/\/[^/]/.test(prometheusUrl)) {
    errors.push('--prometheus-url (PROMETHEUS_URL) must be a URL that begins with http:// or https://');
  }
  const conversionSecret = text('conversion-secret');
  const conversionPort = count('conversion-port', ports.conversion, 65535);
  const options = {
    publicAddress,
    conversion: conversionSecret === null ? null : { secretName: conversionSecret, port: conversionPort },
    activatorTls: activatorTls === 'true',
    watchNamespaces,
    leaseNamespace: leaseNamespace ?? '',
    instance,
    identity: text('identity') ?? `${hostname()}-${process.pid}`,
    capabilities: {
      operatorImage: text('operator-image'),
      images: {
        cpu: text('runtime-image-cpu'),
        cuda: text('runtime-image-cuda'),
        hip: text('runtime-image-rocm'),
      },
      vllmImages: {
        cpu: text('vllm-image-cpu'),
        cuda: text('vllm-image-cuda'),
        hip: text('vllm-image-rocm'),
      },
      gateway:
        gatewayName === null || gatewayNamespace === null
          ? null
          : { name: gatewayName, namespace: gatewayNamespace },
      istioGateway: istioGateway ?? null,
      endpointPickerImage: text('endpoint-picker-image'),
      allowedHostPaths,
      limits: parseLimits(list, errors),
      prometheusUrl,
    },
    endpoints: parseEndpoints(list, errors),
    prices: { perHour: parsePrices(list('device-price'), errors), currency: text('currency') },
    concurrency: Math.max(1, count('concurrency', 8, 64)),
    port: count('port', ports.operatorMetrics, 65535),
    logLevel: text('log-level') ?? 'info',
  };
  if (errors.length > 0) throw new Error(errors.join('; '));
  return options;
}

type Lists = (flag: Flag) => readonly string[];

function parseEndpoints(list: Lists, errors: string[]): EndpointRules {
  const allowed = list('allow-endpoint').map((text) => text.toLowerCase());
  const refused = list('refuse-endpoint');
  const host = /^[a-z0-9*_.-]+$/;
  if (allowed.some((text) => !isRange(text) && (!host.test(text) || /^[\d.]+$/.test(text)))) {
    errors.push('--allow-endpoint (ALLOW_ENDPOINT) must be hosts, such as *.s3.example.org, and CIDRs');
  }
  if (!refused.every(isRange)) errors.push('--refuse-endpoint (REFUSE_ENDPOINT) must be CIDRs');
  return { allowed, refused };
}

function parsePrices(texts: readonly string[], errors: string[]): Map<string, number> {
  const prices = new Map<string, number>();
  for (const text of texts) {
    try {
      prices.set(...parseDevicePrice(text));
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  return prices;
}

function parseLimits(list: Lists, errors: string[]): TenantLimits {
  const serviceAccounts = list('allow-service-account');
  if (serviceAccounts.some((text) => !/^[^/]+\/[^/]+$/.test(text))) {
    errors.push('--allow-service-account (ALLOW_SERVICE_ACCOUNT) must be NAMESPACE/NAME');
  }
  const routeHosts = list('allow-route-host').map((text) => {
    const [, namespace, host] = /^([^/=]+)=([a-z0-9*.-]+)$/.exec(text) ?? [];
    if (namespace === undefined || host === undefined) {
      errors.push('--allow-route-host (ALLOW_ROUTE_HOST) must be NAMESPACE=HOST');
    }
    return { namespace: namespace ?? '', host: host ?? '' };
  });
  return { images: list('allow-image'), serviceAccounts, routeHosts };
}

/** `a,b`, each of them once. Null: all. */
export function parseNamespaces(text: string | null): string[] | null {
  const names = (text ?? '').split(',').flatMap((each) => each.trim() || []);
  return names.length === 0 ? null : [...new Set(names)];
}

function isNamespace(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '';
}

/** As VirtualServices write it. @returns undefined for what is none */
function parseIstioGateway(text: string | null): { name: string; namespace: string } | null | undefined {
  if (text === null) return null;
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? undefined : { name, namespace };
}
