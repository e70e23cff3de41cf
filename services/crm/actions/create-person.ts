import type { BodyOf, contract, EventType } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import { newEvent } from '../events/event-log.ts';
import type { ClientRow, Store } from '../store/store.ts';
import type { Action, Group, Outcome, Submission } from './action.ts';
import {
  applyFields,
  blankPerson,
  clientName,
  differs,
  externalName,
  type PersonReferences,
} from './person.ts';
import { convertedEvent, statusChange } from './status-change.ts';
import type { Status } from './statuses.ts';

type Body = BodyOf<(typeof contract)['createLead']> | BodyOf<(typeof contract)['createClient']>;

/**
 * Creates leads or clients. If a record with the `external_id` exists, applies the sent fields to it instead
 * (contract, "external_id").
 */
export const createPerson = <B extends Body>(store: Store, kind: 'lead' | 'client'): Action<B, Answer> => ({
  turns: ({ companyId, body }) =>
    body.external_id ? [externalName('client', companyId, body.external_id)] : [],
  references: (body: PersonReferences) => ({
    people: { employee_id: body.employee_id, affiliate_id: body.affiliate_id },
    statuses: { status: body.status },
    statusKind: kind,
  }),
  lock: async (trx, submissions) => {
    const readExisting = await lockExisting(store, trx, submissions);
    return async (group, accepted) => {
      const existing = readExisting();
      const fresh = accepted.filter((one) => !existing.has(one));
      const known = accepted.flatMap((one) => {
        const row = existing.get(one);
        return row ? [[one, row] as const] : [];
      });
      const made = await makeNew(store, kind, group, fresh);
      const met = await updateExisting(store, kind, group, known);
      return accepted.map((one) => made.get(one) ?? met.get(one)!);
    };
  },
  onTaken: async () => undefined,
});

type Submitted = Submission<Body>;

const lockExisting = async (
  store: Store,
  trx: Group['trx'],
  submissions: readonly Submitted[],
): Promise<() => ReadonlyMap<Submitted, ClientRow>> => {
  const named = submissions.filter(({ body }) => body.external_id);
  const readRows = await store.clients.lockByExternalId.later(
    trx,
    named.map(({ companyId, body }) => ({ company_id: companyId, external_id: body.external_id! })),
  );
  return () => {
    const byName = new Map(readRows().map((row) => [clientName(row), row]));
    return new Map(
      named.flatMap((one) => {
        const row = byName.get(externalName('client', one.companyId, one.body.external_id!));
        return row ? [[one, row]] : [];
      }),
    );
  };
};

const makeNew = async (
  store: Store,
  kind: 'lead' | 'client',
  { trx, known: { statuses }, now }: Group,
  submissions: readonly Submitted[],
): Promise<ReadonlyMap<Submitted, Outcome<Answer>>> => {
  const made = submissions.map((one) => {
    const status =
      kind === 'lead' ? statuses.newLead() : (sentStatus(statuses, one) ?? statuses.newClient(one.companyId));
    const row = {
      ...blankPerson,
      ...applyFields(blankPerson, one.body),
      first_name: one.body.first_name,
      last_name: one.body.last_name,
      email: one.body.email,
      company_id: one.companyId,
      status_id: status.id,
      created_utc: now,
      updated_utc: now,
    };
    return { one, status, row };
  });
  const rows = made.map(({ row }) => row);
  const idAt = await store.clients.insert(trx, rows);
  await store.clients.markNewForSearch(trx, rows);
  const type: EventType = kind === 'lead' ? 'lead.created' : 'client.created';
  return new Map(
    made.map(({ one, status, row }, at) => {
      const inserted = () => ({ ...row, client_id: idAt(at) });
      return [
        one,
        {
          result: () => created(201, inserted(), status),
          events: [newEvent(row.company_id, type, () => createdPayload(inserted(), status))],
        },
      ];
    }),
  );
};

const updateExisting = async (
  store: Store,
  kind: 'lead' | 'client',
  { trx, known: { statuses }, now }: Group,
  found: readonly (readonly [Submitted, ClientRow])[],
): Promise<ReadonlyMap<Submitted, Outcome<Answer>>> => {
  const changes = found.map(([one, before]) => {
    const from = statuses.of(before);
    let to: Status = from;
    if (kind === 'client') {
      const sent = sentStatus(statuses, one);
      to = sent ?? (from.isLead ? statuses.newClient(one.companyId) : from);
    }
    const after = { ...before, ...applyFields(before, one.body), status_id: to.id, updated_utc: now };
    return { one, before, after, from, to };
  });
  await store.clients.update(
    trx,
    changes.filter(({ before, after }) => differs(before, after)).map(({ after }) => after),
  );
  await store.clients.markForSearch(
    trx,
    changes.filter(({ before, after }) => searchedDiffers(before, after)).map(({ after }) => after),
  );
  const turned = changes.filter(({ from, to }) => from.id !== to.id);
  await store.clients.insertStatusChanges(
    trx,
    turned.map(({ after, from, to }) => statusChange(after, from, to, {}, now)),
  );
  return new Map(
    changes.map(({ one, after, from, to }) => [
      one,
      {
        result: created(200, after, to),
        events: from.id === to.id ? [] : [convertedEvent(after, from, to, {}, now)],
      },
    ]),
  );
};

const sentStatus = (statuses: Group['known']['statuses'], { companyId, body }: Submitted) =>
  'status' in body && body.status ? statuses.find(companyId, body.status) : undefined;

export const searchedDiffers = (before: ClientRow, after: ClientRow): boolean =>
  before.first_name !== after.first_name ||
  before.last_name !== after.last_name ||
  before.email !== after.email;

type Made = Pick<
  ClientRow,
  'company_id' | 'client_id' | 'first_name' | 'last_name' | 'email' | 'phone' | 'created_utc'
>;

const created = (status: number, row: Made, { name }: Status): Answer =>
  json(status, { client_id: row.client_id, status: name, created_utc: row.created_utc });

const createdPayload = (row: Made, { name }: Status) => ({
  client_id: row.client_id,
  first_name: row.first_name,
  last_name: row.last_name,
  email: row.email,
  phone: row.phone ?? '',
  status: name,
  created_date: row.created_utc.toISOString(),
});
