import type { Documented } from '../api/support/documented.ts';
import { ends, type Shot } from '../api/support/load.ts';
import type { Json, World } from '../api/support/open.ts';
import { seconds } from '../load/report.ts';
import type { Arrivals } from './arrivals.ts';
import { complaintsOfBounds } from './bounds.ts';
import type { Fault } from './fault.ts';
import { isFine, type Limited, type Sent, type Traffic } from './traffic.ts';

/** The effect of a fault on callers, and every violation. */
export interface Findings {
  readonly requests: number;
  /** Number of failed requests by result. A request that succeeded or exceeded its limit is not a failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Time from the first failure to the last. */
  readonly failedForMs: number;
  readonly slowestMs: number;
  /** Time from the healing (or the kill) to the end of the last failure; 0 if no failure followed. */
  readonly requestsBackMs: number;
  readonly deliveries: number;
  readonly repeated: number;
  /** Time from the healing (or the kill) to the last delivery that arrived more than `lateMs` after its event. */
  readonly deliveriesBackMs: number;
  readonly latestMs: number;
  /** First arrivals: when the event was created, as of `performance.now()`, and how long the delivery took. */
  readonly firstAttempts: readonly { readonly atMs: number; readonly elapsedMs: number }[];
  /** The largest share of its limit that a key used in one window. */
  readonly mostOfLimit: number;
  readonly complaints: readonly string[];
}

export interface Run {
  readonly fault: Pick<Fault, 'edge' | 'unnoticed' | 'bounds'>;
  /** Other tests run on the machine too: nothing is judged that depends on its speed. */
  readonly isBusy: boolean;
  readonly traffic: Traffic;
  readonly abandoned: number;
  /** Subscribed paths, and the company whose `client.created` events go there. */
  readonly subscribed: ReadonlyMap<string, number>;
  readonly limited: readonly Limited[];
  /** When the healing began, as of `performance.now()`. */
  readonly healedMs: number;
  /** How long what was killed took to answer again, where the fault says when that is; otherwise 0. */
  readonly restartMs: number;
}

/** A delivery that takes longer than this is late. It is longer than a fan-out by the sweeper. */
const lateMs = 3_000;
const recovery = { requestsBackMs: 30_000, deliveriesBackMs: 60_000 };

/** The only errors that a caller with a valid request may get (contract, "Requests and errors"). */
const allowed = new Set([
  '503 lock_timeout',
  '503 keys_unavailable',
  '503 service_unavailable',
  '504 timeout',
]);

export const judge = async (
  world: World,
  arrivals: Arrivals,
  document: { readonly json: Json; readonly problemOf: Documented },
  run: Run,
): Promise<Findings> => {
  const { fault, isBusy, traffic, healedMs } = run;
  const complaints: string[] = [];
  const failed = traffic.sent.filter((shot) => !isFine(shot));
  const failures = ends(failed);
  complaints.push(...complaintsOfAnswers(document, fault, traffic.sent, failures));
  if (run.abandoned > 0) complaints.push(`${run.abandoned} creates were never answered 2xx`);

  const endMs = ({ sentMs, elapsedMs }: Shot): number => sentMs + elapsedMs;
  const lastMs = Math.max(...failed.map(endMs));
  const requestsBackMs = Math.max(0, lastMs - healedMs);
  if (!isBusy && requestsBackMs > recovery.requestsBackMs)
    complaints.push(`requests failed until ${seconds(requestsBackMs)} after the healing`);

  const records = await complaintsOfRecords(world, traffic);
  complaints.push(...records);
  const delivered = await judgeDeliveries(world, arrivals, run);
  complaints.push(...delivered.complaints);
  const mostOfLimit = mostPassed(traffic.sent, run.limited, complaints);
  const spanOf = (shots: readonly Shot[]): number =>
    shots.length > 0 ? Math.max(...shots.map(endMs)) - Math.min(...shots.map(endMs)) : 0;
  const failedForMs = spanOf(failed);
  // The connections of a gateway that fails are expected to fail with it.
  const bounded = failed.filter(({ reply }) => !(fault.edge && reply instanceof Error));
  const slowestMs = Math.max(0, ...traffic.sent.map(({ elapsedMs }) => elapsedMs));
  complaints.push(
    ...complaintsOfBounds((!isBusy && fault.bounds) || {}, {
      failedAtMost: bounded.length,
      failingForMs: Math.max(0, spanOf(bounded) - run.restartMs),
      slowestMs,
      latestDeliveryMs: delivered.latestMs,
      repeatedAtMost: delivered.repeated,
    }),
  );
  return {
    requests: traffic.sent.length,
    failures,
    failedForMs,
    slowestMs,
    requestsBackMs: failed.length > 0 ? requestsBackMs : 0,
    ...delivered,
    mostOfLimit,
    complaints,
  };
};

