import { setPriority } from 'node:os';
import { hashPassword, verifyPasswords } from './password.ts';

// On Linux this is the priority of this thread alone: strangers who guess passwords must not slow anybody else down.
setPriority(0, 10);

export type PasswordTask =
  | { readonly hash: string; readonly salt?: Uint8Array | undefined }
  | { readonly password: string; readonly stored: readonly string[] };

/** Runs in the hashing threads. */
export default (task: PasswordTask): string | readonly boolean[] =>
  'hash' in task
    ? hashPassword(task.hash, task.salt && Buffer.from(task.salt))
    : verifyPasswords(task.password, task.stored);
