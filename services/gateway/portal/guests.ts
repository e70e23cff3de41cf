import { type KnowsMember, knowsMemberOperation, problem } from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import type { Cell } from '../cells/cell.ts';
import type { Cells } from '../cells/cells.ts';
import type { Exchange } from '../exchange.ts';

type Ask = (cell: Cell) => Promise<LaneAnswer>;

/**
 * Answers a request of the portal that names no company, where there are several cells: a sign-in, which names an email
 * address, or the use of an invitation or a reset link, whose token only one cell knows.
 * @throws Problem or LaneError. If a cell cannot be reached and the others do not know, nobody can tell.
 */
export const askCells = async (
  cells: Cells,
  operation: string,
  exchange: Exchange,
  body: Buffer,
  ask: Ask,
): Promise<LaneAnswer> => {
  const reachable = cells.open().filter(({ bus }) => bus.connected());
  const complete = reachable.length === cells.count;
  if (operation === 'signIn') return signIn(reachable, complete, exchange, body, ask);
  const answers = reachable.map(ask);
  const accepted = await Promise.any(answers.map(onlyAccepted)).catch(() => undefined);
  if (accepted) return accepted;
  const refused = await Promise.all(answers);
  const known = refused.find(({ status }) => status !== gone);
  if (known) return known;
  if (!complete || refused.length === 0) throw problem('service_unavailable');
  return refused[0]!;
};

/** Asks the cells that know the address, one after the other, until one opens a session (README.md). */
const signIn = async (
  reachable: readonly Cell[],
  complete: boolean,
  exchange: Exchange,
  body: Buffer,
  ask: Ask,
): Promise<LaneAnswer> => {
  const knowing = await Promise.all(reachable.map((cell) => knows(cell, exchange, body)));
  const candidates = reachable.filter((_, at) => knowing[at] === true);
  if (candidates.length === 0) {
    const [stranger] = reachable.filter((_, at) => knowing[at] === false);
    if (!complete || !stranger || knowing.includes(undefined)) throw problem('service_unavailable');
    // The same work, delays and answer as for an address that is known with another password.
    return ask(stranger);
  }
  let answer: LaneAnswer | undefined;
  for (const cell of candidates) {
    answer = await ask(cell);
    if (answer.status < 400) return answer;
  }
  return answer!;
};

/** Whether the cell has a member with the address of a sign-in; undefined if it does not answer. */
const knows = async (
  { lanes }: Cell,
  { requestId, traceparent }: Exchange,
  body: Buffer,
): Promise<boolean | undefined> => {
  try {
    const answer = await lanes.access.request({
      operation: knowsMemberOperation,
      tenant: 0,
      caller: 0,
      requestId,
      traceparent,
      budgetMs: knowsBudgetMs,
      repeatable: true,
      params: [],
      query: '',
      body,
    });
    // A body that cannot be read is no member's; the sign-in itself says what is wrong.
    if (answer.status === 400) return false;
    return answer.status === 200 ? (JSON.parse(answer.body.toString()) as KnowsMember).known : undefined;
  } catch {
    return undefined;
  }
};

const onlyAccepted = async (asked: Promise<LaneAnswer>): Promise<LaneAnswer> => {
  const answer = await asked;
  if (answer.status >= 400) throw new Error('refused');
  return answer;
};

/** The status for a link that a cell does not know. */
const gone = 410;
/** A sign-in waits for it, so a cell whose services hang delays it by this. */
const knowsBudgetMs = 1500;
