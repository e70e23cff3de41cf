import { countedEmail } from './same-email.ts';
import type { Signer } from './signer.ts';
import type { Membership } from './subjects.ts';

/**
 * Devices that members have signed in with before. A browser cookie holds a signed entry per membership, so nothing is
 * stored or looked up. It grants no access: a sign-in from a known device still needs the password, but guesses made
 * elsewhere do not delay it. It is known for a membership and not for an address, because another company may have a
 * membership of the same address.
 *
 * An entry consists of the day of the last sign-in (4 characters, base 36), the device's id (12), a signature (22), and
 * company, member and device epoch (base 36, with hyphens between them). Dots separate the entries, newest first.
 */
export interface Devices {
  /** The memberships of the address for which the device was known; `knownDeviceOf` tells whether it still is. */
  recognise(cookie: string | undefined, email: string): readonly KnownDevice[];
  /** The cookie's new value after a sign-in to these memberships. */
  remember(cookie: string | undefined, email: string, memberships: readonly DeviceMembership[]): string;
}

export interface DeviceMembership extends Membership {
  /** Stored with the member; raising it makes all of their devices unknown. */
  readonly epoch: number;
}

export interface KnownDevice extends DeviceMembership {
  readonly deviceId: string;
}

/** Memberships of people who share a browser. The gateway takes 300 characters. */
const maxEntries = 5;
/** The longest that browsers keep a cookie. */
const validDays = 400;
const dayMs = 86_400_000;

/** The device as a known one of this member, unless all devices of the member have become unknown since. */
export const knownDeviceOf = (
  known: readonly KnownDevice[],
  person: { readonly company_id: number; readonly id: number; readonly device_epoch: number },
): KnownDevice | undefined =>
  known.find(
    ({ companyId, userId, epoch }) =>
      companyId === person.company_id && userId === person.id && epoch === person.device_epoch,
  );

export const createDevices = ({ signer, now, random }: DevicesOptions): Devices => {
  const today = (): number => Math.floor(now().getTime() / dayMs);
  const text = (email: string, day: string, id: string, of: DeviceMembership): string =>
    [countedEmail(email), day, id, of.companyId, of.userId, of.epoch].join('\n');
  const isValid = ({ day, mark, deviceId, ...of }: Entry, email: string): boolean => {
    const age = today() - Number.parseInt(day, 36);
    return (
      age >= -1 &&
      age <= validDays &&
      signer.verify(text(email, day, deviceId, of), Buffer.from(mark, 'base64url'))
    );
  };

  return {
    recognise: (cookie, email) => entriesOf(cookie).filter((entry) => isValid(entry, email)),
    remember: (cookie, email, memberships) => {
      let entries = entriesOf(cookie);
      for (const of of memberships.slice(0, maxEntries).toReversed()) {
        const former = entries.find((entry) => entry.userId === of.userId && isValid(entry, email));
        const deviceId = former?.deviceId ?? Buffer.from(random(9)).toString('base64url');
        const day = today().toString(36).padStart(4, '0');
        const mark = signer.sign(text(email, day, deviceId, of), 16).toString('base64url');
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
        /^([0-9a-z]{4})([\w-]{12})([\w-]{22})([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-z]{1,7})$/.exec(
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
