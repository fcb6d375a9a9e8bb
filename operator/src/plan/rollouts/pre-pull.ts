// Jobs that pull a revision's weights to where its pods will look for them: one on each node that may serve, or one into
// the claim. A Job that is done stays as the record that nothing is left to do there.

import type { V1Container, V1JobSpec, V1PodSpec } from '@kubernetes/client-node';
import { annotations, fieldManager, labels } from '@llmservice/crds';
import type { Job, KubeObject } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { pullJobBegin, pullJobName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';
import { terminationMessage } from '../pods/container-parts.js';
import { contentHash } from '../../domain/content-hash.js';
import { isMeant, type ListedDevice } from '../fit/device-match.js';
import { mayRunOn, type NodeTraits } from '../fit/node-choice.js';
import type { PlannedTemplate } from '../pods/planned-template.js';

/** A node with what it has of each resource, by name. */
export interface CandidateNode extends NodeTraits {
  readonly free: Readonly<Record<string, number>>;
}

const maxNodes = 100;
const neededVolumes = new Set(['engine-config', 'weights', 'tmp', 's3-ca']);
const triesPerNode = 3;

/**
 * @param nodes null: not readable; then nothing is known of folders of nodes
 * @param devices null: not read, or not readable
 */
export function planPrePull(
  service: WantedService,
  template: PlannedTemplate,
  nodes: readonly CandidateNode[] | null,
  devices: readonly ListedDevice[] | null,
): KubeObject[] | null {
  if (service.cache?.prePull !== true) return [];
  if (service.cache.kind === 'pvc') return [planJob(service, template, null)];
  if (whyNoPrePull(service, template, devices) !== null) return null;
  const { resourceName } = service.accelerator;
  const named = nodesOfClaim(service, devices);
  return (
    nodes
      ?.filter(
        (node) =>
          mayRunOn(template.pod.spec, node) &&
          (resourceName === null || resourceName in node.free) &&
          (named === null || named.has(node.name)),
      )
      .map(({ name }) => name)
      .sort()
      .slice(0, maxNodes)
      .map((node) => planJob(service, template, node)) ?? null
  );
}

/** Why no node is known to get the devices of the pods' claim; null: they have none, or some node may. */
export function whyNoPrePull(
  service: WantedService,
  { pod }: PlannedTemplate,
  devices: readonly ListedDevice[] | null,
): string | null {
  if (service.accelerator.claim === null || service.cache?.kind !== 'hostPath') return null;
  const named = nodesOfClaim(service, devices);
  if (named !== null) return named.size > 0 ? null : 'no driver lists a device that the claim selects.';
  const { nodeSelector = {}, affinity } = pod.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return Object.keys(nodeSelector).length > 0 || required !== undefined
    ? null
    : 'which nodes have the devices of the claim is not known. Name these nodes by spec.nodeSelector.';
}

/** With a device that the claim selects, free or not; null: that is not known. */
function nodesOfClaim(
  { accelerator }: WantedService,
  devices: readonly ListedDevice[] | null,
): ReadonlySet<string | null> | null {
  const match = accelerator.claim?.state === 'planned' ? accelerator.claim.match : null;
  if (match === null || devices === null) return null;
  return new Set(
    devices.filter((device) => device.node !== null && isMeant(match, device)).map(({ node }) => node),
  );
}

/** The same name means the same template: what is there is never written again. */
function planJob(service: WantedService, template: PlannedTemplate, node: string | null): KubeObject {
  // Services with long names may begin alike.
  const cut = pullJobBegin(service.name) === service.name ? undefined : service.name;
  const name = pullJobName(service.name, contentHash({ revision: template.revision, node, cut }));
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...childMetadata(service, name),
      ...(node === null ? {} : { annotations: { [annotations.node]: node } }),
    },
    spec: {
      backoffLimit: triesPerNode - 1,
      template: {
        // Not the labels of the pods that serve: neither Service nor status count these.
        metadata: {
          labels: {
            [labels.name]: 'llm-service-pull',
            [labels.instance]: service.name,
            [labels.managedBy]: fieldManager,
          },
        },
        spec: planPod(template, node),
      },
    } satisfies V1JobSpec,
  };
}

/** As the pod that serves, with nothing that only serving needs. */
function planPod({ pod }: PlannedTemplate, node: string | null): V1PodSpec {
  const { affinity, containers, volumes = [], ...spec } = pod.spec;
  delete spec.topologySpreadConstraints;
  delete spec.resourceClaims;
  const [container] = containers;
  if (container === undefined) throw new Error('a template without containers');
  const { name, image, imagePullPolicy, env, securityContext, volumeMounts } =
    container as Required<V1Container>;
  const needed = (volume: { readonly name: string }): boolean => neededVolumes.has(volume.name);
  const onNode = { key: 'metadata.name', operator: 'In', values: node === null ? [] : [node] };
  const required = { nodeSelectorTerms: [{ matchFields: [onNode] }] };
  const placed =
    node === null ? affinity : { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  return {
    ...spec,
    ...(placed === undefined ? {} : { affinity: placed }),
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 10,
    containers: [
      {
        ...{ name, image, imagePullPolicy, env, securityContext },
        ...terminationMessage,
        command: ['node', 'runtime/dist/pull.js'],
        resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '2Gi' } },
        volumeMounts: volumeMounts.filter(needed),
      },
    ],
    volumes: volumes.filter(needed),
  };
}

/** What came of the Jobs, in a sentence; null where there are none. */
export function describePrePull(jobs: readonly Job[]): string | null {
  if (jobs.length === 0) return null;
  const ended = (type: string): Job[] =>
    jobs.filter(({ status }) =>
      status?.conditions?.some((each) => each.type === type && each.status === 'True'),
    );
  const failed = ended('Failed').map(({ metadata }) => metadata.name);
  const done = `Weights are pulled ahead: ${ended('Complete').length} of ${jobs.length} Jobs are done`;
  return failed.length === 0
    ? `${done}.`
    : `${done}, and failed have ${failed.slice(0, 5).join(', ')}; see their logs.`;
}
