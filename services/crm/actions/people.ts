import {
  type BodyOf,
  contract,
  type EventType,
  invalid,
  notFound,
  Problem,
  updateProblems,
} from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { newEvent } from '../events/event-log.ts';
import type { ClientRow, Store } from '../store/store.ts';
import { type Action, type Group, handleAction, type Outcome, type Submission } from './action.ts';
import {
  applyFields,
  blankPerson,
  clientName,
  differs,
  externalIdTakenError,
  externalName,
  otherKindError,
  type PersonReferences,
  recordName,
} from './person.ts';
import { convertedEvent, type Status, statusChange } from './statuses.ts';

export const createLead = (context: ActionsContext) =>
  handleAction(context, contract.createLead, null, createPerson(context.store, 'lead'));

export const createClient = (context: ActionsContext) =>
  handleAction(context, contract.createClient, null, createPerson(context.store, 'client'));

export const updateLead = (context: ActionsContext) =>
  handleAction(context, contract.updateLead, 'lead', updatePerson(context.store, 'lead'));

export const updateClient = (context: ActionsContext) =>
  handleAction(context, contract.updateClient, 'client', updatePerson(context.store, 'client'));

type NewPerson = BodyOf<(typeof contract)['createLead']> | BodyOf<(typeof contract)['createClient']>;

/**
 * Creates leads or clients. If a record with the `external_id` exists, applies the sent fields to it instead
 * (contract, "external_id").
 */
export const createPerson = <B extends NewPerson>(
  store: Store,
  kind: 'lead' | 'client',
): Action<B, Answer> => ({
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

type Submitted = Submission<NewPerson>;

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

const searchedDiffers = (before: ClientRow, after: ClientRow): boolean =>
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

type PersonChanges = BodyOf<(typeof contract)['updateLead' | 'updateClient']>;

/** Changes the sent fields of a lead, or of a client (contract, "Leads and clients"). */
const updatePerson = (store: Store, kind: 'lead' | 'client'): Action<PersonChanges, Answer> => ({
  turns: ({ companyId, recordId, body }) => [
    recordName('client', companyId, recordId),
    ...(body.external_id ? [externalName('client', companyId, body.external_id)] : []),
  ],
  references: ({ employee_id, affiliate_id }) => ({ people: { employee_id, affiliate_id } }),
  run: async (group, submissions) => {
    const { trx, known, now } = group;
    const records = await lockRecords(store, group, submissions);
    const changes = submissions.map((one) => {
      const before = records.get(one);
      const status = before && known.statuses.of(before);
      if (!status) return notFound(kind);
      if (status.isLead !== (kind === 'lead')) return otherKindError(kind, before.client_id);
      const shown = { ...before, status: status.name, is_lead: status.isLead };
      const problems = updateProblems(one.body, shown, {
        status: `PATCH /integrations/${kind}s/${before.client_id}/status`,
      });
      if (problems.length > 0) return invalid(problems);
      const after = { ...applyFields(before, one.body), updated_utc: now };
      return { before, after: differs(before, after) ? after : before };
    });
    const made = changes.flatMap((change) =>
      change instanceof Problem || change.after === change.before ? [] : [change],
    );
    await store.clients.update(
      trx,
      made.map(({ after }) => after),
    );
    await store.clients.markForSearch(
      trx,
      made.filter(({ before, after }) => searchedDiffers(before, after)).map(({ after }) => after),
    );
    return changes.map((change) => ({
      result:
        change instanceof Problem
          ? change
          : json(200, {
              success: true,
              updated_utc: change.after.updated_utc,
              client_id: change.after.client_id,
            }),
    }));
  },
  onTaken: async (_, { companyId, body }, db) => {
    const holder = await store.clients.holderOf(db, companyId, body.external_id!).catch(() => undefined);
    return externalIdTakenError('client_id', holder);
  },
});

/** Locks the records of the paths. A record missing from the result does not exist in the call's company. */
export const lockRecords = async (
  store: Store,
  { trx }: Group,
  submissions: readonly Submission<unknown>[],
): Promise<LockedRecords> => byPath(await store.clients.lockById(trx, keysOf(submissions)), submissions);

/** The same with the transaction's next statement; the returned function returns the records once it has run. */
export const lockRecordsLater = async (
  store: Store,
  trx: Group['trx'],
  submissions: readonly Submission<unknown>[],
): Promise<() => LockedRecords> => {
  const readRows = await store.clients.lockById.later(trx, keysOf(submissions));
  return () => byPath(readRows(), submissions);
};

export type LockedRecords = ReadonlyMap<Submission<unknown>, ClientRow>;

const keysOf = (submissions: readonly Submission<unknown>[]) =>
  submissions.map(({ companyId, recordId }) => ({ company_id: companyId, client_id: recordId }));

const byPath = (rows: readonly ClientRow[], submissions: readonly Submission<unknown>[]): LockedRecords => {
  const byName = new Map(rows.map((row) => [recordName('client', row.company_id, row.client_id), row]));
  return new Map(
    submissions.flatMap((one) => {
      const row = byName.get(recordName('client', one.companyId, one.recordId));
      return row ? [[one, row]] : [];
    }),
  );
};
