import type { Json } from '../../api/support/open.ts';
import {
  type Arrival,
  broken,
  type Call,
  headerOf,
  isBefore,
  isDone,
  isRefused,
  jsonOf,
  statusOf,
} from './call.ts';
import { type Check, type Kind, keyOf, type Sighting, tokenOf, type Write } from './facts.ts';

interface Naming {
  readonly kind: Kind;
  readonly id: number;
  readonly email: string;
  readonly company: number;
  readonly line: Arrival | { readonly call: Call; readonly record?: Json };
}

const namingsOf = (event: Json, company: number, line: Naming['line']): readonly Naming[] => {
  const { client_id, employee_id, email } = (event.type?.endsWith('.created') && event.payload) || {};
  if (!email) return [];
  return [{ kind: client_id ? 'person' : 'affiliate', id: client_id ?? employee_id, email, company, line }];
};

const idsAreOwn: Check = function* ({ writes, sightings, events }, { arrivals, subscribed }) {
  const sentence =
    'An id names one record for good, in the answer, the changes and the events of a write alike.';
  const companyOf = new Map(subscribed.map(({ path, company }) => [path, company]));
  const namings: readonly Naming[] = [
    ...[...writes, ...sightings].flatMap((one): readonly Naming[] => {
      const email = 'record' in one ? one.record?.email : one.verb === 'create' && one.body.email;
      const { kind, id, call } = one;
      return email && id !== undefined
        ? [{ kind, id, email, company: call.company, line: 'record' in one ? one : { call } }]
        : [];
    }),
    ...events.flatMap(({ event, call }) => namingsOf(event, call.company, { call, record: event })),
    ...arrivals.flatMap((one) => namingsOf(JSON.parse(one.body), companyOf.get(one.path) ?? 0, one)),
  ];
  const known = new Map<string, Naming>();
  for (const one of namings)
    for (const name of [keyOf(one), `${one.kind} ${one.email}`]) {
      const other = known.get(name) ?? one;
      known.set(name, other);
      if (other.id !== one.id || other.email !== one.email || other.company !== one.company)
        yield broken(
          sentence,
          `${keyOf(other)} is ${other.email}, and ${keyOf(one)} is ${one.email}`,
          other.line,
          one.line,
        );
    }
};

/** One version has one content, and no reading goes back. */
const versionsRise: Check = function* ({ writes, sightings }) {
  const sentence = 'an integer that rises with each change of a value';
  const told = writes.flatMap((write) =>
    write.version === undefined || write.token === undefined
      ? []
      : [{ ...write, record: write.body } as Sighting],
  );
  const known = [...told, ...sightings].toSorted((a, b) => a.call.endedMs - b.call.endedMs);
  for (const all of Map.groupBy(known, keyOf).values()) {
    const contents = new Map<number, Sighting>();
    let newest = all[0]!;
    for (const one of all) {
      const [same, token] = [contents.get(one.version), tokenOf(one.record)];
      if (same && token !== undefined && tokenOf(same.record) !== token)
        yield broken(
          sentence,
          `version ${one.version} of ${keyOf(one)} has two contents`,
          same.call,
          one.call,
        );
      if (token !== undefined) contents.set(one.version, one);
      const isOlder = newest.version > one.version;
      const newer =
        isOlder && all.find(({ call, version }) => version > one.version && isBefore(call, one.call));
      if (newer) yield broken(sentence, `${keyOf(one)} went back to version ${one.version}`, newer, one);
      if (!isOlder) newest = one;
    }
  }
};

/** What a refusal says was not done is nowhere. */
const refusalsDoNothing: Check = function* ({ writers, sightings, events }) {
  const seen = new Map<string, Call>();
  for (const { record, call } of sightings)
    for (const name of [tokenOf(record), record?.email]) if (name) seen.set(name, call);
  for (const { event, call } of events) if (event.payload.email) seen.set(event.payload.email, call);
  for (const [token, all] of writers) {
    const { verb, body, call } = all[0]!;
    const found = seen.get(token) ?? (verb === 'create' ? seen.get(body.email) : undefined);
    if (!found || !all.every((one) => isRefused(one.call))) continue;
    const sentences: Record<number, string> = {
      412: 'The condition of a write does not hold',
      503: 'nothing was done',
    };
    const sentence = sentences[statusOf(call)] ?? 'A refused request (4xx), and a 503, leaves the key free';
    yield broken(sentence, `answered ${statusOf(call)}, and done`, call, found);
  }
};

const conditionsHold: Check = function* ({ writes, sightings }) {
  const sentence = 'With `If-Match`, an edit in between is a 412 and not an overwritten record.';
  const conditional = writes.filter(({ call }) => call.headers['If-Match'] !== undefined);
  const known = Map.groupBy([...writes.filter(({ version }) => version !== undefined), ...sightings], keyOf);
  const givenOf = ({ call }: Write): number => Number(call.headers['If-Match']!.replaceAll('"', ''));
  for (const write of conditional) {
    const { call, version = 0 } = write;
    const given = givenOf(write);
    if (statusOf(call) === 412 && jsonOf(call).version === given)
      yield broken('if the record has another one, nothing is done and the answer is 412', call);
    if (!isDone(call)) continue;
    const between = known
      .get(keyOf(write))
      ?.find((one) => one.version! > given && (isBefore(one.call, call) || one.version! < version));
    const twin = conditional.find(
      (one) =>
        one.token !== write.token &&
        keyOf(one) === keyOf(write) &&
        isDone(one.call) &&
        givenOf(one) === given,
    );
    const other = between ?? twin;
    if (other) yield broken(sentence, `version ${given} of ${keyOf(write)} had been changed`, other, call);
  }
};

