import {
  type Cursors,
  createCursors,
  type Database,
  type KeyRing,
  openSecret,
  sealSecret,
} from '@causeway/runtime';
import type { Tables } from './tables.ts';

/** Never renumber: clients store cursors of the event log. */
const lists = {
  'events asc': 1,
  'events desc': 1,
  deliveries: 3,
  missing: 3,
  incidents: 1,
  subscriptions: 1,
} as const;
export type WebhooksCursors = Cursors<keyof typeof lists>;

/** The key is in the database for all replicas. The ring only seals it: cursors outlive the ring's keys. */
export const openCursors = (context: CursorsContext): WebhooksCursors => {
  let cursorKeys: Promise<readonly Buffer[]> | undefined;
  return createCursors(lists, () => {
    cursorKeys ??= loadKey(context).then(
      (key) => [key],
      (error: unknown) => {
        cursorKeys = undefined;
        throw error;
      },
    );
    return cursorKeys;
  });
};

interface CursorsContext {
  readonly db: Database<Tables>;
  readonly keyRing: KeyRing;
  readonly random: (bytes: number) => Uint8Array;
}

const keyName = 'cursors';
const keyBytes = 32;
/** The company id under which the service seals its own secrets; no company has it. */
export const nobody = 0;

const loadKey = async ({ db, keyRing, random }: CursorsContext): Promise<Buffer> => {
  const read = () =>
    db.selectFrom('sealed_keys').select('sealed').where('name', '=', keyName).executeTakeFirst();
  let row = await read();
  if (!row) {
    const newKey = Buffer.from(random(keyBytes)).toString('base64');
    await db
      .insertInto('sealed_keys')
      .values({ name: keyName, sealed: sealSecret(keyRing, nobody, newKey) })
      .ignore()
      .execute();
    row = await read();
  }
  if (!row) throw new Error('the cursor key could not be stored');
  return Buffer.from(openSecret(keyRing, nobody, row.sealed), 'base64');
};
