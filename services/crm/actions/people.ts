import {
  type BodyOf,
  contract,
  type EventType,
  invalid,
  notFound,
  type Problem,
  updateProblems,
} from '@causeway/proto';
import type { StatusReference } from '@causeway/proto/schemas';
import type { Answer } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { newEvent } from '../events/event-log.ts';
import { type ClientRow, clients, holderOf } from '../store/store.ts';
import {
  type Action,
  type Change,
  type Group,
  isChange,
  refusalOf,
  refusing,
  type Submission,
  timeOfChange,
  versionedAnswer,
} from './action.ts';
import { handleAction } from './handle-action.ts';
import {
  applyFields,
  blankPerson,
  externalIdTakenError,
  otherKindError,
  type PersonReferences,
  withChanges,
} from './person.ts';
import { convertedEvent, type Status, type StatusReason, statusChange } from './statuses.ts';

export const createLead = (context: ActionsContext) =>
  handleAction(context, contract.createLead, null, personActions.lead.create);

export const createClient = (context: ActionsContext) =>
  handleAction(context, contract.createClient, null, personActions.client.create);

export const updateLead = (context: ActionsContext) =>
  handleAction(context, contract.updateLead, 'lead', personActions.lead.update);

export const updateClient = (context: ActionsContext) =>
  handleAction(context, contract.updateClient, 'client', personActions.client.update);

export const updatePerson = (context: ActionsContext) =>
  handleAction(context, contract.updatePerson, 'person', personActions.person.update);

export const updatePersonByExternalId = (context: ActionsContext) =>
  handleAction(context, contract.updatePersonByExternalId, null, personActions.person.updateNamed);

type NewPerson = BodyOf<(typeof contract)['createLead' | 'createClient']>;

interface CreatedPerson extends Change {
  /** Without a `before`, it is new. */
  readonly before?: ClientRow;
  readonly after: ClientRow;
  readonly from: Status;
  readonly to: Status;
}

/** If a record with the `external_id` exists, changes it instead (contract, "external_id"). */
export const createPerson = <B extends NewPerson>(
  kind: 'lead' | 'client',
): Action<B, Answer, CreatedPerson> => ({
  locks: ({ body }) => ({ clientByExternalId: body.external_id }),
  references: (body: PersonReferences) => ({
    people: { employee_id: body.employee_id, affiliate_id: body.affiliate_id },
    statuses: { status: body.status },
    statusKind: kind,
  }),
  makes: 'clients',
  mayCauseEvent: true,
  change: async (group, submissions) => {
    const isNew = (one: Submission<B>): boolean => !group.locked.get(one)?.clientByExternalId;
    const ids = [...(await group.ids.clients.take(submissions.filter(isNew).length))];
    const changes = submissions.map((submission): CreatedPerson | Problem => {
      const before = group.locked.get(submission)?.clientByExternalId;
      const refused = refusalOf(group, submission, 'client_id', before);
      if (refused) return refused;
      return before
        ? metPerson(kind, group, submission, before)
        : newPerson(kind, group, submission, ids.shift()!);
    });
    const valid = changes.filter(isChange);
    const created = valid.filter(({ isNew }) => isNew).map(({ after }) => after);
    await writeChanges(
      group,
      valid.flatMap(({ before, ...change }) => (before ? [{ before, ...change }] : [])),
    );
    await clients.insert(group.trx, created);
    await clients.markForSearch(group.trx, created);
    return changes;
  },
  answer: ({ isNew, after, to }) => {
    const { client_id, created_utc } = after;
    return versionedAnswer(isNew ? 201 : 200, { client_id, status: to.name, created_utc }, after);
  },
});

const newPerson = (
  kind: 'lead' | 'client',
  { known: { statuses }, now }: Group,
  submission: Submission<NewPerson>,
  client_id: number,
): CreatedPerson => {
  const status =
    sentStatus(statuses, submission) ??
    (kind === 'lead' ? statuses.newLead() : statuses.newClient(submission.companyId));
  const after: ClientRow = {
    ...applyFields(blankPerson, submission.body),
    first_name: submission.body.first_name,
    last_name: submission.body.last_name,
    email: submission.body.email,
    company_id: submission.companyId,
    client_id,
    status_id: status.id,
    version: 1,
    origin: submission.origin,
    created_utc: now,
    updated_utc: now,
  };
  const type: EventType = kind === 'lead' ? 'lead.created' : 'client.created';
  const payload = {
    client_id,
    first_name: after.first_name,
    last_name: after.last_name,
    email: after.email,
    phone: after.phone ?? '',
    status: status.name,
    created_date: after.created_utc.toISOString(),
  };
  return {
    isNew: true,
    after,
    from: status,
    to: status,
    events: [newEvent(submission.companyId, type, payload)],
    changed: true,
  };
};

const metPerson = (
  kind: 'lead' | 'client',
  group: Group,
  submission: Submission<NewPerson>,
  before: ClientRow,
): CreatedPerson => {
  const { statuses } = group.known;
  const from = statuses.of(before);
  const kept = kind === 'client' && from.isLead ? statuses.newClient(submission.companyId) : from;
  const to = kind === 'lead' && !from.isLead ? from : (sentStatus(statuses, submission) ?? kept);
  return changePerson(group, submission, before, submission.body, to);
};

