// Calls that the reasoning ends with. Models think of calls, and some call without having ended their thought: it is a
// call only where nothing follows it. Its text stays in the reasoning, which has been sent by then.
// A budget may end the thought within a call. Where the model continues it, the call is one once it is whole.

import { feed, type Piece } from '../../tools/piece.js';
import type { ToolReader } from '../../tools/tool-reader.js';

/** What came behind a thought that ended within a call: more of the call, an answer, or more of the thought. */
export interface Behind {
  readonly kind: 'call' | 'answer' | 'thought';
  readonly pieces: readonly Piece[];
}

export class ThoughtCalls {
  /** Finds out whether the pieces are calls and nothing else; null: there are none. */
  private judge: ToolReader | null = null;
  private pieces: Piece[] = [];
  /** Pieces behind the thought; null: the thought continues, or ended with no call open. */
  private behind: Piece[] | null = null;
  /** Whether the call that is open was whole when the thought ended. */
  private wasWhole = false;
  /** The text behind the thought. */
  private text = '';

  constructor(private readonly tools: ToolReader) {}

  /** Whether what comes may continue a call of the thought. */
  get mayContinue(): boolean {
    return this.behind !== null;
  }

  /** A piece of the thought. */
  think(piece: Piece): void {
    if ('marker' in piece && piece.marker === 'begin') this.judge ??= this.tools.another();
    if (this.judge === null) return;
    this.pieces.push(piece);
    feed(this.judge, piece);
    if (this.judge.take().content !== '') this.drop();
  }

  /** The thought ends, and the answer does not. */
  endThought(): void {
    if (this.judge?.isOpen !== true) return;
    this.wasWhole = this.judge.isWhole;
    this.behind = [];
  }

  /** A piece behind a thought that ended within a call. Null: it may be either. */
  continueWith(piece: Piece): Behind | null {
    const { judge } = this;
    if (judge === null || this.behind === null) return { kind: 'answer', pieces: [piece] };
    if ('marker' in piece && piece.marker === 'begin')
      return this.settle(judge.isWhole ? 'call' : 'answer', piece);
    if ('text' in piece) this.text += piece.text;
    if (this.isAnswer) return this.settle('answer', piece);
    feed(judge, piece);
    const isCall = judge.take().content === '';
    if (!isCall || !judge.isOpen) return this.settle(isCall ? 'call' : 'answer', piece);
    this.behind.push(piece);
    return null;
  }

  /** The answer ends. `cut`: by a limit, so that what may be more of the call is no answer. */
  endBehind(cut: boolean): Behind {
    if (this.judge?.isWhole === true) return this.settle('call');
    return this.settle(cut ? 'thought' : 'answer');
  }

  /** The answer ends with the thought, by the model. */
  end(): void {
    this.judge?.end(false);
    if (this.judge?.take().content !== '') return;
    for (const piece of this.pieces) feed(this.tools, piece);
  }

  /** Answers stand behind a blank line, or behind a call that was whole. */
  private get isAnswer(): boolean {
    return /^\n\n+[^\n]/.test(this.text) || (this.wasWhole && this.text.trim() !== '');
  }

  private settle(kind: Behind['kind'], ...last: readonly Piece[]): Behind {
    const behind = [...(this.behind ?? []), ...last];
    const pieces = kind === 'call' ? [...this.pieces, ...behind] : answerOf(behind);
    this.drop();
    return { kind, pieces };
  }

  private drop(): void {
    this.judge = null;
    this.pieces = [];
    this.behind = null;
  }
}

/** Without the line breaks behind the thought, and without the end of its call. */
function answerOf(behind: readonly Piece[]): Piece[] {
  let begun = false;
  return behind.flatMap((piece): Piece[] => {
    if ('marker' in piece) return piece.marker === 'end' ? [] : [piece];
    const text = begun ? piece.text : piece.text.replace(/^\n+/, '');
    begun ||= text !== '';
    return [{ text }];
  });
}
