import { matches, type PayloadCondition } from '@causeway/proto';
import { createPauses, createTurns, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';

type Conditions = readonly PayloadCondition[] | null;

/** Events whose sizes, which only conditions need, or ids one statement reads. */
export const eventsAtOnce = (conditions: Conditions): number => (conditions ? 200 : 2_000);

/** The column `bytes` of an event, for `eventsMeeting`. */
export const sizeFor = (conditions: Conditions) =>
  conditions ? sql<number>`LENGTH(payload)` : sql<number>`0`;

interface ListedEvent {
  /** The event's sequence. */
  readonly position: number;
  readonly created_utc: Date;
  readonly bytes: number;
}

/**
 * Those whose payloads meet the conditions. Payloads can be large and their company can ask often, so they are read a few at a
 * time, one company's after another, and others get their turns in between.
 * @param most it stops at so many. @param stopMs it stops then, but not before the first events. Then `examined` is less than all.
 * @throws Problem `timeout` if `deadlineMs` passes before its turn
 */
export const eventsMeeting = async <Event extends ListedEvent, DB>(
  db: Kysely<DB>,
  companyId: number,
  conditions: Conditions,
  events: readonly Event[],
  { most, stopMs, deadlineMs = Number.POSITIVE_INFINITY }: SearchBounds,
): Promise<{ readonly met: readonly Event[]; readonly examined: number }> => {
  if (conditions === null) return { met: events, examined: events.length };
  const met: Event[] = [];
  let examined = 0;
  while (examined < events.length && met.length < most && (examined === 0 || performance.now() < stopMs)) {
    let end = examined;
    for (let left = maxBytes; end < events.length && (end === examined || left >= events[end]!.bytes); end++)
      left -= events[end]!.bytes;
    const group = events.slice(examined, end);
    await inTurn(companyId, deadlineMs, async () => {
      const payloads = await readPayloads(db, companyId, group);
      const pause = createPauses();
      for (const event of group) {
        const payload = payloads.get(event.position);
        // Its fields are those of the catalogue, whose names have no escapes (`parseJson`).
        if (payload && matches(conditions, JSON.parse(payload.toString()))) met.push(event);
        await pause();
      }
    });
    examined += group.length;
  }
  return { met, examined };
};

const inTurn = createTurns();
const maxBytes = 2 * 2 ** 20;

export interface SearchBounds {
  readonly most: number;
  readonly stopMs: number;
  readonly deadlineMs?: number | undefined;
}

const readPayloads = async <DB>(
  db: Kysely<DB>,
  companyId: number,
  events: readonly ListedEvent[],
): Promise<ReadonlyMap<number, Buffer>> => {
  const times = events.map(({ created_utc }) => created_utc.getTime());
  // The time range limits the query to the partitions of these days.
  const { rows } = await sql<{ sequence: number; payload: Buffer }>`
    SELECT /*+ INDEX(events PRIMARY) */ sequence, payload FROM events
    WHERE company_id = ${tenantIs(companyId)} AND sequence IN (${events.map(({ position }) => position)})
      AND created_utc >= ${new Date(Math.min(...times))} AND created_utc <= ${new Date(Math.max(...times))}`.execute(
    db,
  );
  return new Map(rows.map(({ sequence, payload }) => [sequence, payload]));
};
