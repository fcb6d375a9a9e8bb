// What each client of others is to do with the server: the packages that it is, its settings, its command, and the script
// of the model behind the server, which answers as a good model would.

import { toolCall, type Script } from '../builders/script.js';

/** Exact versions. */
export type Packages =
  | { readonly from: 'npm'; readonly specs: readonly string[] }
  /** `requirements`: a file of this folder, with digests; `hasTorch`: with the CPU path of torch beside it. */
  | { readonly from: 'pip'; readonly requirements: string; readonly hasTorch?: boolean };

/** Where a client runs. */
export interface Place {
  /** Of the server, without a path: all that the client can reach. */
  readonly url: string;
  readonly home: string;
  readonly work: string;
  /** Folder of the checkpoint, for those that count tokens themselves. */
  readonly model: string;
  /** Of its packages' programs. */
  readonly programs: string;
}

export interface Client {
  readonly name: string;
  readonly protocol: 'chat' | 'completions' | 'responses' | 'messages' | 'predict' | 'infer';
  readonly packages: Packages;
  readonly script: (work: string) => Script;
  /** By their paths below HOME. */
  readonly settings?: (place: Place) => Readonly<Record<string, string>>;
  readonly command: (place: Place) => readonly [string, ...string[]];
  readonly env?: (place: Place) => NodeJS.ProcessEnv;
  /** What its output has at the end. */
  readonly says: string;
  /** Whether it reads the task's file and writes the answer's. */
  readonly writes: boolean;
  /** Requests that it must have sent beside those for answers: `METHOD /path`. */
  readonly asks?: readonly string[];
  /** Requests that the server refuses rightly, and the client does without: `METHOD /path status`. */
  readonly refused?: readonly string[];
}

export const question = { file: 'colour.txt', text: 'The colour is teal.\n' };
export const answer = { file: 'answer.txt', text: 'teal\n' };
export const task = `Read ${question.file}, and write the colour that it names into ${answer.file}.`;
export const said = `Done: ${answer.file} has the colour.`;

interface FileTools {
  readonly read: string;
  readonly write: string;
  /** Name of the path in the arguments of both. */
  readonly path: string;
}

/** The task by a tool that reads a file and one that writes one. */
export const byFileTools =
  ({ read, write, path }: FileTools) =>
  (work: string): Script => ({
    turns: [
      `I read the file first.\n${toolCall(read, { [path]: `${work}/${question.file}` })}`,
      toolCall(write, { [path]: `${work}/${answer.file}`, content: answer.text }),
      said,
    ],
    aside: 'A colour',
  });

/** The task by a tool that runs commands of a shell. */
export const byShell = (tool: string, argument: string) => (): Script => ({
  turns: [
    `I read the file first.\n${toolCall(tool, { [argument]: `cat ${question.file}` })}`,
    toolCall(tool, { [argument]: `echo teal >${answer.file}` }),
    said,
  ],
  aside: 'A colour',
});
