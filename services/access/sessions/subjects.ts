import { hash } from 'node:crypto';
import { networkOf } from '@causeway/proto';
import { countedEmail } from './same-email.ts';

/** What failed attempts are counted for. The table holds its digest only. */
export interface Subject {
  readonly digest: Buffer;
  /** Failed attempts before the first delay. */
  readonly free: number;
  /**
   * Whether a success forgets the count. The failures need not have been the member's own, as an address can be one of
   * several companies: so it is never forgotten alone, and the counts beside it keep every failure.
   */
  readonly forgotten: boolean;
}

/**
 * A sign-in without a known device. Three counts, so that somebody who guesses delays themselves and not the member:
 * their network's guesses at this account, their network's guesses at any account, and all networks' guesses at
 * this account in a day (UTC). The last has room for more than four networks that guess all day: fewer can't delay
 * a member who comes from somewhere else.
 */
export const strangersSubjects = (email: string, address: string, at: Date): readonly Subject[] => {
  const network = networkOf(address);
  // Many people may share one address.
  return [
    ...accountSubjects(email, address, at),
    { digest: digestOf('network', network), free: 25, forgotten: false },
  ];
};

/** Those of them that are about this account. */
const accountSubjects = (email: string, address: string, at: Date): readonly Subject[] => {
  const account = countedEmail(email);
  const day = at.toISOString().slice(0, 10);
  return [
    { digest: digestOf('account and network', account, networkOf(address)), free: 5, forgotten: true },
    { digest: digestOf('account', account, day), free: 500, forgotten: false },
  ];
};

/** A sign-in from a device that the member has signed in with before: it has a count of its own, and no other. */
export const deviceSubjects = (email: string, deviceId: string): readonly Subject[] => [
  { digest: digestOf('device', countedEmail(email), deviceId), free: 5, forgotten: true },
];

/** A member who proves who they are at an open session. What strangers do delays nobody there. */
export const sessionSubjects = (sessionId: number): readonly Subject[] => [
  { digest: digestOf('session', String(sessionId)), free: 5, forgotten: true },
];

const digestOf = (...parts: readonly string[]): Buffer => hash('sha256', parts.join('\n'), 'buffer');
