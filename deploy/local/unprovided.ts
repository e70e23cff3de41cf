/** A failure told in one sentence with the way out; its cause, if text, is what a tool itself said. */
export class Unprovided extends Error {
  override readonly name = 'Unprovided';
}

/** Turns "no space" from any layer into the sentence a person can act on; other errors pass through. */
export const explainDisk = (error: unknown, home: string): unknown => {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code} ${error.message}` : '';
  if (!/ENOSPC|No space left|OS errno 28|error: 28|Disk is full/i.test(text)) return error;
  return new Unprovided(
    `The disk that holds ${home} is full: free some space, or set STACK_HOME to a larger one.`,
    {
      cause: error,
    },
  );
};
