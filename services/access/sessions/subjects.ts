import { hash } from 'node:crypto';
import { networkOf, siteOf } from '@causeway/proto';
import type { KnownDevice } from './devices.ts';
import { countedEmail } from './same-email.ts';

/** What failed attempts are counted for, within one day (UTC). The table stores only its digest. */
export interface Subject {
  readonly digest: Buffer;
  /** Failed attempts before the first delay. */
  readonly free: number;
  /** The membership that this count protects alone: a success there forgets it. Other counts keep every failure. */
  readonly userId?: number;
}

/** A membership: one person in one company. */
export interface Membership {
  readonly companyId: number;
  readonly userId: number;
}

/** Enough for typing errors. */
const free = 5;

/**
 * A sign-in without a known device. Three counts make sure that somebody who guesses delays themselves and not the
 * member: their network's guesses at this account, their network's guesses at any account, and all networks' guesses
 * at this account. The last leaves room for more than four networks that guess all day: fewer cannot delay a member who
 * comes from another network.
 *
 * None is forgotten after a success: an address can have memberships in several companies, so the person who succeeds
 * may have guessed at the membership of somebody else.
 * @param by typing errors at known devices do not delay the new devices of the same office.
 */
export const strangersSubjects = (
  email: string,
  address: string,
  at: Date,
  by: 'stranger' | 'known device' = 'stranger',
): readonly Subject[] => {
  const account = countedEmail(email);
  const [network, site, day] = [networkOf(address), siteOf(address), dayOf(at)];
  return [
    { digest: digestOf('account and network', account, network, day), free },
    accountSubject(email, at),
    // Many people may share one network.
    { digest: digestOf(`network of a ${by}`, network, day), free: 25 },
    // An IPv6 customer has up to 65,536 networks.
    ...(site === network ? [] : [{ digest: digestOf(`site of a ${by}`, site, day), free: 250 }]),
  ];
};

/** Guesses at an address, from all networks. */
export const accountSubject = (email: string, at: Date): Subject => ({
  digest: digestOf('account', countedEmail(email), dayOf(at)),
  free: 500,
});

/** A device that its member has signed in with before has a count of its own. */
export const deviceSubject = ({ companyId, userId, deviceId }: KnownDevice, at: Date): Subject => ({
  digest: digestOf('device', String(companyId), String(userId), deviceId, dayOf(at)),
  free,
  userId,
});

/** Codes of a membership's second factor, over all devices that are not known and over all sessions. */
export const factorSubject = (whose: Membership, at: Date): Subject => ofMembership('factor', whose, at);

/** Members who prove their identity in an open session. Strangers cannot delay them. */
export const sessionSubject = (proof: 'password' | 'factor', whose: Membership, at: Date): Subject => ({
  ...ofMembership(`${proof} in a session`, whose, at),
  // A right password must not reset the count of codes.
  ...(proof === 'password' && { userId: whose.userId }),
});

/** Passwords that are chosen for an address in a company: each reveals, at a sign-in, whether another one is the same. */
export const choiceSubject = (companyId: number, email: string, at: Date): Subject => ({
  digest: digestOf('chosen password', String(companyId), countedEmail(email), dayOf(at)),
  free,
});

const ofMembership = (what: string, { companyId, userId }: Membership, at: Date): Subject => ({
  digest: digestOf(what, String(companyId), String(userId), dayOf(at)),
  free,
});

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const digestOf = (...parts: readonly string[]): Buffer => hash('sha256', parts.join('\n'), 'buffer');
