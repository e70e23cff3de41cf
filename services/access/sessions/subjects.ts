import { hash } from 'node:crypto';
import { networkOf, siteOf } from '@causeway/proto';
import type { Signer } from './token.ts';

/** What failed attempts are counted for, within one day (UTC). The table stores only its digest. */
export interface Subject {
  readonly digest: Buffer;
  /** Failed attempts before the first delay. */
  readonly free: number;
  /** The membership that this count protects alone: a success there forgets it. Other counts keep every failure. */
  readonly userId?: number;
}

export interface Membership {
  readonly companyId: number;
  readonly userId: number;
}

/** Enough for typing errors. */
const free = 5;

/**
 * A sign-in without a known device. Three counts delay somebody who guesses and not the member: their
 * network's guesses at this account, their network's guesses at any account, and all networks' guesses at
 * this account. The last leaves room for more than four networks that guess all day: fewer cannot delay a
 * member who comes from another network. None is forgotten after a success: the person may have guessed at
 * somebody else's membership.
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

export const accountSubject = (email: string, at: Date): Subject => ({
  digest: digestOf('account', countedEmail(email), dayOf(at)),
  free: 500,
});

/** Signatures cannot be guessed. So no count spans all networks: strangers could use it to delay the member. */
export const passkeySubjects = (
  { companyId, userId }: Membership,
  address: string,
  at: Date,
): readonly Subject[] => {
  const [network, site, day] = [networkOf(address), siteOf(address), dayOf(at)];
  return [
    { digest: digestOf('passkey and network', String(companyId), String(userId), network, day), free },
    { digest: digestOf('passkeys of a network', network, day), free: 25 },
    ...(site === network ? [] : [{ digest: digestOf('passkeys of a site', site, day), free: 250 }]),
  ];
};

/** The membership that the handle of a passkey names; of nobody if it is not one of ours. */
export const membershipOf = (handle: string): Membership => {
  const bytes = Buffer.from(handle, 'base64url');
  const [companyId, userId] =
    bytes.length === 16 ? [bytes.readBigUInt64BE(0), bytes.readBigUInt64BE(8)].map(Number) : [];
  const isId = (id = 0): boolean => Number.isSafeInteger(id);
  return isId(companyId) && isId(userId) ? { companyId: companyId ?? 0, userId: userId ?? 0 } : nobody;
};
const nobody: Membership = { companyId: 0, userId: 0 };

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

/**
 * Devices that members have signed in with before. A browser cookie holds a signed entry per membership, so nothing is
 * stored or looked up. It grants no access: a sign-in from a known device still needs the password, but guesses made
 * elsewhere do not delay it. It is known for a membership and not for an address, because another company may have a
 * membership of the same address.
 *
 * An entry consists of the day of the last sign-in (4 characters, base 36), the device's id (12), a signature (20), and
 * company, member and device epoch (base 36, with hyphens between them). Dots separate the entries, newest first. The id is
 * 4 random bytes and a signature of the address, so that a passkey, which names no address, finds its device too.
 */
export interface Devices {
  /** The memberships of the address for which the device was known; `knownDeviceOf` tells whether it still is. */
  recognise(cookie: string | undefined, email: string): readonly KnownDevice[];
  /** The same for one membership, whose address nobody gave. */
  recogniseMember(cookie: string | undefined, whose: Membership): KnownDevice | undefined;
  /** @returns the cookie's new value. */
  remember(cookie: string | undefined, email: string, memberships: readonly DeviceMembership[]): string;
}

export interface DeviceMembership extends Membership {
  /** Stored with the member; raising it makes all of their devices unknown. */
  readonly epoch: number;
}

interface KnownDevice extends DeviceMembership {
  readonly deviceId: string;
}

/** Memberships of people who share a browser. The gateway takes 300 characters. */
const maxEntries = 5;
/** The longest that browsers keep a cookie. */
const validDays = 400;
const dayMs = 86_400_000;
/** A multiple of three, so that each mark has one spelling in base64. */
const markBytes = 15;
const idBytes = 4;
const addressBytes = 5;

