// What a model that reasons and calls tools says: steps of tokens, of which markers are steps of their own.

import { byteIds, output, type Script } from './scripted-engine.fixture.js';
import { ScriptedServer } from './scripted-server.fixture.js';

export const scriptOf = (...steps: readonly (string | number)[]): Script =>
  function* () {
    for (const step of steps) yield output(typeof step === 'string' ? byteIds(step) : [step]);
    yield { ...output([]), finish: 'stop', stopToken: 2 };
  };

const { thinkBegin, thinkEnd, begin, end } = ScriptedServer.markers;

export const speaksAndCalls = [
  'I look.\n',
  begin,
  '\n{"name": "weat',
  'her", "arguments": {"ci',
  'ty": "Zürich"}}\n',
  end,
  '\n',
  begin,
  '\n{"name": "time", "arguments": {"city": "Bern"}}\n',
  end,
];

/** Thinks, speaks and calls two tools. */
export const thinksAndCalls = scriptOf(thinkBegin, 'Which ', 'city?', thinkEnd, ...speaksAndCalls);

/** Calls `patch` with an input of two lines, cut within its line break, and then `time`. */
export const callsPatchAndTime = scriptOf(
  begin,
  '{"name": "patch", "arguments": {"input": "a\\',
  'nb"}}',
  end,
  begin,
  '{"name": "time", "arguments": {"city": "Bern"}}',
  end,
);
