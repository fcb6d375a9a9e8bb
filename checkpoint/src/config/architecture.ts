// What one architecture is: a row of architectures.ts.

import type { ConfigObject } from './config-fields.js';

/** Whether a projection has a bias: no, always, or where the field of config.json is true. */
export type Bias = 'none' | 'always' | 'attention_bias' | 'mlp_bias';

export interface Architecture {
  /** What status, metrics and logs call it. */
  readonly name: string;
  /** Values of `model_type`. */
  readonly modelTypes: readonly string[];
  /** The field of config.json that has to be true, where another architecture has the same model_type. */
  readonly switch: 'enable_moe_block' | null;
  /** Features of a head where config.json has no head_dim; null: hidden_size / num_attention_heads. */
  readonly headDim: number | null;
  /** What num_key_value_heads is where config.json has none: num_attention_heads, or nothing, which is refused. */
  readonly kvHeads: 'heads' | 'required';
  readonly biases: { readonly qkv: Bias; readonly output: Bias; readonly mlp: Bias };
  /** Queries and keys are normalized by head: where it is a name, if that field of config.json is true. */
  readonly qkNorm: boolean | 'use_qk_norm';
  /** Sliding windows, null: it has none. `switch`: the field that has to be true for sliding_window to count. */
  readonly window: {
    readonly switch: 'use_sliding_window' | null;
    /**
     * `named`: those of layer_types, else all from max_window_layers on. `pattern`: those of layer_types, else all but
     * every n-th, n by sliding_window_pattern.
     */
    readonly layers: 'all' | 'named' | 'pattern';
  } | null;
  /** Most layers are Gated DeltaNet ones, norms multiply by 1 + w, and q_proj emits a gate; null: all are attention. */
  readonly hybrid: {
    /** in_proj_qkvz and in_proj_ba, interleaved by key head, in place of four matrices. */
    readonly interleaved: boolean;
  } | null;
  /**
   * Embeddings are scaled by the root of the width, norms multiply by 1 + w and stand behind attention and feed-forward too,
   * whose gate is a GELU, and query_pre_attn_scalar takes the place of head_dim in attention's scale; null: none of this.
   */
  readonly gemma: {
    /** Scores of attention are capped (attn_logit_softcapping). */
    readonly cappedScores: boolean;
    /** Layers with a window rotate by rope_local_base_freq, and the others' scaling is in max_position_embeddings already. */
    readonly localRope: boolean;
    /**
     * Norms multiply by w, values are normalized, layers have a scalar, and those without a window heads of their own:
     * gemma4-fields.ts.
     */
    readonly fourth: boolean;
  } | null;
  /**
   * A learned score of each head joins attention's softmax; router and experts have biases, gates are clamped, and experts lie
   * as fused-experts.ts reads them.
   */
  readonly gptOss: boolean;
  /**
   * Experts are scored by sigmoids and chosen with a correction, from groups of them; the shared one has no gate, and the first
   * layers are dense: sigmoid-experts.ts.
   */
  readonly sigmoidExperts: boolean;
  /** Attention sees what lies behind a position too, and there is no head that generates. */
  readonly encoder: boolean;
  /** As modernbert-fields.ts has it. */
  readonly modernBert: boolean;
  /**
   * As bert-fields.ts has it; `padded`: positions of a sequence begin behind that of padding, pad_token_id. Null: it is none of
   * BERT's kind.
   */
  readonly bert: { readonly padded: boolean } | null;
  /** What transformers takes for fields that config.json leaves out, where the engine takes something else or refuses. */
  readonly defaults: ConfigObject;
  /** Feed-forward layers are mixtures of experts; null: all are dense. */
  readonly experts: {
    /** One runs for every row. */
    readonly shared: boolean;
    /** There are no fields by which some layers would be dense. */
    readonly everyLayer: boolean;
    /** Whether the weights of a row's experts are scaled to sum to one: always, or by norm_topk_prob with this default. */
    readonly normalized: boolean | 'always';
    /** The field that has an expert's width. */
    readonly width: 'moe_intermediate_size' | 'intermediate_size';
  } | null;
  /**
   * Parts of tensors' names that differ from what the engine calls them, in the order in which they are replaced. One that does
   * not begin with a dot is at the top of the model.
   */
  readonly renamed: readonly (readonly [stored: string, name: string])[];
  /** Parts of tensors' names whose rows are those of several matrices, and what each of these is called. */
  readonly stacked: readonly (readonly [stored: string, names: readonly string[]])[];
}