/** The device as a known one of this member, unless all devices of the member have become unknown since. */
export const knownDeviceOf = (
  knownDevices: readonly KnownDevice[],
  person: { readonly company_id: number; readonly id: number; readonly device_epoch: number },
): KnownDevice | undefined =>
  knownDevices.find(
    ({ companyId, userId, epoch }) =>
      companyId === person.company_id && userId === person.id && epoch === person.device_epoch,
  );

export const createDevices = ({ signer, now, random }: DevicesOptions): Devices => {
  const today = (): number => Math.floor(now().getTime() / dayMs);
  const text = (day: string, id: string, of: DeviceMembership): string =>
    ['device', day, id, of.companyId, of.userId, of.epoch].join('\n');
  const idText = (email: string, start: Buffer): string => `${countedEmail(email)}\n${start.toString('hex')}`;
  const partsOf = (deviceId: string) => {
    const bytes = Buffer.from(deviceId, 'base64url');
    return { start: bytes.subarray(0, idBytes), ofAddress: bytes.subarray(idBytes) };
  };
  const isSigned = ({ day, mark, deviceId, ...of }: Entry): boolean => {
    const age = today() - Number.parseInt(day, 36);
    return (
      age >= -1 && age <= validDays && signer.verify(text(day, deviceId, of), Buffer.from(mark, 'base64url'))
    );
  };
  const isValid = (entry: Entry, email: string): boolean => {
    const { start, ofAddress } = partsOf(entry.deviceId);
    return isSigned(entry) && signer.verify(idText(email, start), ofAddress);
  };

  return {
    recognise: (cookie, email) => entriesOf(cookie).filter((entry) => isValid(entry, email)),
    recogniseMember: (cookie, { companyId, userId }) =>
      entriesOf(cookie).find(
        (entry) => entry.companyId === companyId && entry.userId === userId && isSigned(entry),
      ),
    remember: (cookie, email, memberships) => {
      let entries = entriesOf(cookie);
      for (const of of memberships.slice(0, maxEntries).toReversed()) {
        const former = entries.find((entry) => entry.userId === of.userId && isValid(entry, email));
        const start = former ? partsOf(former.deviceId).start : Buffer.from(random(idBytes));
        const ofAddress = signer.sign(idText(email, start), addressBytes);
        const deviceId = Buffer.concat([start, ofAddress]).toString('base64url');
        const day = today().toString(36).padStart(4, '0');
        const mark = signer.sign(text(day, deviceId, of), markBytes).toString('base64url');
        entries = [{ ...of, day, deviceId, mark }, ...entries.filter((entry) => entry !== former)];
      }
      return entries
        .slice(0, maxEntries)
        .map(({ day, deviceId, mark, companyId, userId, epoch }) => {
          const ids = [companyId, userId, epoch].map((number) => number.toString(36)).join('-');
          return day + deviceId + mark + ids;
        })
        .join('.');
    },
  };
};

const entriesOf = (cookie = ''): readonly Entry[] =>
  cookie
    .split('.')
    .slice(0, maxEntries)
    .flatMap((entry) => {
      const [, day, deviceId, mark, ...ids] =
        /^([0-9a-z]{4})([\w-]{12})([\w-]{20})([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-z]{1,7})$/.exec(
          entry,
        ) ?? [];
      if (!day || !deviceId || !mark) return [];
      const [companyId = 0, userId = 0, epoch = 0] = ids.map((text) => Number.parseInt(text, 36));
      return [{ day, deviceId, mark, companyId, userId, epoch }];
    });

interface Entry extends KnownDevice {
  readonly day: string;
  readonly mark: string;
}

interface DevicesOptions {
  readonly signer: Signer;
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * The database's collation treats look-alike letters (full-width ones, for example) as equal, and each
 * spelling would get its own count. So members must sign in with the exact letters of their address, in any
 * case.
 */
export const countedEmail = (email: string): string => email.normalize('NFC').toLowerCase();

export const isSameEmail = (one: string, other: string): boolean => countedEmail(one) === countedEmail(other);
