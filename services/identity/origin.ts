import type { Actor } from '@causeway/proto';

/** Who makes a call, as the changes and events that it causes name it (contract, "Changes"). */
export const originOf = ({ actor, keyId }: CallMaker): string => {
  if (actor?.user) return `member:${actor.user.id}`;
  return keyId ? `key:${keyId}` : 'operator';
};

interface CallMaker {
  readonly actor?: Actor | undefined;
  readonly keyId?: number | undefined;
}
