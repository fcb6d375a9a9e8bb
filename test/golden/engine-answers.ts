// What engines that are to compute alike are compared by.

import type { Engine } from '@llmservice/native';
import { run, score, type Generated, type Scores } from './engine-driver.js';

export interface EngineAnswers {
  readonly together: readonly Generated[];
  /** Of one prompt, in chunks of 512 tokens. */
  readonly scores: Scores;
}

/** @param jobs that run beside each other. The engine ends with it */
export async function answersOf(
  engine: Engine,
  jobs: Parameters<typeof run>[1],
  scored: readonly number[],
): Promise<EngineAnswers> {
  try {
    return { together: await run(engine, jobs), scores: await score(engine, scored, 512) };
  } finally {
    await engine.dispose();
  }
}