const complaintsOfAnswers = (
  { json, problemOf }: { readonly json: Json; readonly problemOf: Documented },
  { edge, unnoticed }: Run['fault'],
  sent: readonly Sent[],
  failures: Readonly<Record<string, number>>,
): readonly string[] => {
  const operations = {
    createClient: json.paths['/api/v1/integrations/clients']?.post,
    listEmployees: json.paths['/api/v1/integrations/lookups/employees']?.get,
  };
  const undocumented = sent.flatMap(({ reply, operation }) =>
    reply instanceof Error ? [] : (problemOf(operations[operation], reply) ?? []),
  );
  const forbidden = Object.keys(failures).filter((end) =>
    end.startsWith('error:') ? !edge || unnoticed : !allowed.has(end) || unnoticed,
  );
  return [
    ...undocumented.slice(0, 3).map((problem) => `an answer differs from the document: ${problem}`),
    ...forbidden.map((end) => `${failures[end]} requests ended with ${end}`),
  ];
};

/** Every answered create has exactly one record, with the ID of the answer. */
const complaintsOfRecords = async (world: World, { made }: Traffic): Promise<readonly string[]> => {
  const companies = [...new Set(made.map(({ company }) => company))];
  if (companies.length === 0) return ['no record was created'];
  const rows = await world.sql<{ client_id: number; external_id: string }>(
    'SELECT client_id, external_id FROM clients WHERE company_id IN (?)',
    [companies],
  );
  const ids = new Map(rows.map(({ client_id, external_id }) => [external_id, client_id]));
  const astray = made.filter(({ externalId, id }) => ids.get(externalId) !== id);
  return astray.length > 0 ? [`${astray.length} answered records are missing`] : [];
};

/** Compares arrived events with committed ones, and measures how late they were. */
const judgeDeliveries = async (world: World, arrivals: Arrivals, { subscribed, healedMs, isBusy }: Run) => {
  const complaints: string[] = [];
  const events = await world.sql<{ company_id: number; event_id: number; created_utc: Date }>(
    "SELECT company_id, event_id, created_utc FROM events WHERE company_id IN (?) AND type = 'client.created'",
    [[...new Set(subscribed.values())]],
  );
  const clockMs = Date.now() - performance.now();
  const firsts: Findings['firstAttempts'][number][] = [];
  let [deliveries, repeated, deliveriesBackMs, latestMs] = [0, 0, 0, 0];
  for (const [path, company] of subscribed) {
    const arrived = arrivals.at(path);
    const committed = events.filter(({ company_id }) => company_id === company);
    const known = new Set(committed.map(({ event_id }) => String(event_id)));
    const lost = committed.filter(({ event_id }) => !arrived.has(String(event_id)));
    const unknown = [...arrived.keys()].filter((id) => !known.has(id));
    if (lost.length > 0) complaints.push(`${lost.length} committed events did not arrive at ${path}`);
    if (unknown.length > 0) complaints.push(`${unknown.length} events arrived that were never committed`);
    for (const { event_id, created_utc } of committed) {
      const times = arrived.get(String(event_id)) ?? [];
      const [firstMs = 0] = times;
      const atMs = created_utc.getTime() - clockMs;
      deliveries += times.length;
      repeated += Math.max(0, times.length - 1);
      const tookMs = firstMs - atMs;
      if (times.length > 0) firsts.push({ atMs, elapsedMs: tookMs });
      latestMs = Math.max(latestMs, tookMs);
      if (tookMs > lateMs) deliveriesBackMs = Math.max(deliveriesBackMs, firstMs - healedMs);
    }
  }
  if (!isBusy && deliveriesBackMs > recovery.deliveriesBackMs)
    complaints.push(`deliveries were late until ${seconds(deliveriesBackMs)} after the healing`);
  return { deliveries, repeated, deliveriesBackMs, latestMs, firstAttempts: firsts, complaints };
};

/** @returns the largest share of its limit that any key used in one window. */
const mostPassed = (sent: readonly Sent[], limited: readonly Limited[], complaints: string[]): number => {
  let most = 0;
  for (const { key, limit } of limited) {
    const passed = sent.flatMap(({ key: by, reply }) =>
      by === key && !(reply instanceof Error) && reply.status === 200
        ? [String(reply.headers['x-ratelimit-reset'])]
        : [],
    );
    for (const [window, all] of Map.groupBy(passed, (reset) => reset)) {
      most = Math.max(most, all.length / limit);
      if (all.length > limit)
        complaints.push(
          `a key of ${limit} requests a minute got ${all.length} in the window until ${window}`,
        );
    }
  }
  return most;
};
