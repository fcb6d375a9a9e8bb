// The header of a message of an answer: its role, its channel, whom it is for and the type of its content, while it comes.
// What cannot be one any more is text, so that nothing that a model says is lost or waits for long.

/** A channel as the client reads it, or the name of the function that is called. */
export type Destination =
  | { readonly kind: 'content' }
  | { readonly kind: 'reasoning' }
  | { readonly kind: 'call'; readonly name: string };

/** In the place of marker tokens, whose letters are text: noncharacters of Unicode, which no text has. */
const channelMark = '\ufdd1';
const constrainMark = '\ufdd2';

/** Before a channel: whom the message is for, behind a role that is known or not. */
const mayGoOn = /^\s*(?:t|to|to=\S*(?:\s+\S*)?)?$/;
const mayBegin = /^\s*[\w.-]*(?:\s+(?:t|to|to=\S*(?:\s+\S*)?)?)?$/;
/** A channel, whom the message is for, and the type of its content. */
const mayFollow = /^\s*[\w.-]{0,64}(?:\s+(?:t|to|to=[^\s\ufdd2]*))?(?:\s+\w+)?(?:\s*\ufdd2\s*\w*)?\s*$/;
/** Longer than any with a function's name. */
const longestHeader = 512;

const toolPrefix = 'functions.';

export class MessageHeader {
  private text = '';

  /**
   * @param hasRole whether the role is known, as behind a prompt that ends with it
   * @param isTool whether a name is that of a tool that may be called; null: none may, and a call is text
   */
  constructor(
    private readonly hasRole: boolean,
    private readonly isTool: ((name: string) => boolean) | null,
  ) {}

  push(text: string): void {
    this.text += text;
  }

  mark(mark: 'channel' | 'constrain'): void {
    this.text += mark === 'channel' ? channelMark : constrainMark;
  }

  /** Whether what came can be a header. */
  get isHeader(): boolean {
    if (this.text.length > longestHeader) return false;
    const channelAt = this.text.lastIndexOf(channelMark);
    if (channelAt !== -1) return mayFollow.test(this.text.slice(channelAt + 1));
    return (this.hasRole ? mayGoOn : mayBegin).test(this.text);
  }

  /** Where the text of the message goes. */
  get destination(): Destination {
    const recipient = this.recipient;
    const { isTool } = this;
    if (recipient.startsWith(toolPrefix)) {
      const name = recipient.slice(toolPrefix.length);
      return isTool === null || name === '' ? { kind: 'content' } : { kind: 'call', name };
    }
    if (isTool?.(recipient) === true) return { kind: 'call', name: recipient };
    // Code for tools that the model was trained on, and nobody runs, is no answer.
    const isForTool = recipient !== '' && this.channel === 'commentary';
    return { kind: this.channel === 'analysis' || isForTool ? 'reasoning' : 'content' };
  }

  /** What of a header without a message is text. */
  get rest(): string {
    const [before = '', ...behind] = this.text.split(channelMark);
    if (behind.length === 0) {
      const said = this.hasRole ? before : before.replace(/^\s*assistant(?=\s|$)/, '');
      return textOf(said.replace(/^\s*to=[^\s\ufdd2]*\s*/, ''));
    }
    const text = behind
      .join(' ')
      .replace(/^\s*[\w.-]{0,64}(?=\s|\ufdd2|$)/, '')
      .replace(/\s*\bto=[^\s\ufdd2]*/, '')
      .replace(/\s*\ufdd2\s*\w*/, '');
    // One word may be the type of the content.
    return /^\s*\w*\s*$/.test(text) && this.recipient !== '' ? '' : textOf(text).trimStart();
  }

  private get channel(): string {
    return /\ufdd1\s*([^\s\ufdd1\ufdd2]+)/.exec(this.text)?.[1] ?? '';
  }

  private get recipient(): string {
    return /(?:^|[\s\ufdd1\ufdd2])to=([^\s\ufdd1\ufdd2]*)/.exec(this.text)?.[1] ?? '';
  }
}

const textOf = (header: string): string => {
  const text = header.replaceAll(constrainMark, '');
  return text.trim() === '' ? '' : text;
};
