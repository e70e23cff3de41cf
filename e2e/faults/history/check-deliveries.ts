import { verdictOn } from '../../../deploy/local/receiver/signature.ts';
import { type Arrival, type Attempt, broken, isDone, isRefused, type Subscribed } from './call.ts';
import type { Check } from './facts.ts';

const pathOfNotices = '/notices';
/** The receiver answers within a second, Causeway waits ten. */
const inTimeMs = 5_000;
/** Clocks are set wrong by a multiple of this. */
const skewMs = 90_000;

const attemptOf = (all: readonly Attempt[] | undefined, { id }: Subscribed, { attempt }: Arrival) =>
  all?.find((one) => one.subscription === id && one.attempt === attempt);

const isSigned = ({ secret }: Subscribed, { headers, body, atMs }: Arrival): boolean => {
  const [time = '', signature = ''] = [headers['x-webhook-timestamp'], headers['x-webhook-signature']];
  const verdict = verdictOn([secret], time, signature, Buffer.from(body), performance.timeOrigin + atMs);
  return verdict === 'valid' || verdict === 'stale';
};

const eventsArrive: Check = function* (
  { events },
  { arrivals, subscribed, attempts, receiverCut, repeatsAllowed },
) {
  const attemptsOf = Map.groupBy(attempts, ({ id }) => id);
  const repeated: (readonly Arrival[])[] = [];
  for (const to of subscribed) {
    const log = events.filter(
      ({ call, event }) =>
        call.by === 'auditor' && call.company === to.company && to.types.includes(event.type),
    );
    const known = new Set(log.map(({ event }) => String(event.id)));
    const arrived = Map.groupBy(
      arrivals.filter(({ path }) => path === to.path),
      ({ id }) => id,
    );
    const lost = 'If the cause is committed the event is delivered, whatever process dies next';
    for (const { event } of log)
      if (!arrived.has(String(event.id)))
        yield broken(lost, `to ${to.path} never came ${JSON.stringify(event)}`);
    for (const [id, all] of arrived) {
      if (!known.has(id)) yield broken('if it is rolled back there is no event', all[0]!);
      const bodies = new Set(all.map(({ body }) => body).filter((body) => !body.includes('"erased":true')));
      const sameBytes = 'Its bytes are fixed when the event is written and are the same in every attempt.';
      if (bodies.size > 1) yield broken(sameBytes, ...all);
      for (const one of all) if (!isSigned(to, one)) yield broken('keyed with the secret as shown', one);
      const answered = all.filter(({ answeredMs }) => answeredMs !== undefined);
      if (all.some(({ atMs }) => atMs > (answered[0]?.answeredMs ?? Infinity))) repeated.push(all);
      for (const one of receiverCut ? [] : answered) {
        const found = attemptOf(attemptsOf.get(id), to, one);
        const success = 'a final status of 200–299 within 10 seconds';
        if (found?.error && one.answeredMs! - one.atMs < inTimeMs)
          yield broken(success, one, `recorded as ${found.error} after ${found.elapsedMs} ms`);
      }
    }
  }
  if (repeated.length > repeatsAllowed) {
    const reasons = `${repeated.length} repeated after their 200, ${repeatsAllowed} for a cause in dispatcher/README, "Lost"`;
    yield broken('It may arrive more than once; `id` is the same each time.', reasons, ...repeated[0]!);
  }
};

/** Each dispatcher tells by its own measurement of MySQL's clock when an attempt began. */
const clocksMs = 100;

const paceHolds: Check = function* (_facts, { arrivals, subscribed, attempts }) {
  const attemptsOf = Map.groupBy(attempts, ({ id }) => id);
  for (const to of subscribed) {
    const { pace = Infinity } = to;
    const begun = arrivals
      .filter(({ path }) => path === to.path)
      .map((arrival) => {
        const startedMs = attemptOf(attemptsOf.get(arrival.id), to, arrival)?.startedMs ?? arrival.atMs;
        const wrongMs = Math.round((startedMs - arrival.atMs) / skewMs) * skewMs;
        return { arrival, atMs: startedMs - wrongMs };
      })
      .toSorted((a, b) => a.atMs - b.atMs);
    const sentence = 'no more than `limit` attempts, retries and replays included, begin within any second';
    const from = begun.findIndex(
      ({ atMs }, at) => (begun[at + pace]?.atMs ?? Infinity) - atMs < 1_000 - clocksMs,
    );
    if (from < 0) continue;
    const [first, last] = [begun[from]!, begun[from + pace]!];
    yield broken(
      sentence,
      `${pace + 1} within ${(last.atMs - first.atMs).toFixed(0)} ms`,
      first.arrival,
      last.arrival,
    );
  }
};

const noticesAreTold: Check = function* (_facts, { told, arrivals }) {
  const { changes, notices } = told ?? { changes: [], notices: [] };
  const sure = changes.filter(isDone).length;
  const most = changes.filter((call) => !isRefused(call)).length;
  const count = `${notices.length} notices, ${sure} changes were answered, ${most - sure} may have been done`;
  if (notices.length < sure || notices.length > most)
    yield broken(
      'A notice is written in the transaction of its cause, and a cause has one notice.',
      count,
      ...changes.slice(-2),
    );
  const messages = arrivals.filter(({ path }) => path === pathOfNotices);
  for (const { id } of notices) {
    const all = messages.filter(({ body }) =>
      JSON.parse(body).payload.notices.some((one: { id: number }) => one.id === id),
    );
    if (all.length === 0)
      yield broken('A message is sent until it is accepted', `notice ${id} came in no message`);
    const twice =
      'It may arrive twice if a process dies in between; then it has the same `Message-ID`, or the same `id`.';
    if (new Set(all.map((one) => one.id)).size > 1) yield broken(twice, `notice ${id}`, ...all);
  }
};

export const deliveryChecks: readonly Check[] = [eventsArrive, paceHolds, noticesAreTold];
