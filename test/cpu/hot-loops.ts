// The loops of the CPU backend that a model's time goes into: by family, the function that holds each, and what it is
// there for.

export const multiplyAdds = /^v(?:fn?m(?:add|sub)\d+ps|dpbf16ps)$/;

export interface HotLoop {
  /** What it computes. */
  readonly name: string;
  readonly family: string;
  /** A CPU that has the family, of those whose scheduling LLVM knows. */
  readonly cpu: string;
  /** Of `native/src/backends/cpu`, without extension. */
  readonly source: string;
  /** What its short name begins with. */
  readonly in: string;
  /** Instructions that its cycles are divided among. */
  readonly work: RegExp;
}

interface Family {
  readonly family: string;
  readonly cpu: string;
  readonly lanes: string;
  /** Up to how many rows weights go from memory to registers. */
  readonly directRows: number;
}

const floatFamilies: readonly Family[] = [
  { family: 'avx2', cpu: 'haswell', lanes: 'Avx2Lanes', directRows: 4 },
  { family: 'avx512', cpu: 'skylake-avx512', lanes: 'Avx512Lanes', directRows: 6 },
];

const formats = {
  FP8: 'kF8E4M3',
  BF16: 'kBF16',
  INT8: 'kI8',
  Q8_0: 'kQ8_0',
  Q4_0: 'kQ4_0',
  Q4_K: 'kQ4_K',
  Q6_K: 'kQ6_K',
  NVFP4: 'kF4E2M1',
  MXFP4: 'kMXFP4',
};

function floatLoops({ family, cpu, lanes, directRows }: Family): HotLoop[] {
  const of = (name: string, source: string, inFunction: string, work = multiplyAdds): HotLoop => ({
    name,
    family,
    cpu,
    source: `${source}_${family}`,
    in: inFunction,
    work,
  });
  const wide = family === 'avx512';
  const block = (adds: boolean, rows: number, values: string): string =>
    `product_block<${lanes}, ${adds}, ${rows}, ${wide ? 4 : 1}, ${values}>`;
  const cached = `KvElements<${lanes}, unsigned short, &${lanes}::load_bf16(unsigned short const*, int)>`;
  return [
    ...Object.entries(formats).flatMap(([format, dtype]) =>
      [1, directRows].map((rows) =>
        of(
          `product of ${rows} row${rows > 1 ? 's' : ''}, ${format}`,
          'gemm',
          `multiply_few_rows<${lanes}, ${dtype}, ${rows}>`,
        ),
      ),
    ),
    // The products of FP8 above read what this loop widened.
    of('FP8 widened to half precision', 'gemm', `multiply_few_rows<${lanes}, kF8E4M3, 1>`, /^vpsra/),
    of('product of many rows', 'gemm', block(false, 6, 'Dense')),
    of('attention of few rows: scores, BF16', 'kernels', `score_split<${lanes}, ${cached}>`),
    of(
      'attention of few rows: sums of values, BF16',
      'kernels',
      block(false, 2, `CachedValues<${lanes}, ${cached}>`),
    ),
    of('attention of many rows', 'kernels', block(false, 6, 'Dense')),
    of('softmax', 'kernels', `softmax_weights<${lanes}, FloatProducts<${lanes}>>`),
    of('delta rule, a chunk: products', 'kernels', block(true, 6, 'Dense')),
    of('delta rule, a chunk: decays', 'kernels', `decayed_triangles<${lanes}>`),
    of('delta rule, a chunk: substitution', 'kernels', `solve_unit_lower<${lanes}>`),
    of('delta rule, one position', 'kernels', `delta_step<${lanes}, 4>`),
    of('convolution', 'kernels', `convolve_taps<${lanes}, 4>`),
    of('silu(gate) · up', 'kernels', `for_lanes<${lanes}, void silu_mul<`),
    of('sum of squares', 'kernels', `float sum_of_squares<${lanes}>`),
  ];
}

