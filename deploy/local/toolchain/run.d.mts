import type { SpawnOptions } from 'node:child_process';

/** A failure's `output` is the program's output. */
export declare function run(
  command: string,
  args: readonly string[],
  options?: SpawnOptions,
): Promise<string>;
/** The first program of this name on PATH, or null. */
export declare function onPath(name: string): string | null;
