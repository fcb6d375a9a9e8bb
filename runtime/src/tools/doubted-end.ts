// An end marker within a text of the arguments. Either the text quotes it, or the model left the text open and ended the
// block: what follows decides, and until then neither is reported.

import type { Piece } from './piece.js';
import type { CallBody, CallSink } from './tool.js';

export class DoubtedEnd {
  /** The block as it was when the first marker came. */
  readonly ended: CallBody;
  /** What came since, the marker first. */
  readonly pieces: Piece[] = [];
  /** The same as text of the arguments. */
  written = '';
  /** What follows the last end marker but space, while that may begin another call; null: it does not. */
  private behind: string | null = '';

  /**
   * @param quoting continues as if the text quoted what comes
   * @param begins how another call begins, without space
   */
  constructor(
    private readonly quoting: CallBody,
    private readonly begins: readonly string[],
  ) {
    this.ended = quoting.copy();
  }

  /** A marker that the text quotes, if it quotes the first. */
  marker(piece: Piece, text: string, isEnd: boolean): void {
    this.pieces.push(piece);
    this.written += text;
    this.behind = isEnd ? '' : this.mayBegin(text);
    this.quoting.push(text);
  }

  /** @param char text behind a marker, one character at a time, so that no more of it is read than decides */
  take(char: string): 'open' | 'quoted' | 'ended' {
    this.pieces.push({ text: char });
    this.written += char;
    this.behind = this.mayBegin(char);
    if (this.behind !== null && this.begins.includes(this.behind)) return 'ended';
    const rest = this.quoting.push(char);
    if (this.quoting.isWhole) return 'quoted';
    return rest === null && this.quoting.state !== 'text' ? 'open' : 'ended';
  }

  private mayBegin(text: string): string | null {
    if (this.behind === null) return null;
    const behind = this.behind + text.trim();
    return this.begins.some((begin) => begin.startsWith(behind)) ? behind : null;
  }
}

/** Passes on what is reported of calls, or keeps it until it is sure. */
export class HeldCalls implements CallSink {
  private held: ((sink: CallSink) => void)[] | null = null;

  constructor(private readonly sink: CallSink) {}

  hold(): void {
    this.held ??= [];
  }

  /** @param isSure whether what was held is passed on */
  release(isSure: boolean): void {
    const held = this.held ?? [];
    this.held = null;
    if (isSure) for (const report of held) report(this.sink);
  }

  begin(name: string): void {
    this.report((sink) => {
      sink.begin(name);
    });
  }

  arguments(fragment: string): void {
    this.report((sink) => {
      sink.arguments(fragment);
    });
  }

  private report(report: (sink: CallSink) => void): void {
    if (this.held === null) report(this.sink);
    else this.held.push(report);
  }
}