function pairLoops(): HotLoop[] {
  const of = (name: string, inFunction: string, source = 'kernels', work = multiplyAdds): HotLoop => ({
    name,
    family: 'avx512bf16',
    cpu: 'znver4',
    source: `${source}_avx512bf16`,
    in: inFunction,
    work,
  });
  const products = (format: string, reader: string, rows: number, fetches: boolean): HotLoop =>
    of(
      `product of ${rows} row${rows > 1 ? 's' : ''}, ${format}`,
      `multiply_pass<${reader}, ${reader.includes('<')}, ${rows}, ${fetches}>`,
      'gemm',
    );
  const codes = Object.entries({
    Q4_K: 'WordPairs<kQ4_K>',
    Q6_K: 'WordPairs<kQ6_K>',
    Q8_0: 'BytePairs<kQ8_0>',
  });
  return [
    products('FP8', 'Fp8Pairs', 1, false),
    products('FP8', 'Fp8Pairs', 4, false),
    products('FP8', 'Fp8Pairs', 8, true),
    products('BF16', 'Bf16Pairs', 1, false),
    products('BF16', 'Bf16Pairs', 4, false),
    products('BF16', 'Bf16Pairs', 6, true),
    ...codes.flatMap(([format, reader]) => [1, 4].map((rows) => products(format, reader, rows, true))),
    of('FP8 widened for many rows', 'multiply_panel_pairs<kF8E4M3>', 'gemm', /^vperm[it]2b$/),
    ...[1, 2, 4].map((rows) =>
      of(
        `attention of few rows: scores, ${rows} row${rows > 1 ? 's' : ''}, BF16`,
        `product_block<PairLanes, false, ${rows}, 4, CachedKeys>`,
      ),
    ),
    ...[1, 2, 4].map((rows) =>
      of(
        `attention of few rows: sums of values, ${rows} row${rows > 1 ? 's' : ''}, BF16`,
        `add_wide<${rows}>`,
      ),
    ),
    ...[1, 2].map((rows) =>
      of(
        `attention of few rows: sums of whole values, ${rows} row${rows > 1 ? 's' : ''}, BF16`,
        `add_whole<${rows}, 4>`,
      ),
    ),
    of('attention of many rows: scores', 'product_block<PairLanes, false, 6, 4, CachedKeys>'),
    of('attention of many rows: first half of values', 'product_block<PairLanes, false, 6, 4, Dense>'),
    of('attention of many rows: second half of values', 'product_block<PairLanes, true, 6, 4, Dense>'),
  ];
}

/** Of AVX2 in fixed point, where an instruction multiplies two pairs of 16 bits and adds them. */
function fixedLoops(): HotLoop[] {
  const of = (name: string, inFunction: string): HotLoop => ({
    name,
    family: 'avx2',
    cpu: 'haswell',
    source: 'gemm_fixed_avx2',
    in: inFunction,
    work: /^vpmaddwd$/,
  });
  return [
    of('product of 1 row in fixed point, Q4_K', 'multiply_codes<kQ4_K, 1>'),
    of('product of 3 rows in fixed point, Q4_K', 'multiply_codes<kQ4_K, 3>'),
    of('product of 1 row in fixed point, Q6_K', 'multiply_codes<kQ6_K, 1>'),
    of('product of many rows in fixed point', 'add_pairs<4>'),
  ];
}

/** Of AMX, where an instruction multiplies 16 rows by 16 outputs over 32 columns: of one tile of rows, and of two at once. */
function tileLoops(): HotLoop[] {
  return [1, 2].map((tiles) => ({
    name: `product of up to ${tiles * 16} rows, BF16`,
    family: 'amx',
    cpu: 'sapphirerapids',
    source: 'gemm_amx',
    in: `multiply_in_place<${tiles}, HardwareTiles>`,
    work: /^tdpbf16ps$/,
  }));
}

const [avx2, avx512] = floatFamilies.map(floatLoops);
export const hotLoops: readonly HotLoop[] = [
  ...avx2!,
  ...fixedLoops(),
  ...avx512!,
  ...pairLoops(),
  ...tileLoops(),
];
