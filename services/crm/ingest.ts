import {
  dedupeWindowMs,
  encodePayload,
  type IngestAnswer,
  type IngestBody,
  ingestEvent,
  ingestSubject,
  invalidField,
  Problem,
  parseBody,
  toProblem,
} from '@causeway/proto';
import { atTurnEnd, type Bus, createInFlight, isRequest, type Log } from '@causeway/runtime';
import type { Action, Change, Submission } from './actions/action.ts';
import type { ActionRunner } from './actions/runner.ts';

interface Ingest {
  /** Stops accepting events and resolves once all accepted ones are answered. */
  drain(): Promise<void>;
}

export const serveIngest = (options: IngestOptions): Ingest => {
  const { bus, runner, knowsCompany, log, now } = options;
  const action = addEvent(now);
  const inFlight = createInFlight();

  const answer = async (data: Uint8Array): Promise<IngestAnswer> => {
    try {
      const body = parseBody(ingestEvent, data);
      if (!(await knowsCompany(body.companyId)))
        throw invalidField('companyId', 'not_found', `there is no company ${body.companyId}`);
      const { companyId, origin = 'system' } = body;
      const submission = { companyId, recordId: 0, origin, body };
      return await runner.submit(action, submission, performance.now() + deadlineMs);
    } catch (error) {
      const { publicMessage, details, status } = toProblem(error);
      if (!(error instanceof Problem)) log.error({ error }, 'event not added');
      return { error: publicMessage, ...(details && { details }), retry: status >= 500 };
    }
  };

  const subscription = bus.nc.subscribe(ingestSubject, {
    queue: 'crm',
    callback: (error, message) => {
      if (error || !isRequest(message)) return;
      if (inFlight.count() >= maxUnderWay) {
        message.respond(JSON.stringify(busy));
        return;
      }
      inFlight.begin();
      void answer(message.data).then((added) =>
        atTurnEnd(() => {
          message.respond(JSON.stringify(added));
          inFlight.end();
        }),
      );
    },
  });

  return {
    drain: async () => {
      subscription.unsubscribe();
      await inFlight.idle();
      await bus.flush();
    },
  };
};

const deadlineMs = 5_000;
const maxUnderWay = 2_000;
const busy: IngestAnswer = { error: 'too many events are being added', retry: true };

interface IngestOptions {
  readonly bus: Bus;
  readonly runner: ActionRunner;
  /** From the key table: `access` owns the rows of companies, and crm has no rights to them. */
  readonly knowsCompany: (companyId: number) => Promise<boolean>;
  readonly log: Log;
  readonly now: () => Date;
}

interface AddedEvent extends Change {
  /** The event that the window has for the key. */
  readonly earlierId?: number;
}

/** A `dedupeKey` adds at most one event in its window; the unique key settles races. */
const addEvent = (now: () => Date): Action<IngestBody, IngestAnswer, AddedEvent> => ({
  locks: ({ body }) => ({ eventByDedupeKey: body.dedupeKey }),
  needsNoStatuses: true,
  mayCauseEvent: true,
  change: async ({ trx, locked }, submissions) => {
    const oldest = now().getTime() - dedupeWindowMs;
    const changes: AddedEvent[] = [];
    for (const submission of submissions) {
      const row = locked.get(submission)?.eventByDedupeKey;
      if (row && row.created_utc.getTime() >= oldest) changes.push({ earlierId: row.event_id });
      else changes.push({ events: [newEventOf(submission)] });
      if (row && row.created_utc.getTime() < oldest)
        await trx
          .deleteFrom('event_dedupe_keys')
          .where('company_id', '=', row.company_id)
          .where('dedupe_key', '=', row.dedupe_key)
          .execute();
    }
    return changes;
  },
  answer: ({ earlierId }, [event]) =>
    earlierId === undefined ? { id: event!.event_id, duplicate: false } : { id: earlierId, duplicate: true },
});

const newEventOf = ({ companyId, body: { type, payload, dedupeKey } }: Submission<IngestBody>) => ({
  companyId,
  type,
  payload: encodePayload(payload),
  dedupeKey: dedupeKey ?? undefined,
});
