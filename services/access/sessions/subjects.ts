import { hash } from 'node:crypto';
import { networkOf } from '@causeway/proto';
import { countedEmail } from './same-email.ts';

/** What failed attempts are counted for. The table stores only its digest. */
export interface Subject {
  readonly digest: Buffer;
  /** Failed attempts before the first delay. */
  readonly free: number;
  /**
   * Whether a success forgets the count. The failures may have been somebody else's, because an address can belong to
   * several companies; the other counts beside it therefore keep every failure.
   */
  readonly forgotten: boolean;
}

/**
 * A sign-in without a known device. Three counts make sure that somebody who guesses delays themselves and not the
 * member: their network's guesses at this account, their network's guesses at any account, and all networks' guesses
 * at this account in a day (UTC). The last leaves room for more than four networks that guess all day: fewer cannot
 * delay a member who comes from another network.
 */
export const strangersSubjects = (email: string, address: string, at: Date): readonly Subject[] => {
  const network = networkOf(address);
  // Many people may share one network.
  return [
    ...accountSubjects(email, address, at),
    { digest: digestOf('network', network), free: 25, forgotten: false },
  ];
};

/** The subjects that concern this account. */
const accountSubjects = (email: string, address: string, at: Date): readonly Subject[] => {
  const account = countedEmail(email);
  const day = at.toISOString().slice(0, 10);
  return [
    { digest: digestOf('account and network', account, networkOf(address)), free: 5, forgotten: true },
    { digest: digestOf('account', account, day), free: 500, forgotten: false },
  ];
};

/** A sign-in from a device that the member has used before; only its own count applies. */
export const deviceSubjects = (email: string, deviceId: string): readonly Subject[] => [
  { digest: digestOf('device', countedEmail(email), deviceId), free: 5, forgotten: true },
];

/** A member who proves their identity in an open session. Strangers cannot delay them. */
export const sessionSubjects = (sessionId: number): readonly Subject[] => [
  { digest: digestOf('session', String(sessionId)), free: 5, forgotten: true },
];

const digestOf = (...parts: readonly string[]): Buffer => hash('sha256', parts.join('\n'), 'buffer');
