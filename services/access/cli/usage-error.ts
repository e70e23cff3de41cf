/** A command line that cannot be understood. `hint` is the command whose help explains more. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
