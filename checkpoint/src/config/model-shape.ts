// All that the engine and the memory plan need to know of a model, complete and checked.

import type { FeedForwardKind, LayerKind } from './layer-kinds.js';
import type { Quantization } from './quantization.js';
import type { Rope, WindowRope } from './rope.js';

/** Heads and widths of the Gated DeltaNet layers. */
export interface GdnDimensions {
  readonly kHeads: number;
  readonly vHeads: number;
  readonly kDim: number;
  readonly vDim: number;
  readonly convKernel: number;
  /** in_proj_qkvz and in_proj_ba, interleaved by key head, in place of four matrices. */
  readonly interleaved: boolean;
  /** Value heads lie in rounds over all key heads, as GGUF files have them. */
  readonly tiled: boolean;
}

/** How experts are chosen by scores that do not depend on each other, to which a learned correction is added for the choice alone. */
export interface SigmoidRouting {
  /** Equal parts of the experts, one after the other. */
  readonly groups: number;
  /** Of each row: those whose two best experts have the highest scores together. */
  readonly chosenGroups: number;
  /** What the weights of a row's experts are multiplied by. */
  readonly scale: number;
}

export interface MoeDimensions {
  readonly experts: number;
  /** Experts that each row runs. */
  readonly topK: number;
  /** Width of one expert. */
  readonly ffn: number;
  /** Width of the expert that every row runs besides; 0 where there is none. */
  readonly sharedFfn: number;
  /** That expert is opened by a gate of its own. */
  readonly sharedGate: boolean;
  /** A row's weights are scaled to sum to one. */
  readonly normalized: boolean;
  /** Scores are sigmoids of the router's logits; null: their softmax. */
  readonly sigmoid: SigmoidRouting | null;
  /** Of the router, and of the experts' projections. */
  readonly biases: boolean;
  /** min(gate, limit) · σ(alpha · min(gate, limit)) · (1 + up), up within ±limit; null: SiLU. */
  readonly clampedSwiglu: { readonly limit: number; readonly alpha: number } | null;
  /**
   * Router, experts and the expert that every row runs read the residual each by a norm of its own, and what the two kinds
   * give is normalized before it is summed; experts weigh by a scale of their own.
   */
  readonly ownNorms: boolean;
}

/** Attention of layers without a window, where it is not that of the others. */
export interface GlobalAttention {
  readonly kvHeads: number;
  readonly headDim: number;
  /** There is no v_proj: values are what k_proj gives. */
  readonly keysAreValues: boolean;
}

/** A second embedding of each token, of which each layer has a part of its own. */
export interface LayerEmbeddings {
  /** Features of a layer's part. */
  readonly width: number;
  /** What they are multiplied by. */
  readonly scale: number;
}

/** The last layers, where they have no keys and values: each attends by those of the last layer before them of its kind. */
export interface SharedKv {
  /** How many they are. */
  readonly layers: number;
  /** Width of their dense feed-forward. */
  readonly ffn: number;
}

/** What a model that is built as BERT is has beside its layers. */
export interface BertDimensions {
  /** Positions that were learned. */
  readonly positions: number;
  /** Of a sequence, among those. */
  readonly firstPosition: number;
  /** Of tokens, of which the first is all that occurs. */
  readonly types: number;
}

export interface ModelShape extends Rope {
  /** By architectures.ts. */
  readonly architecture: string;
  readonly layerKinds: readonly LayerKind[];
  /** Of each layer. */
  readonly feedForward: readonly FeedForwardKind[];
  /** Of each layer, positions that its attention sees, its own included; 0: all before it. Of an encoder as many behind it. */
  readonly windows: readonly number[];
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Null: all layers have the heads above. */
  readonly globalAttention: GlobalAttention | null;
  /** Null: each layer has keys and values of its own. */
  readonly sharedKv: SharedKv | null;
  /** Null: there are none. */
  readonly layerEmbeddings: LayerEmbeddings | null;
  /**
   * Positions are learned, nothing rotates, norms have biases and stand behind attention and feed-forward, which has no gate;
   * null: it is not built so.
   */
  readonly bert: BertDimensions | null;
  /** Width of the dense feed-forward layers; 0 where all are mixtures of experts. */
  readonly ffn: number;
  readonly vocab: number;
  readonly normEpsilon: number;
  /** Norms multiply by 1 + w. */
  readonly unitOffsetNorm: boolean;
  /** Norms subtract the mean. */
  readonly layerNorm: boolean;
  /** Embeddings are normalized, and the first layer takes them so, without a norm of its own. */
  readonly embeddingNorm: boolean;
  readonly qkNorm: boolean;
  /** Values are normalized by head, without a weight. */
  readonly valueNorm: boolean;
  readonly qkvBias: boolean;
  /** Of the projection behind attention. */
  readonly outputBias: boolean;
  readonly mlpBias: boolean;
  /** q_proj emits [q | gate] per head. */
  readonly outputGate: boolean;
  /** What embeddings are multiplied by. */
  readonly embeddingScale: number;
  /** What attention and feed-forward give is normalized before the residual takes it. */
  readonly postNorms: boolean;
  /** Behind each layer, the residual is multiplied by a number of its own. */
  readonly layerScalars: boolean;
  /** Of the feed-forward's gate; `gelu` is its approximation by tanh, `erfGelu` is not. */
  readonly activation: 'silu' | 'gelu' | 'erfGelu';
  /** Scores of attention are divided by its root. */
  readonly queryScalar: number;
  /** Scores of attention, and logits, become cap · tanh(x / cap); 0: they stay. */
  readonly scoreCap: number;
  readonly logitCap: number;
  /** What layers with a window rotate by; null: by what the others do. */
  readonly windowRope: WindowRope | null;
  /** A learned score of each head joins attention's softmax, without a value. */
  readonly attentionSinks: boolean;
  /** Attention sees what lies behind a position too: a sequence is computed whole, in one step, and nothing is generated. */
  readonly bidirectional: boolean;
  /** Null where no layer is a gdn layer. */
  readonly gdn: GdnDimensions | null;
  /** Null where no layer is a mixture of experts. */
  readonly moe: MoeDimensions | null;
  /** Without a head of its own: it is the embedding, which one that does not generate does not use. */
  readonly tiedEmbeddings: boolean;
  /** Whether it has a head that generates, its own or the embedding. */
  readonly generates: boolean;
  /** Of a head that classifies (score.weight) in place of one that generates; 0: there is none. */
  readonly labels: number;
  readonly quantization: Quantization;
}
