// Calls that the reasoning ends with. Models think of calls, and some call without having ended their thought: it is a
// call only where nothing follows it. Its text stays in the reasoning, which has been sent by then.

import type { ToolReader } from '../../tools/tool-reader.js';

type Piece = { readonly marker: 'begin' | 'end' } | { readonly text: string };

export class ThoughtCalls {
  /** Finds out whether the pieces are calls and nothing else; null: there are none. */
  private judge: ToolReader | null = null;
  private pieces: Piece[] = [];

  constructor(private readonly tools: ToolReader) {}

  marker(marker: 'begin' | 'end'): void {
    if (marker === 'begin') this.judge ??= this.tools.another();
    this.keep({ marker });
  }

  text(text: string): void {
    this.keep({ text });
  }

  /** The answer ends, and has nothing but the reasoning. */
  end(): void {
    this.judge?.end(false);
    if (this.judge?.take().content !== '') return;
    for (const piece of this.pieces) feed(this.tools, piece);
  }

  private keep(piece: Piece): void {
    if (this.judge === null) return;
    this.pieces.push(piece);
    feed(this.judge, piece);
    if (this.judge.take().content === '') return;
    this.judge = null;
    this.pieces = [];
  }
}

function feed(tools: ToolReader, piece: Piece): void {
  if ('text' in piece) tools.text(piece.text);
  else tools.marker(piece.marker);
}
