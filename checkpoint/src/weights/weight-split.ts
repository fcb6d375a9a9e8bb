// How tensor-parallel ranks divide each tensor, by its name: as native/src/model/layers.cpp, gdn_bands.cpp, moe.cpp,
// mtp.cpp and model.cpp read them.

/**
 * whole: every rank holds all of it. rows, columns: equal parts. kvRows: equal parts of whole KV heads, of which
 * several ranks hold the same one when there are fewer than ranks. vocab: rows in parts that differ by one at most.
 * first: rank 0.
 */
export type Split = 'whole' | 'rows' | 'columns' | 'kvRows' | 'vocab' | 'first';

const bySplit: Readonly<Record<Exclude<Split, 'whole' | 'first'>, readonly string[]>> = {
  // Stacked experts have no module above their projection: gate_up_proj is gate over up.
  rows: [
    'q_proj',
    'gate_proj',
    'up_proj',
    'gate_up_proj',
    'in_proj_qkv',
    'in_proj_z',
    'in_proj_b',
    'in_proj_a',
    'in_proj_qkvz',
    'in_proj_ba',
    'conv1d',
    'A_log',
    'dt_bias',
    'sinks',
  ],
  columns: ['o_proj', 'down_proj', 'out_proj', 'fc'],
  kvRows: ['k_proj', 'v_proj'],
  vocab: ['embed_tokens', 'embed_tokens_per_layer', 'lm_head'],
};

const splits: ReadonlyMap<string, Split> = new Map(
  Object.entries(bySplit).flatMap(([split, names]) => names.map((name) => [name, split as Split] as const)),
);

/** Of a tensor or of a stack; norms, routers and the shared expert's gate are whole. */
export function splitOf(tensor: string): Split {
  const [, module = tensor, kind] = /^(.*)\.(weight|bias)$/.exec(tensor) ?? [];
  const split = splits.get(module.slice(module.lastIndexOf('.') + 1)) ?? 'whole';
  // What ranks compute of a row-parallel matrix is summed, so that its bias is added once.
  return kind === 'bias' && split === 'columns' ? 'first' : split;
}
