// What a service costs: by the hour exactly, by the million tokens as an estimate. A decode step is bound by memory: it
// reads the weights once for all its sequences, and each sequence's KV and state. Source of the formula: Pope et al.,
// "Efficiently Scaling Transformer Inference" (2022, arXiv 2211.05102), section 2: memory time. Pure.

import {
  rankWeightBytes,
  type MemoryPlan,
  type ModelShape,
  type ResidentWeights,
} from '@llmservice/checkpoint';
import { findAccelerator } from '@llmservice/crds';
import { wantedReplicas } from '../plan/scaling/wanted-replicas.js';
import type { WantedService } from '../domain/wanted-service.js';

/** Output tokens of one replica while `sequences` run at once. */
export interface DecodeEstimate {
  readonly sequences: number;
  readonly tokensPerSecond: number;
  readonly perMillionTokens: number;
}

export interface Cost {
  readonly perHour: number;
  /** Over all replicas and prefill pods. */
  readonly devices: number;
  /** One sequence, and as many as fit; null: the profile is not named, so that its bandwidth is not known. */
  readonly estimates: readonly DecodeEstimate[] | null;
}

export interface CostInputs {
  readonly service: WantedService;
  readonly shape: ModelShape;
  readonly weights: ResidentWeights;
  readonly plan: MemoryPlan;
  readonly pricePerDeviceHour: number;
  /** Of a sequence, on average over its life. */
  readonly meanTokens: number;
}

export function costOf(inputs: CostInputs): Cost {
  const { service, plan, meanTokens, pricePerDeviceHour } = inputs;
  const { spec, accelerator } = service;
  const replicas = wantedReplicas(service);
  // Prefill pods sleep with the decode pods, and what they take is spread over these.
  const prefill = replicas === 0 ? 0 : (spec.disaggregation?.prefill.replicas ?? 0);
  const perPod = accelerator.devices * pricePerDeviceHour;
  const perReplica = perPod * (1 + prefill / Math.max(1, replicas));
  const profile = spec.accelerator.profile === undefined ? null : findAccelerator(spec.accelerator.profile);
  const tokens = Math.min(meanTokens, plan.maxModelLen);
  const most = Math.floor(plan.numBlocks / Math.ceil(tokens / spec.engine.blockSize));
  const batches = new Set([1, Math.max(1, Math.min(spec.engine.maxNumSeqs, most))]);
  return {
    perHour: perPod * (replicas + prefill),
    devices: accelerator.devices * (replicas + prefill),
    estimates:
      profile === null
        ? null
        : [...batches].map((sequences) => {
            const seconds = stepBytes(inputs, sequences, tokens) / (profile.bandwidth * 1e9);
            const tokensPerSecond = sequences / seconds;
            const perMillionTokens = (perReplica / 3600 / tokensPerSecond) * 1e6;
            return { sequences, tokensPerSecond, perMillionTokens };
          }),
  };
}

/** Bytes that one rank reads in a step of `sequences`, each of `tokens` so far; ranks read at the same time. */
function stepBytes({ service, shape, weights, plan }: CostInputs, sequences: number, tokens: number): number {
  const onGpu = service.accelerator.kind !== 'cpu';
  const of = { rank: 0, size: service.tensor, kvHeads: shape.kvHeads, onGpu };
  const bytes = (use: 'every' | 'routed'): number =>
    rankWeightBytes({ matrices: weights.matrices.filter((matrix) => matrix.use === use), vectors: [] }, of);
  // Each sequence routes to topK of the experts, as if drawn: some are drawn by several.
  const drawn = shape.moe === null ? 0 : 1 - (1 - shape.moe.topK / shape.moe.experts) ** sequences;
  // A recurrent state is read and written.
  const perSequence = tokens * plan.kvBytesPerToken + 2 * plan.stateBytesPerSeq;
  return bytes('every') + drawn * bytes('routed') + sequences * perSequence;
}
