// Jobs that pull a revision's weights to where its pods will look for them: one on each node that may serve, or one into
// the claim. A Job that is done stays as the record that nothing is left to do there.

import { fieldManager, labels } from '@llmservice/crds';
import type { Job, KubeObject, PodSpec } from '../../kube/types.js';
import type { WantedService } from '../../spec/parse-spec.js';
import { pullJobBegin, pullJobName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';
import { terminationMessage } from '../pods/container-parts.js';
import { contentHash } from '../identity/content-hash.js';
import { mayRunOn, type NodeTraits } from '../fit/node-choice.js';
import type { PlannedTemplate } from '../pods/planned-template.js';

/** A node with what it has of each resource, by name. */
export interface CandidateNode extends NodeTraits {
  readonly free: Readonly<Record<string, number>>;
}

const maxNodes = 100;
const neededVolumes = new Set(['engine-config', 'weights', 'tmp', 's3-ca']);
const triesPerNode = 3;

/** @param nodes null: not readable; then nothing is known of folders of nodes */
export function planPrePull(
  service: WantedService,
  template: PlannedTemplate,
  nodes: readonly CandidateNode[] | null,
): KubeObject[] | null {
  if (service.cache?.prePull !== true) return [];
  if (service.cache.kind === 'pvc') return [planJob(service, template, null)];
  const { resourceName } = service.accelerator;
  const pod = (template.pod as { spec: PodSpec }).spec;
  return (
    nodes
      ?.filter((node) => mayRunOn(pod, node) && (resourceName === null || resourceName in node.free))
      .map(({ name }) => name)
      .sort()
      .slice(0, maxNodes)
      .map((node) => planJob(service, template, node)) ?? null
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
      ...(node === null ? {} : { annotations: { [nodeAnnotation]: node } }),
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
    },
  };
}

const nodeAnnotation = 'llmservice.dev/node';

interface Named {
  readonly name: string;
}
interface TemplateSpec {
  readonly containers: readonly [
    Readonly<Record<string, unknown>> & { readonly volumeMounts: readonly Named[] },
  ];
  readonly volumes: readonly Named[];
}

/** As the pod that serves, with nothing that only serving needs. */
function planPod({ pod }: PlannedTemplate, node: string | null): object {
  const { spec } = pod as { spec: TemplateSpec & Readonly<Record<string, unknown>> };
  const { affinity } = spec;
  const { name, image, imagePullPolicy, env, securityContext, ...rest } = spec.containers[0];
  const needed = ({ name: volume }: Named): boolean => neededVolumes.has(volume);
  const onNode = { key: 'metadata.name', operator: 'In', values: [node] };
  const required = { nodeSelectorTerms: [{ matchFields: [onNode] }] };
  return {
    ...spec,
    topologySpreadConstraints: undefined,
    ...(node === null
      ? { affinity }
      : { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 10,
    containers: [
      {
        ...{ name, image, imagePullPolicy, env, securityContext },
        ...terminationMessage,
        command: ['node', 'runtime/dist/pull.js'],
        resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '2Gi' } },
        volumeMounts: rest.volumeMounts.filter(needed),
      },
    ],
    volumes: spec.volumes.filter(needed),
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
