// The rotary embedding of config.json: every number that the engine needs is worked out here.

import { type FieldReader, quote, unsupported } from './config-fields.js';

export type RopeScaling =
  | { readonly type: 'none' }
  /** All frequencies divided by one factor. */
  | { readonly type: 'linear'; readonly factor: number }
  /** Those of a whole head, divided by one factor, of which all but the first `angles` are zero. */
  | { readonly type: 'proportional'; readonly factor: number; readonly angles: number }
  /** Llama 3.1's stretch of the low frequencies. */
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFreqFactor: number;
      readonly highFreqFactor: number;
      readonly originalMaxPositions: number;
    }
  /** YaRN (arXiv 2309.00071): low frequencies divided, high ones kept, those between blended. */
  | {
      readonly type: 'yarn';
      readonly factor: number;
      readonly originalMaxPositions: number;
      /** Rotations over the original context above which a frequency is kept, and below which it is divided. */
      readonly betaFast: number;
      readonly betaSlow: number;
      /** The blended range begins and ends at whole frequencies. */
      readonly truncate: boolean;
      /** By which queries and keys grow. */
      readonly attentionFactor: number;
    };

export interface Rope {
  readonly theta: number;
  /** Features per head that rotate: even, at most all. */
  readonly rotaryDim: number;
  readonly scaling: RopeScaling;
  /** Longest context that the checkpoint was made for or stretched to, in tokens. */
  readonly maxPositionEmbeddings: number;
}

/** Of layers with a window. */
export interface WindowRope {
  readonly theta: number;
  readonly rotaryDim: number;
  readonly scaling: RopeScaling;
}

const types = ['default', 'linear', 'llama3', 'yarn', 'proportional'];

/**
 * Old configs hold rope_theta and partial_rotary_factor at the top level, new ones in rope_parameters, or in its
 * full_attention where layers with a window have their own.
 * @param share of a head's features that rotate where the config does not say
 * @param stretches whether max_position_embeddings is what the context was before its scaling
 * @throws FailureError UnsupportedArchitecture for a scaling that the engine lacks; violations are gathered in `fields`
 */
export function readRope(fields: FieldReader, headDim: number, share: number, stretches: boolean): Rope {
  const named = fields.child(fields.has('rope_parameters') ? 'rope_parameters' : 'rope_scaling');
  const rope = named.has('full_attention') ? named.child('full_attention') : named;
  const maxPositions = fields.positive('max_position_embeddings');
  const part = rope.number('partial_rotary_factor') ?? fields.number('partial_rotary_factor') ?? share;
  const scaling = readScaling(rope, fields, maxPositions, headDim);
  const rotaryDim = scaling.type === 'proportional' ? headDim : Math.round(headDim * part);
  fields.check(
    rotaryDim >= 2 && rotaryDim <= headDim && rotaryDim % 2 === 0,
    `partial_rotary_factor gives ${String(rotaryDim)} rotary features of a head of ${String(headDim)}: they must be even in number and within the head`,
  );
  return {
    theta: rope.positiveNumber('rope_theta') ?? fields.positiveNumber('rope_theta') ?? 10_000,
    rotaryDim,
    scaling,
    maxPositionEmbeddings: stretches ? stretched(scaling, rope, maxPositions) : maxPositions,
  };
}

/** @throws FailureError UnsupportedArchitecture as readRope */
export function readWindowRope(fields: FieldReader, headDim: number): WindowRope {
  const rope = fields.child('rope_parameters').child('sliding_attention');
  return {
    rotaryDim: headDim,
    theta: rope.positiveNumber('rope_theta') ?? fields.positiveNumber('rope_local_base_freq') ?? 10_000,
    scaling: readScaling(rope, fields, fields.positive('max_position_embeddings'), headDim),
  };
}

function readScaling(
  rope: FieldReader,
  fields: FieldReader,
  maxPositions: number,
  headDim: number,
): RopeScaling {
  const type = rope.value('rope_type') ?? rope.value('type') ?? 'default';
  switch (type) {
    case 'default':
      return { type: 'none' };
    case 'linear':
      return { type: 'linear', factor: required(rope, 'factor') };
    case 'llama3':
      return {
        type: 'llama3',
        factor: rope.positiveNumber('factor') ?? 8,
        lowFreqFactor: rope.positiveNumber('low_freq_factor') ?? 1,
        highFreqFactor: rope.positiveNumber('high_freq_factor') ?? 4,
        originalMaxPositions: rope.positiveNumber('original_max_position_embeddings') ?? 8192,
      };
    case 'yarn':
      return readYarn(rope, fields, maxPositions);
    case 'proportional':
      return {
        type: 'proportional',
        factor: rope.positiveNumber('factor') ?? 1,
        angles: Math.floor(((rope.number('partial_rotary_factor') ?? 1) * headDim) / 2),
      };
    default:
      throw unsupported(`rope_type ${quote(type)} is not supported; supported: ${types.join(', ')}`);
  }
}

function readYarn(rope: FieldReader, fields: FieldReader, maxPositions: number): RopeScaling {
  const key = 'original_max_position_embeddings';
  const originalMaxPositions = fields.positiveNumber(key) ?? rope.positiveNumber(key) ?? maxPositions;
  const factor = rope.positiveNumber('factor') ?? maxPositions / originalMaxPositions;
  const mscale = rope.number('mscale') ?? 0;
  const mscaleAllDim = rope.number('mscale_all_dim') ?? 0;
  const implied =
    mscale !== 0 && mscaleAllDim !== 0
      ? yarnTemperature(factor, mscale) / yarnTemperature(factor, mscaleAllDim)
      : yarnTemperature(factor, 1);
  return {
    type: 'yarn',
    factor,
    originalMaxPositions,
    betaFast: rope.positiveNumber('beta_fast') ?? 32,
    betaSlow: rope.positiveNumber('beta_slow') ?? 1,
    truncate: rope.flag('truncate', true),
    attentionFactor: rope.positiveNumber('attention_factor') ?? implied,
  };
}

/** 0.1 · mscale · ln(factor) + 1: how much longer contexts sharpen attention. */
function yarnTemperature(factor: number, mscale: number): number {
  return factor <= 1 ? 1 : 0.1 * mscale * Math.log(factor) + 1;
}

function required(rope: FieldReader, key: string): number {
  if (!rope.has(key)) rope.check(false, `${key} is missing, which the rotary scaling needs`);
  return rope.positiveNumber(key) ?? 1;
}

/** As vLLM derives it. llama3 configs state the stretched context; yarn and linear ones may state the one before. */
function stretched(scaling: RopeScaling, rope: FieldReader, maxPositions: number): number {
  if (!rope.has('factor')) return maxPositions;
  if (scaling.type === 'linear') return Math.floor(maxPositions * scaling.factor);
  if (scaling.type === 'yarn') return Math.floor(scaling.originalMaxPositions * scaling.factor);
  return maxPositions;
}