const missingHasAReason: Check = function* ({ writes, deletesOf }, { calls }) {
  const sentence = 'No such path, or no such record in this company.';
  const made = new Map<string, Write>();
  for (const write of writes)
    if (write.verb === 'create' && isDone(write.call) && !made.has(keyOf(write)))
      made.set(keyOf(write), write);
  for (const call of calls) {
    const [, of, id] = /^\/integrations\/(clients|leads|people|affiliates)\/(\d+)/.exec(call.path) ?? [];
    if (!id || statusOf(call) !== 404) continue;
    const record = { kind: of === 'affiliates' ? 'affiliate' : 'person', id: Number(id) } as const;
    const maker = made.get(keyOf(record))?.call;
    const deleted = deletesOf(record).some((one) => one.call !== call && one.call.sentMs < call.endedMs);
    if (maker && isBefore(maker, call) && !deleted)
      yield broken(sentence, `${keyOf(record)} was there, and nobody else had deleted it`, maker, call);
  }
};

const repetitionsAreAnswered: Check = function* ({ deletesOf }, { calls }) {
  const again = 'The first answer again, byte for byte and with its status, and `Idempotent-Replayed: true`.';
  const once = 'A request that the client sent once has no such header';
  const keyed = calls.filter(({ headers }) => headers['Idempotency-Key'] !== undefined);
  const isReplayed = (call: Call): boolean => headerOf(call, 'idempotent-replayed') !== undefined;
  const textOf = ({ reply }: Call) => (reply instanceof Error ? '' : `${reply.status} ${reply.text}`);
  for (const all of Map.groupBy(
    keyed,
    ({ company, headers }) => `${company} ${headers['Idempotency-Key']}`,
  ).values()) {
    const replayed = all.find(isReplayed);
    if (replayed && !all.some((one) => one !== replayed && one.sentMs < replayed.endedMs))
      yield broken(once, replayed);
    // A batch that was interrupted does the rest.
    const [first, ...others] = all.filter((call) => isDone(call) && !call.path.endsWith('/batch'));
    if (!first || deletesOf({ kind: 'person', id: jsonOf(first).client_id }).length > 0) continue;
    const wrong = others.find(
      (one) => textOf(one) !== textOf(first) || (isBefore(first, one) && !isReplayed(one)),
    );
    if (wrong) yield broken(again, first, wrong);
  }
};

const oneRecordForEachExternalId: Check = function* ({ writes }) {
  const sentence =
    'of any number of concurrent creates with one `external_id` exactly one answers 201, all name the same record';
  // A repetition with an `Idempotency-Key` is answered as the first request.
  const creates = writes.filter(
    ({ verb, body, call }) => verb === 'create' && body.external_id && !call.headers['Idempotency-Key'],
  );
  for (const all of Map.groupBy(
    creates,
    ({ call, kind, body }) => `${call.company} ${kind} ${body.external_id}`,
  ).values()) {
    const done = all.filter(({ call }) => isDone(call));
    const made = done.filter(({ call }) => statusOf(call) === 201).length;
    const isNeverMade = made === 0 && done.length === all.length;
    if (done.some(({ id }) => id !== done[0]!.id) || made > 1 || isNeverMade)
      yield broken(
        sentence,
        `${made} of ${all.length} answered 201`,
        ...all.slice(0, 3).map(({ call }) => call),
      );
  }
};

/** Everything that was answered is there when all has ended. */
const answeredIsThere: Check = function* ({ writes, listed, deletesOf }) {
  const sentence = 'an action is never done without its answer being remembered';
  const lists = new Set(listed.map(({ kind, call }) => `${call.company} ${kind}`));
  const found = new Map(listed.map((one) => [`${one.call.company} ${keyOf(one)}`, one]));
  for (const write of writes) {
    const { call, kind, verb, version = 0 } = write;
    if (
      !isDone(call) ||
      verb === 'delete' ||
      !lists.has(`${call.company} ${kind}`) ||
      deletesOf(write).length > 0
    )
      continue;
    const there = found.get(`${call.company} ${keyOf(write)}`);
    if (!there) yield broken(sentence, `${keyOf(write)} is gone`, call);
    else if (there.version < version) yield broken(sentence, `version ${version} is gone`, call, there);
  }
};

const erasedIsGone: Check = function* ({ writes }, { calls }) {
  const sentence =
    'With the answer, 204, nothing of the record, its notes and its status history can be read';
  for (const erase of writes) {
    if (erase.verb !== 'delete' || statusOf(erase.call) !== 204) continue;
    const texts = writes.flatMap(({ kind, verb, id, call, body, token }) => {
      if (kind === 'person' && verb === 'create' && id === erase.id) return [`"${body.email}"`];
      return call.path.startsWith(`/integrations/clients/${erase.id}/notes`) && token ? [token] : [];
    });
    // Payloads of events are removed within seconds: the auditor waits for it.
    const later = calls.filter(
      (call) =>
        call.company === erase.call.company &&
        isBefore(erase.call, call) &&
        (call.by === 'auditor' || !call.path.startsWith('/events')),
    );
    for (const call of later) {
      const { reply } = call;
      const text = texts.find((one) => !(reply instanceof Error) && reply.text.includes(one));
      if (text) yield broken(sentence, `${text} of ${keyOf(erase)}`, erase.call, call);
    }
  }
};

export const writeChecks: readonly Check[] = [
  ...[idsAreOwn, versionsRise, refusalsDoNothing, conditionsHold, missingHasAReason],
  ...[repetitionsAreAnswered, oneRecordForEachExternalId, answeredIsThere, erasedIsGone],
];
