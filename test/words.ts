// Fails on words and identifiers that the project has retired, with what stands in their place. Phrases are found across
// the line breaks of comments and paragraphs. usage: tsx test/words.ts

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Between two words: spaces, or the end of a line and what begins the next one in a comment or a list. */
const gap = String.raw`(?: +|\s*\n\s*(?://+|\*|#|>)?\s*)`;
const phrase = (words: string): RegExp => new RegExp(String.raw`\b${words.replaceAll(' ', gap)}\b`, 'gi');

/** What is retired, and what is written instead. */
const retired: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:un)?told\b|\btells?\b(?! me\b)|\btelling\b/gi, 'report, say, send, log or notify'],
  [
    /\b(?:un)?told(?=[A-Z_])|\w(?:Un)?[tT]old\b|[a-z_](?:Tells?|Told)\b|_(?:tells?|told)\b|\btells?(?=[A-Z_])/g,
    'the name of what it is',
  ],
  [phrase('answers? (?:with|without|given|have|has) (?:a )?forms?'), 'structured output'],
  [phrase('form (?:of (?:the|an|its) answer|that (?:is|the request) asks? for)'), 'structured output'],
  [/\bcompile[-_]form\b/gi, 'compile-grammar'],
  [phrase('(?:makes?|made|making) way'), 'evicted or replaced'],
  [phrase('(?:numbers?|logits|values) (?:that )?mean(?:s|t|ing)? nothing'), 'non-finite logits'],
  [phrase('look(?:s|ed|ing) at'), 'check, process, read or reconcile'],
  [/\blook_at_outputs\b|\blookAtOutputs\b/g, 'process_outputs'],
  [phrase('(?:go|goes|went|gone|going) on'), 'continue'],
  [phrase('(?:stands?|stood|standing) still'), 'stall'],
  [phrase('(?:bring|brings|brought|bringing) about'), 'reconcile or ensure'],
  [/\bbring(?:s|ing)?_?[aA]bout\b/g, 'reconcile… or ensure…'],
  [/\b[Rr]ehears\w*/g, 'warm-up run'],
  [/\babsorb\w*/gi, 'postprocess'],
  [
    /\b(?:class|interface|type|new|import) (?:Sleeps|Rollouts|PrePulls)\b/g,
    'SleepController, RolloutController or PrePullController',
  ],
  [
    /\b(?:class|interface|type|new) (?:Picture|Course|Surroundings)\b/g,
    'Observed, RevisionPlan or ClusterCapabilities',
  ],
  [/\bhalt(?:s|ed|edBy|Of)?\b/g, 'failureHold'],
  [/\b(?!mostUrgentPriority\b)(?:most|least)[A-Z]\w+/g, 'max… or min…'],
];

interface Place {
  /** A file, or a folder that ends with a slash. */
  readonly path: string;
  /** What stands there; null: all of it. */
  readonly text: string | null;
  readonly why: string;
}

/** Where one is right, or is not ours to change. */
const allowed: readonly Place[] = [
  { path: 'test/words.ts', text: null, why: 'the list itself' },
  { path: '.github/GLOSSARY.md', text: null, why: 'names what is retired' },
  { path: 'test/bench/server-overhead.ts', text: 'a halted one', why: 'what processors do' },
];

interface Finding {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly word: string;
  readonly instead: string;
}

function findingsIn(path: string): Finding[] {
  const content = readFileSync(path, 'utf8');
  const lines = content.split('\n');
  return retired.flatMap(([pattern, instead]) =>
    [...content.matchAll(pattern)].map(({ 0: word, index }) => {
      const line = content.slice(0, index).split('\n').length;
      return { path, line, text: lines[line - 1] ?? '', word: word.replaceAll(/\s+/g, ' '), instead };
    }),
  );
}

const covers = ({ path, text }: Place, finding: Finding): boolean =>
  (path.endsWith('/') ? finding.path.startsWith(path) : finding.path === path) &&
  (text === null || finding.text.includes(text));

const files = execFileSync('git', ['ls-files', '-z', '*.ts', '*.h', '*.cpp', '*.cc', '*.cu', '*.md'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '');
const findings = files.flatMap(findingsIn);
const wrong = findings.filter((finding) => !allowed.some((place) => covers(place, finding)));
const unused = allowed.filter((place) => !findings.some((finding) => covers(place, finding)));

for (const { path, line, word, instead } of wrong)
  console.log(`${path}:${String(line)}: "${word}" is retired; instead: ${instead}`);
for (const { path, text } of unused)
  console.log(
    `test/words.ts: nothing retired is left at ${path}${text === null ? '' : ` (${text})`}: remove the exception`,
  );
console.log(`${String(files.length)} files, ${String(wrong.length)} retired words`);
process.exitCode = wrong.length + unused.length === 0 ? 0 : 1;
