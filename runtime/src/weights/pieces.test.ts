import { describe, expect, test } from '@jest/globals';
import { inReadOrder, isCovered, lanesOf, piecesOf, readPosition, type Piece } from './pieces.js';

const file = (name: string, bytes: number): Piece['file'] => ({ name, bytes, etag: null, digest: null });

describe('piecesOf', () => {
  test('cuts a file, the last piece being what is left', () => {
    expect(piecesOf(file('a', 25), 10).map(({ range }) => range)).toEqual([
      [0, 10],
      [10, 20],
      [20, 25],
    ]);
    expect(piecesOf(file('a', 0), 10)).toEqual([]);
  });

  test('a piece is there only when all of it is', () => {
    const [first, second] = piecesOf(file('a', 20), 10) as [Piece, Piece];
    expect([isCovered(first, [[0, 9]]), isCovered(first, [[0, 10]])]).toEqual([false, true]);
    expect([
      isCovered(second, [[0, 10]]),
      isCovered(second, [
        [0, 12],
        [15, 20],
      ]),
    ]).toEqual([false, false]);
    expect(
      isCovered(second, [
        [0, 4],
        [5, 20],
      ]),
    ).toBe(true);
  });
});

test('the engine reads the embedding, the layers by their number, then the rest; drafts and images last', () => {
  const read = [
    'model.language_model.embed_tokens.weight',
    'model.layers.0.mlp.up_proj.weight',
    'model.layers.2.input_layernorm.weight',
    'model.layers.10.input_layernorm.weight',
    'lm_head.weight',
    'mtp.layers.0.mlp.up_proj.weight',
    'model.visual.blocks.0.attn.weight',
  ];
  const positions = read.map(readPosition);
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(new Set(positions).size).toBe(read.length);
  expect(readPosition('mtp.layers.0.mlp.up_proj.weight')).toBe(readPosition('mtp.fc.weight'));
  expect(readPosition('model.norm.weight')).toBe(readPosition('lm_head.weight'));
});

test('pieces come by the first tensor that is read of them, whatever their file; small files before all', () => {
  const [a, b, small] = [file('a', 40), file('b', 20), file('config.json', 5)];
  const pieces = [a, b, small].flatMap((each) => piecesOf(each, 10));
  const tensors = new Map([
    [
      'a',
      [
        { name: 'lm_head.weight', range: [2, 10] as const },
        { name: 'model.layers.10.x', range: [10, 22] as const },
        { name: 'model.layers.1.x', range: [22, 40] as const },
      ],
    ],
    ['b', [{ name: 'model.embed_tokens.weight', range: [2, 20] as const }]],
  ]);
  const order = inReadOrder(pieces, 10, tensors).map((piece) => `${piece.file.name} ${String(piece.index)}`);
  expect(order).toEqual(['config.json 0', 'b 0', 'b 1', 'a 2', 'a 3', 'a 1', 'a 0']);
});

test('pieces of what is read from its start alone come one after the other, as they lie behind each other', () => {
  const of = (name: string, id: string, begin: number) => ({ ...file(name, 20), stream: { id, begin } });
  const files = [file('a', 20), of('late', 'x', 512), of('early', 'x', 100), of('other', 'y', 0)];
  const lanes = lanesOf(files.flatMap((each) => piecesOf(each, 10)).reverse());
  expect(lanes.map((lane) => lane.map((piece) => `${piece.file.name} ${String(piece.index)}`))).toEqual([
    ['a 1'],
    ['a 0'],
    ['other 0', 'other 1'],
    ['early 0', 'early 1', 'late 0', 'late 1'],
  ]);
});
