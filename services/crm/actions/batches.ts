import { setTimeout as sleep } from 'node:timers/promises';
import { originOf } from '@causeway/identity';
import {
  type BodyOf,
  contract,
  type Detail,
  invalid,
  type KeyOperation,
  maxBatchItems,
  Problem,
  problem,
  readBatch,
  upsertOf,
} from '@causeway/proto';
import {
  type Answer,
  type Call,
  type CallIdentity,
  type EarlierAnswers,
  each,
  failureAnswer,
  type Handler,
  identify,
  identifyItem,
  isReplay,
  json,
  laneHandler,
} from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { holdersOf } from '../store/store.ts';
import type { Action, Submission } from './action.ts';
import { affiliateUpdates, makeAffiliate } from './affiliates.ts';
import {
  createSeen,
  duplicateItemError,
  externalIdOf,
  type ReadTarget,
  readTarget,
  type Target,
  type Targets,
} from './batch-items.ts';
import { addNote } from './notes.ts';
import { personActions } from './people.ts';

export const batchLeads = (context: ActionsContext) =>
  handleBatch(context, contract.batchLeads, peopleTargets(contract.createLead, personActions.lead));

export const batchClients = (context: ActionsContext) =>
  handleBatch(context, contract.batchClients, peopleTargets(contract.createClient, personActions.client));

const peopleTargets = (
  create: (typeof contract)['createLead' | 'createClient'],
  actions: typeof personActions.lead,
): Targets => ({
  create: target(create, actions.create),
  upsert: upsertOf(create),
  update: target(contract.updatePerson, actions.update, 'client_id'),
  updateNamed: target(contract.updatePerson, actions.updateNamed),
  holder: ['clients', 'client_id'],
});

export const batchAffiliates = (context: ActionsContext) =>
  handleBatch(context, contract.batchAffiliates, {
    create: target(contract.createAffiliate, makeAffiliate(context.random)),
    upsert: upsertOf(contract.createAffiliate),
    update: target(contract.updateAffiliate, affiliateUpdates.update, 'employee_id'),
    updateNamed: target(contract.updateAffiliate, affiliateUpdates.updateNamed),
    holder: ['employees', 'employee_id'],
  });

export const batchNotes = (context: ActionsContext) =>
  handleBatch(context, contract.batchNotes, {
    create: target(contract.addClientNote, addNote, 'client_id'),
  });

type BatchOperation = (typeof contract)['batchLeads' | 'batchClients' | 'batchAffiliates' | 'batchNotes'];

const target = <O extends KeyOperation>(
  operation: O,
  action: Action<BodyOf<O>, Answer>,
  idName?: string,
): Target => ({ operation, action: action as unknown as Action<object, Answer>, idName });

/**
 * Carries out a batch item by item (contract, "Batches"). Each item is a call of its own to the runner, with an
 * identity of its own: a batch that is sent again after a crash continues where it ended. If the client sent an
 * `Idempotency-Key`, the whole answer is stored too, once nothing in it can change.
 */
const handleBatch = <O extends BatchOperation>(
  context: ActionsContext,
  operation: O,
  targets: Targets,
): Handler<O['id']> =>
  laneHandler(
    operation,
    each(async (call) => {
      const batch = readBatch(operation as BatchOperation, call);
      const identity = identify(call);
      const earlier = identity && (await findEarlier(context, identity));
      const whole = identity && earlier?.get(identity);
      if (whole) return answerOrThrow(whole);

      const items = await prepare(context, call, targets, batch);
      const carriedOut = await carryOut(context, call, items, (index) => {
        const own = identity && identifyItem(identity, index);
        return { identity: own, earlier: own && earlier?.get(own) };
      });
      const results = carriedOut.map((answer, index) => resultOf(index, answer));
      const answer = json(200, { results });
      if (!identity?.fingerprint || results.some(({ status }) => status >= 500)) return answer;
      // The items are stored, so a failure here loses nothing.
      const stored = await context.once.carryOut(identity, async () => answer).catch(() => answer);
      const isRepeated = carriedOut.some(isReplay) && !carriedOut.some(isNew);
      return isRepeated ? { ...stored, headers: carriedOut.find(isReplay)!.headers! } : stored;
    }),
  );

/** A different request with the client's key is refused before an item is carried out. */
const findEarlier = async (
  { once }: ActionsContext,
  identity: CallIdentity,
): Promise<EarlierAnswers | undefined> => {
  if (!identity.again && !identity.fingerprint) return undefined;
  const ofItems = Array.from({ length: maxBatchItems }, (_, index) => identifyItem(identity, index));
  const earlier = await once.findAll([identity, ...ofItems]);
  for (const one of ofItems) {
    const answer = earlier.get(one);
    if (answer instanceof Problem) throw answer;
  }
  return earlier;
};

const answerOrThrow = (earlier: Answer | Problem): Answer => {
  if (earlier instanceof Problem) throw earlier;
  return earlier;
};

/** Refused, or ready to be carried out. */
type PreparedItem = Problem | (Target & { readonly submission: Submission<object> });

