// What the operator plans for a service that vLLM serves, changed as little as a machine without a pod needs: the folder
// of the checkpoint, the port, and a home of its own.

import { paths, ports, type EnvVar } from '@llmservice/crds';
import { planTemplate } from '../../operator/src/plan/pods/planned-template.js';
import { wantedService } from '../../operator/src/resource/wanted-service.fixture.js';

export interface PlannedRun {
  /** Behind `vllm`. */
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface Places {
  readonly checkpoint: string;
  readonly port: number;
  readonly home: string;
}

export function plannedRun(spec: object, places: Places): PlannedRun {
  const { pod } = planTemplate(wantedService(spec), {
    image: 'vllm',
    pullImage: 'runtime',
    operatorImage: null,
    size: { fileBytes: 0, weightBytes: 0 },
    memoryPlan: null,
    pins: null,
  });
  const { containers } = (pod as unknown as { spec: { containers: [{ command: string[]; env: EnvVar[] }] } })
    .spec;
  const [container] = containers;
  const moved = new Map([
    [paths.pulledCheckpoint, places.checkpoint],
    [String(ports.http), String(places.port)],
  ]);
  const env = Object.fromEntries(container.env.map(({ name, value = '' }) => [name, value]));
  return {
    args: container.command.slice(1).map((arg) => moved.get(arg) ?? arg),
    env: { ...env, HOME: places.home },
  };
}
