import { broken, type History, lineOf, statusOf, type Violation } from './call.ts';
import { deliveryChecks } from './check-deliveries.ts';
import { readChecks } from './check-reads.ts';
import { writeChecks } from './check-writes.ts';
import { type Check, factsOf } from './facts.ts';

/** The only failures of a valid request (contract, "Requests and errors"). */
const allowed = /^(503 (lock_timeout|keys_unavailable|service_unavailable)|504 timeout)$/;
const invalid = [400, 401, 403, 405, 413, 422];

const answersAreTrue: Check = function* (_facts, { calls, edge, problemOf }) {
  const unavailable =
    '`lock_timeout` and `keys_unavailable` (above), or `{error, reason: "service_unavailable"}`';
  const document =
    'The routes, the handlers, the types and the OpenAPI document come from the tables in this folder';
  for (const call of calls) {
    const { reply } = call;
    const status = statusOf(call);
    if (status === 0 && !edge) yield broken('The connection survives or is closed cleanly.', call);
    if (status === 500) yield broken('Never a stack, SQL or a host name.', call);
    else if (!(reply instanceof Error) && status > 500 && !allowed.test(`${status} ${reply.json?.reason}`))
      yield broken(unavailable, call);
    if (invalid.includes(status))
      yield broken('lists every problem of the request once', 'a valid request', call);
    const problem = problemOf?.(call);
    if (problem) yield broken(document, problem, call);
  }
};

const checks = [answersAreTrue, ...writeChecks, ...readChecks, ...deliveryChecks];

export const violationsIn = (history: History): readonly Violation[] => {
  const facts = factsOf(history.calls);
  return checks.flatMap((check) => [...check(facts, history)]);
};

const examples = 2;

/** A text for each sentence that is broken: how often, and the lines of the first cases. */
export const complaintsOf = (history: History): readonly string[] => {
  const startMs = Math.min(...history.calls.map(({ sentMs }) => sentMs));
  return [...Map.groupBy(violationsIn(history), ({ sentence }) => sentence)].map(([sentence, all]) => {
    const cases = all
      .slice(0, examples)
      .map(({ lines }) => lines.map((line) => `\n        ${lineOf(line, startMs)}`).join(''));
    return `contract: "${sentence}": ${all.length} times${cases.join('\n')}`;
  });
};