const prepare = async (
  { runner, db }: ActionsContext,
  call: Call,
  targets: Targets,
  { body: { mode, invalid: whenInvalid }, items }: ReturnType<typeof readBatch<BatchOperation>>,
): Promise<readonly PreparedItem[]> => {
  const drops = whenInvalid === 'drop_optional';
  const read = items.map((item) => readTarget(targets, mode, item, drops, call.condition));
  const companyId = call.tenant;
  const { actor, caller: keyId } = call;
  const origin = originOf({ actor, keyId });
  // A refusal names every problem, those of references too, as for a single record.
  const refused = read.filter(({ body }) => !body);
  const referring = refused.map(({ action, valid }) => ({
    companyId,
    references: action.references?.(valid) ?? {},
  }));
  const problemsOf = new Map<ReadTarget, readonly Detail[]>();
  if (refused.length > 0) {
    const found = await runner.problems(referring);
    refused.forEach((one, at) => void problemsOf.set(one, found[at]!));
  }
  const named = read.flatMap((one) => externalIdOf(one) ?? []);
  const { holder } = targets;
  const mayMeet = holder && named.length > 0 && read.some(({ recordId }) => recordId > 0);
  const seen = createSeen(holder?.[1], mayMeet ? await holdersOf(db, holder, companyId, named) : new Map());
  return read.map((item, index) => {
    const { body, problems, dropped, recordId, externalId, incomplete, condition, valid } = item;
    if (!body) {
      const refused = invalid([...problems, ...problemsOf.get(item)!]);
      if (condition === undefined) return refused;
      const more = { externalId, condition, refused };
      return { ...item, submission: { companyId, body: valid, recordId, origin, ...more } };
    }
    const first = seen.note(item, index);
    if (first !== undefined) return duplicateItemError(first);
    const more = { externalId, incomplete, condition, ...(drops && { dropped: [...dropped] }) };
    return { ...item, submission: { companyId, body, recordId, origin, ...more } };
  });
};

interface ItemSending {
  readonly identity: CallIdentity | undefined;
  readonly earlier: Answer | Problem | undefined;
}

/**
 * Hands the items to the runner in chunks, in their order. The chunks of all batches take turns, the company
 * with the fewest of late first, so that a call for one record, of whichever company, waits for a part of a group.
 * @throws Problem if nothing was carried out because of a fault, or an item is under way elsewhere
 */
const carryOut = async (
  context: ActionsContext,
  call: Call,
  items: readonly PreparedItem[],
  sendingOf: (index: number) => ItemSending,
): Promise<readonly Answer[]> => {
  const startByMs = call.deadlineMs - finishMs;
  const answers: Answer[] = [];
  const failed = (error: unknown) => failureAnswer(context.log, call, error);
  const waiting: number[] = [];
  items.forEach((item, index) => {
    const { earlier } = sendingOf(index);
    if (earlier) answers[index] = answerOrThrow(earlier);
    else if (item instanceof Problem) answers[index] = failed(item);
    else waiting.push(index);
  });

  const submit = async (index: number): Promise<unknown> => {
    const { action, submission } = items[index] as Exclude<PreparedItem, Problem>;
    try {
      answers[index] = await context.runner.submit(action, submission, startByMs, sendingOf(index).identity);
      return undefined;
    } catch (error) {
      const isLate = error instanceof Problem && error.code === 'timeout';
      answers[index] = failed(isLate ? problem('not_started') : error);
      return error;
    }
  };

  while (waiting.length > 0 && performance.now() < startByMs) {
    const chunk = waiting.splice(0, chunkItems);
    let tookMs = 0;
    const errors = await context.batchGate.run(`${call.tenant}`, Number.POSITIVE_INFINITY, async () => {
      const startedMs = performance.now();
      const found = await Promise.all(chunk.map(submit));
      tookMs = performance.now() - startedMs;
      return found;
    });
    const elsewhere = errors.find(isElsewhere);
    if (elsewhere) throw elsewhere;
    // A fault of the database: the rest would meet it too.
    if (chunk.some((index) => answers[index]!.status >= 500)) break;
    if (waiting.length > 0) await sleep(Math.max(pauseMs, tookMs));
  }
  const isUnavailable = answers.some(({ status }) => status === 503) && !answers.some(mayBeDone);
  if (isUnavailable && performance.now() < startByMs) throw problem('service_unavailable');
  for (const index of waiting) answers[index] = failed(problem('not_started'));
  return answers;
};

/** The client's key, or this call, is carried out by another replica. */
const isElsewhere = (error: unknown): boolean =>
  error instanceof Problem &&
  (error.code === 'idempotency_in_progress' || error.code === 'idempotency_key_reused');

/**
 * Few, so that a batch hardly lengthens the group of a single call: with 16 and shorter pauses, the p50 of other
 * companies' calls was 1.3 times as long. All batches of a process together fill a third of a group.
 */
const chunkItems = 5;
export const chunksGate = {
  atOnce: 4,
  maxPerKey: Number.POSITIVE_INFINITY,
  maxWaiting: Number.POSITIVE_INFINITY,
};
/** At least, and at least as long as the chunk took: most of the time, a batch leaves the database to others. */
const pauseMs = 20;
/** No item is begun later than this before the deadline, so that the answer is in time. */
const finishMs = 5_000;

const isDone = ({ status }: Answer): boolean => status < 300;
const mayBeDone = (answer: Answer): boolean => isDone(answer) || answer.status === 504;
const isNew = (answer: Answer): boolean => isDone(answer) && !isReplay(answer);

const resultOf = (index: number, { status, body }: Answer) => {
  const { dropped = [], ...rest } = JSON.parse(String(body));
  return { index, status, body: rest, dropped };
};
