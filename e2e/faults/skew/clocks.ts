import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The clocks of the cluster's processes, by their names. */
export interface Clocks {
  /** Sets how far the clock of a process is off from its next start on; 0 is correct. */
  set(name: string, offsetMs: number): void;
  environment(name: string): NodeJS.ProcessEnv;
}

export const makeClocks = (): Clocks => {
  const offsets = new Map<string, number>();
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    set: (name, offsetMs) => void offsets.set(name, offsetMs),
    environment: (name) => {
      const offsetMs = offsets.get(name) ?? 0;
      return offsetMs === 0 ? {} : { CLOCK_OFFSET_MS: String(offsetMs), NODE_OPTIONS: `--import=${preload}` };
    },
  };
};
