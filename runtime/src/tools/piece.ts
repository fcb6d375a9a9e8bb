// A part of an answer, as what separates text and calls takes it.

export type Piece = { readonly marker: 'begin' | 'end' } | { readonly text: string };

interface PieceReader {
  marker(kind: 'begin' | 'end'): void;
  text(text: string): void;
}

export function feed(reader: PieceReader, piece: Piece): void {
  if ('text' in piece) reader.text(piece.text);
  else reader.marker(piece.marker);
}
