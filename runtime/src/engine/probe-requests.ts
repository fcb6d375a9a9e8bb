// Questions that a sound engine answers whatever it serves: one token each, from different places of the vocabulary, so
// that a few bad embeddings do not condemn a model that works for everybody else. Asked before an engine is ready, so
// that a checkpoint of broken weights never is, and again when requests give reason to. The self-check of the engine itself
// comes before them, where it loads (native/src/model/self_check).

import type { Failure } from '@llmservice/crds';
import { randomUUID } from 'node:crypto';
import type { EngineInfo } from '@llmservice/native';
import { plainAnswer } from '../schedule/generation.js';
import { failureOf } from './failure-of.js';
import type { Flights } from './flights.js';
import type { GenerateRequest } from './protocol.js';

const idPrefix = 'probe-';

export const isProbe = (id: string): boolean => id.startsWith(idPrefix);

/** Why the engine is unsound: the numerical fault that every question met; null where one of them met none. */
export async function findUnsound(
  flights: Flights,
  info: Pick<EngineInfo, 'vocabSize' | 'bidirectional'>,
): Promise<Failure | null> {
  const failures = await Promise.all(questions(info).map((each) => failureOfAnswer(flights, each)));
  const allFaulty = failures.every((failure) => failure?.reason === 'EngineNumericalFault');
  return allFaulty ? (failures[0] ?? null) : null;
}

function questions({ vocabSize, bidirectional }: Parameters<typeof findUnsound>[1]): GenerateRequest[] {
  return [1, 2, 3].map((quarter) => ({
    // More faults may come while a check runs, and begin another.
    id: idPrefix + randomUUID(),
    prompt: Int32Array.of(Math.floor((quarter * vocabSize) / 4)),
    // An encoder has no token to give.
    maxTokens: bidirectional ? 0 : 1,
    pooling: bidirectional ? 'last' : 'none',
    ...plainAnswer,
    cacheSalt: null,
    fairnessKey: '',
    priority: -8,
    maxQueueMs: null,
  }));
}

/** Why a question was not answered; null: it was. */
async function failureOfAnswer(flights: Flights, question: GenerateRequest): Promise<Failure | null> {
  try {
    const outputs = flights.open(question, new AbortController().signal, true);
    for await (const { finish } of outputs) if (finish !== null) break;
    return null;
  } catch (error) {
    return failureOf(error);
  }
}