/** Sets fields and the status; a new client status is an event (contract, "Leads and clients"). */
export const changePerson = (
  group: Group,
  submission: Submission<unknown>,
  before: ClientRow,
  fields: object,
  to: Status,
  reason: StatusReason = {},
) => {
  const from = group.known.statuses.of(before);
  const after = withChanges(
    before,
    { ...fields, status_id: to.id },
    submission,
    timeOfChange(group, 'clients', submission),
  );
  const events = from.id === to.id || to.isLead ? [] : [convertedEvent(after, from, to, reason, group.now)];
  return { before, after, from, to, reason, events, changed: after !== before };
};

const sentStatus = (statuses: Group['known']['statuses'], { companyId, body }: Submission<NewPerson>) =>
  body.status ? statuses.find(companyId, body.status) : undefined;

interface RecordChange extends Change {
  readonly before: ClientRow;
  readonly after: ClientRow;
  readonly from?: Status;
  readonly to?: Status;
  readonly reason?: StatusReason;
}

export const writeChanges = async ({ trx, now }: Group, all: readonly RecordChange[]): Promise<void> => {
  const changes = all.filter(({ before, after }) => after !== before);
  await clients.update(
    trx,
    changes.map(({ after }) => after),
  );
  await clients.markForSearch(
    trx,
    changes
      .filter(({ before, after }) => searchedColumns.some((column) => before[column] !== after[column]))
      .map(({ after }) => after),
  );
  await clients.insertStatusChanges(
    trx,
    changes.flatMap(({ after, from, to, reason = {} }) =>
      from && to && from.id !== to.id ? [statusChange(after, from, to, reason, now)] : [],
    ),
  );
};

const searchedColumns = ['first_name', 'last_name', 'email'] as const;

type PersonChanges = BodyOf<
  (typeof contract)['updateLead' | 'updateClient' | 'updatePerson' | 'updatePersonByExternalId']
>;

/** Changes the sent fields of a lead, of a client, or of either kind (contract, "Leads and clients"). */
const personUpdate = (
  kind: 'lead' | 'client' | 'person',
  name: 'clientById' | 'clientByExternalId',
): Action<PersonChanges, Answer, RecordChange> => ({
  locks: ({ recordId, externalId }) => ({ [name]: name === 'clientById' ? recordId : externalId }),
  takes: ({ body }) => ({ clientByExternalId: newExternalId(body) }),
  references: (body) => {
    const { employee_id, affiliate_id } = body;
    const status = newStatus(body);
    return {
      people: { employee_id, affiliate_id },
      ...(status && { statuses: { status }, ...(kind !== 'person' && { statusKind: kind }) }),
    };
  },
  change: async (group, submissions) => {
    const { statuses } = group.known;
    const changes = submissions.map((submission): RecordChange | Problem => {
      const { companyId, body } = submission;
      const before = group.locked.get(submission)?.[name];
      if (!before) return notFound(kind);
      const { client_id } = before;
      const from = statuses.of(before);
      if (kind !== 'person' && from.isLead !== (kind === 'lead')) return otherKindError(kind, client_id);
      const refused = refusalOf(group, submission, 'client_id', before);
      if (refused) return refused;
      const shown = { ...before, status: from.name, is_lead: from.isLead };
      const problems = refusing(submission, updateProblems(body, shown, pathsOfOthers(kind, client_id)));
      if (problems.length > 0) return invalid(problems);
      const reference = newStatus(body);
      const to = reference ? statuses.find(companyId, reference)! : from;
      if (to.isLead && !from.isLead) return invalid([leadStatusOfClient]);
      return changePerson(group, submission, before, body, to);
    });
    await writeChanges(group, changes.filter(isChange));
    return changes;
  },
  answer: ({ after }) => {
    const { updated_utc, client_id } = after;
    return versionedAnswer(200, { success: true, updated_utc, client_id }, after);
  },
  onTaken: async (_, { companyId, body }, db) =>
    externalIdTakenError(
      'client_id',
      await holderOf(db, ['clients', 'client_id'], companyId, newExternalId(body)!),
    ),
});

/** On the paths of a kind, the status is read-only, and so is the `external_id` that names a record. */
const newStatus = ({ status }: { readonly status?: unknown }): StatusReference | undefined =>
  typeof status === 'object' && status !== null ? (status as StatusReference) : undefined;
const newExternalId = ({ external_id }: PersonChanges): string | undefined =>
  typeof external_id === 'string' ? external_id : undefined;

const pathsOfOthers = (kind: 'lead' | 'client' | 'person', id: number) => ({
  ...(kind !== 'person' && { status: `PATCH /integrations/${kind}s/${id}/status` }),
  external_id: `PATCH /integrations/people/${id}`,
});

const leadStatusOfClient = {
  field: 'status',
  code: 'wrong_kind',
  message: 'status must not be a lead status: the record is a client',
} as const;

const updatesOf = (kind: 'lead' | 'client' | 'person') => ({
  update: personUpdate(kind, 'clientById'),
  // A step of a group locks its records by one key: by two, it could meet a record twice.
  updateNamed: personUpdate(kind, 'clientByExternalId'),
});

/** Created once, because the runner groups calls by their action. */
export const personActions = {
  lead: { create: createPerson('lead'), ...updatesOf('lead') },
  client: { create: createPerson('client'), ...updatesOf('client') },
  person: updatesOf('person'),
};
