// How a pod asks for its devices: by an extended resource, or by a claim, whose template is the spec's or one of ours. What
// ours asks for is kept on the pod template, so that a revision can be gone back to with the devices that it had.

import type { V1ObjectMeta, V1PodSpec, V1ResourceRequirements } from '@kubernetes/client-node';
import { parseSmallJson } from '@llmservice/checkpoint';
import { annotations } from '@llmservice/crds';
import { contentHash } from '../../domain/content-hash.js';
import type { DeviceClaim, WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { resources } from '../../kube/resources.js';
import { claimTemplateName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';

/** Of the claim in the pod, and of the request in the claim. */
const claimName = 'devices';
/** The API's own limits, and those of the spec. */
const maxSelectors = 8;

type PlannedClaim = DeviceClaim & { readonly state: 'planned' };
type Service = Pick<WantedService, 'name' | 'accelerator'>;

/** A pod template as it is planned or stored. */
interface Template {
  readonly pod: { readonly metadata: V1ObjectMeta };
}

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a claim of ours asks for. */
interface DeviceRequest {
  readonly deviceClass: string;
  readonly count: number;
  readonly selectors: readonly string[];
}

/** Devices of a pod as amounts of an extended resource; empty without. */
export function deviceAmounts({
  accelerator: { resourceName },
  podRanks,
}: Pick<WantedService, 'accelerator' | 'podRanks'>): Record<string, string> {
  return resourceName === null ? {} : { [resourceName]: String(podRanks) };
}

/** Of the container that computes. */
export function withClaims(
  { accelerator }: Pick<WantedService, 'accelerator'>,
  requirements: V1ResourceRequirements,
): V1ResourceRequirements {
  if (accelerator.claim === null) return requirements;
  // Plain JSON, which its class describes.
  return Object.assign(requirements, { claims: [{ name: claimName }] });
}

/** Of the pod. */
export function podClaims(service: Service): Pick<V1PodSpec, 'resourceClaims'> {
  const { claim } = service.accelerator;
  if (claim === null) return {};
  const resourceClaimTemplateName =
    claim.state === 'named'
      ? claim.templateName
      : templateName(service, requestOf(claim, service.accelerator.devices));
  return { resourceClaims: [{ name: claimName, resourceClaimTemplateName }] };
}

export function claimAnnotations({ accelerator }: Service): Record<string, string> {
  const { claim, devices } = accelerator;
  if (claim?.state !== 'planned') return {};
  return { [annotations.deviceRequest]: JSON.stringify(requestOf(claim, devices)) };
}

/** What the pods of a template make their claims from; null: they have none of ours. */
export function planClaimTemplate(service: WantedService, { pod }: Template): KubeObject | null {
  const request = readDeviceRequest(pod.metadata);
  if (request === null) return null;
  const { deviceClass: deviceClassName, count, selectors } = request;
  return {
    ...{ apiVersion: resources.claimTemplates.apiVersion, kind: resources.claimTemplates.kind },
    metadata: childMetadata(service, templateName(service, request)),
    spec: {
      spec: {
        devices: {
          requests: [
            {
              name: claimName,
              exactly: {
                deviceClassName,
                allocationMode: 'ExactCount',
                count,
                selectors: selectors.map((expression) => ({ cel: { expression } })),
              },
            },
          ],
        },
      },
    },
  };
}

function requestOf({ deviceClass, selectors }: PlannedClaim, count: number): DeviceRequest {
  return { deviceClass, count, selectors };
}

/** A template of claims never changes: another request is another template. */
function templateName({ name }: Pick<Service, 'name'>, request: DeviceRequest): string {
  return claimTemplateName(name, contentHash(request));
}

/** Of a pod, or of a stored template, which is data. */
export function readDeviceRequest({ annotations: texts }: Annotated): DeviceRequest | null {
  const text = texts?.[annotations.deviceRequest];
  if (text === undefined) return null;
  try {
    const { deviceClass, count, selectors } = parseSmallJson(
      'device request',
      text,
    ) as Partial<DeviceRequest>;
    if (typeof deviceClass !== 'string' || !Number.isInteger(count) || !Array.isArray(selectors)) return null;
    const isRead = selectors.length <= maxSelectors && selectors.every((each) => typeof each === 'string');
    return isRead ? { deviceClass, count: count ?? 0, selectors } : null;
  } catch {
    return null;
  }
}
