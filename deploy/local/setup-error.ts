import { SetupError } from './toolchain/terminal.mjs';

export { SetupError };

export const explainDisk = (error: unknown, home: string): unknown => {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code} ${error.message}` : '';
  if (!/ENOSPC|No space left|OS errno 28|error: 28|Disk is full/i.test(text)) return error;
  const way = `The disk that holds ${home} is full: free some space, or set STACK_HOME to a larger one.`;
  return new SetupError(way, { cause: error });
};
