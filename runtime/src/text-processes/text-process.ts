// Entry of a process that encodes texts and renders chat templates: what may take any time and memory, or end the process
// that does it. argv[2]: the process id of its launcher, without which it ends, whatever it is at.

import { Worker } from 'node:worker_threads';
import { ChatTemplate, ChatTemplateRefusal } from '../tokens/chat-template.js';
import { isKnownTokenizer } from '../tokens/known-tokenizer.js';
import { referenceTokenizer, type ReferenceTokenizer } from '../tokens/reference-tokenizer.js';
import { joinParts } from './message-parts.js';
import type { TextProcessMessage, TextProcessStart, TextReply, TextTask } from './protocol.js';
import { releaseMemory } from './release-memory.js';
import { flawInUse } from './flaw-in-use.js';

/** What a long text takes is not all given back: with this share of the room gone, the next one might not find enough. */
const wornShare = 1 / 4;

/** A thread of its own, since a template may never return to this one. */
const endWithLauncher = `
  const [, , launcher] = process.argv;
  setInterval(() => { if (process.ppid !== Number(launcher)) process.kill(process.pid, 'SIGKILL'); }, 500);
`;

function send(message: TextProcessMessage): void {
  process.send?.(message);
}

const isTask = (message: TextProcessStart | TextTask): message is TextTask => 'kind' in message;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What does the tasks, once it is ready. */
type Work = (task: TextTask) => void;

async function start({ tokenizerJson, template, roomMb, tries }: TextProcessStart): Promise<Work | null> {
  let tokenizer: ReferenceTokenizer;
  try {
    const json = Buffer.from(tokenizerJson).toString('utf8');
    tokenizer = referenceTokenizer(json);
    const flaw = tries && !isKnownTokenizer(JSON.parse(json)) ? await flawInUse(tokenizer, json) : null;
    if (flaw !== null) {
      send({ kind: 'unusable', message: flaw });
      return null;
    }
  } catch (error) {
    send({ kind: 'unusable', message: messageOf(error) });
    return null;
  }
  const chatTemplate = template === null ? null : ChatTemplate.fromSource(template);
  const wornBytes = process.memoryUsage.rss() + wornShare * roomMb * 2 ** 20;
  return (task) => {
    void replyTo(task, tokenizer, chatTemplate).then(async (reply) => {
      if (process.memoryUsage.rss() > wornBytes) await releaseMemory();
      send({ kind: 'reply', reply, isWorn: process.memoryUsage.rss() > wornBytes });
    });
  };
}

async function replyTo(
  task: TextTask,
  tokenizer: ReferenceTokenizer,
  template: ChatTemplate | null,
): Promise<TextReply> {
  try {
    if (task.kind === 'encode') {
      const encoding = await tokenizer.encode(task.text, null, { addSpecialTokens: task.addSpecialTokens });
      return { kind: 'ids', ids: Int32Array.from(encoding.getIds()) };
    }
    return { kind: 'text', text: template?.render(task.input) ?? '' };
  } catch (error) {
    const kind = error instanceof ChatTemplateRefusal ? 'refused' : 'failed';
    return { kind, message: messageOf(error) };
  }
}

new Worker(endWithLauncher, { eval: true, argv: process.argv.slice(2), stdout: true, stderr: true }).unref();
process.once('disconnect', () => process.exit());
let work: Work | null = null;
const receive = joinParts((received) => {
  const message = received as TextProcessStart | TextTask;
  if (isTask(message)) {
    work?.(message);
    return;
  }
  void start(message).then((ready) => {
    work = ready;
    if (ready !== null) send({ kind: 'ready' });
  });
});
process.on('message', receive);
