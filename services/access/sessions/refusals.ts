/**
 * Subjects known to be waiting, so that their attempts are refused without a query. Another replica may have
 * ended a wait early, so an entry is trusted for a second and then read again.
 */
export interface Refusals {
  /** The longest known wait; 0 if none is known. */
  waitMs(subjects: readonly Buffer[], at: Date): number;
  remember(subject: Buffer, until: Date, at: Date): void;
  forget(subject: Buffer): void;
}

const trustedForMs = 1000;
/** About 5 MB. Beyond it the oldest entry is evicted: its next attempt costs a read. */
const maxEntries = 50_000;

export const createRefusals = (): Refusals => {
  const entries = new Map<string, { readonly untilMs: number; readonly readMs: number }>();
  return {
    waitMs: (subjects, at) => {
      const atMs = at.getTime();
      let wait = 0;
      for (const subject of subjects) {
        const entry = entries.get(subject.toString('latin1'));
        if (entry && Math.abs(atMs - entry.readMs) < trustedForMs)
          wait = Math.max(wait, entry.untilMs - atMs);
      }
      return wait;
    },
    remember: (subject, until, at) => {
      const name = subject.toString('latin1');
      entries.delete(name);
      entries.set(name, { untilMs: until.getTime(), readMs: at.getTime() });
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value!);
    },
    forget: (subject) => {
      entries.delete(subject.toString('latin1'));
    },
  };
};
