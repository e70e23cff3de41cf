import { setPriority } from 'node:os';
import { hashPassword, verifyPasswords } from './password.ts';

// On Linux this is the priority of this thread alone: strangers who guess passwords must not slow anybody else down.
setPriority(0, 10);

export type PasswordTask =
  | { readonly hash: string; readonly salt?: Uint8Array | undefined }
  | { readonly password: string; readonly stored: readonly string[] };

/** Checked for an unknown address, which then takes as long as a known one. */
const nobody = hashPassword('nobody has this password');

export default (task: PasswordTask): string | readonly boolean[] => {
  if ('hash' in task) return hashPassword(task.hash, task.salt && Buffer.from(task.salt));
  const { password, stored } = task;
  return verifyPasswords(password, stored.length > 0 ? stored : [nobody]).slice(0, stored.length);
};
