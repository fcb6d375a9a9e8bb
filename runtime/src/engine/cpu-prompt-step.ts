// How long prompts may make a step on a CPU, in milliseconds: one of 2048 rows, which takes a GPU milliseconds, takes it seconds.

export const cpuPromptStepMs = 250;
