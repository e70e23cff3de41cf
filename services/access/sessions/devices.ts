import { countedEmail } from './same-email.ts';
import type { Signer } from './signer.ts';

/**
 * Devices that members have signed in with before. A browser cookie holds a signed entry per member, so nothing is
 * stored or looked up. It grants no access: a sign-in from a known device still needs the password, but guesses made
 * elsewhere do not delay it.
 *
 * An entry consists of the day of the last sign-in (4 characters, base 36), the device's id (12) and a signature
 * (22). Dots separate the entries, newest first.
 */
export interface Devices {
  /** The device's id, if the member has signed in with it before. */
  recognise(cookie: string | undefined, email: string): string | undefined;
  /** The cookie's new value after a sign-in. */
  remember(cookie: string | undefined, email: string): string;
}

/** People who share a browser. */
const maxEntries = 5;
/** The longest that browsers keep a cookie. */
const validDays = 400;
const dayMs = 86_400_000;

export const createDevices = ({ signer, now, random }: DevicesOptions): Devices => {
  const today = (): number => Math.floor(now().getTime() / dayMs);
  const text = (email: string, day: string, id: string): string => `${countedEmail(email)}\n${day}\n${id}`;

  /** The member's entry, if it is valid. */
  const find = (entries: readonly Entry[], email: string): Entry | undefined =>
    entries.find(({ day, id, mark }) => {
      const age = today() - Number.parseInt(day, 36);
      return (
        age >= -1 && age <= validDays && signer.verify(text(email, day, id), Buffer.from(mark, 'base64url'))
      );
    });

  return {
    recognise: (cookie, email) => find(entriesOf(cookie), email)?.id,
    remember: (cookie, email) => {
      const entries = entriesOf(cookie);
      const known = find(entries, email);
      const id = known?.id ?? Buffer.from(random(9)).toString('base64url');
      const day = today().toString(36).padStart(4, '0');
      const mark = signer.sign(text(email, day, id), 16).toString('base64url');
      const others = entries.filter((entry) => entry !== known);
      return [{ day, id, mark }, ...others]
        .slice(0, maxEntries)
        .map((entry) => entry.day + entry.id + entry.mark)
        .join('.');
    },
  };
};

const entriesOf = (cookie = ''): readonly Entry[] =>
  cookie
    .split('.')
    .slice(0, maxEntries)
    .flatMap((entry) => {
      const [, day, id, mark] = /^([0-9a-z]{4})([\w-]{12})([\w-]{22})$/.exec(entry) ?? [];
      return day && id && mark ? [{ day, id, mark }] : [];
    });

interface Entry {
  readonly day: string;
  readonly id: string;
  readonly mark: string;
}

interface DevicesOptions {
  readonly signer: Signer;
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
}
