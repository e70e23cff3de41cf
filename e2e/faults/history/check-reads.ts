import type { Json } from '../../api/support/open.ts';
import { broken, type Call, headerOf, isBefore, isDone, jsonOf, statusOf, type Violation } from './call.ts';
import { type Check, type Facts, keyOf, type Sighting, sightingsOf, tokenOf, type Write } from './facts.ts';

/** The pages of each client that reads from the beginning to the end, in their order. */
const walksOf = (calls: readonly Call[], path: string): Call[][] => {
  const walks: Call[][] = [];
  const pages = calls.filter((call) => call.path.startsWith(path) && isDone(call));
  for (const all of Map.groupBy(pages, ({ company, by }) => `${company} ${by}`).values())
    for (const page of all.toSorted((a, b) => a.sentMs - b.sentMs))
      if (page.path.includes('cursor=')) walks.at(-1)?.push(page);
      else walks.push([page]);
  return walks;
};

type State = ReadonlyMap<string, Sighting>;
const exactly = 'has exactly the state of one moment between the last request and its answer';

/** Follows the state of a client that applies the feed, and compares it with what others were answered. */
const feedIsTheState: Check = function* (facts, { calls }) {
  for (const walk of walksOf(calls, '/integrations/changes')) {
    const done = facts.writes
      .filter(({ call }) => call.company === walk[0]!.company && isDone(call))
      .toSorted((a, b) => a.call.endedMs - b.call.endedMs);
    const state = new Map<string, Sighting>();
    let [next, latestMs] = [0, 0];
    for (const page of walk) {
      for (const entry of sightingsOf(page)) {
        if (entry.record && (state.get(keyOf(entry))?.version ?? 0) >= entry.version) continue;
        state.set(keyOf(entry), entry);
        const sent = (facts.writers.get(tokenOf(entry.record) ?? '') ?? []).map(({ call }) => call.sentMs);
        if (sent.length > 0) latestMs = Math.max(latestMs, Math.min(...sent));
      }
      if (jsonOf(page).hasMore) continue;
      yield* danglingIn(state, page);
      // The moment is not before the page was asked for, and not before the latest of these writes was sent.
      for (; (done[next]?.call.endedMs ?? Infinity) < Math.max(latestMs, page.sentMs); next++) {
        const what = missingFrom(state, done[next]!, facts, page);
        if (what) yield broken(exactly, what, done[next]!.call, page);
      }
    }
    yield* differencesOf(state, walk.at(-1)!, facts);
  }
};

const danglingIn = function* (state: State, page: Call): Iterable<Violation> {
  for (const entry of state.values()) {
    const { record } = entry;
    const affiliate = keyOf({ kind: 'affiliate', id: record?.affiliate_id });
    const person = keyOf({ kind: 'person', id: record?.client_id });
    if ((record?.affiliate_id && !state.has(affiliate)) || (record?.client_note_id && !state.has(person)))
      yield broken(
        exactly,
        `${record.affiliate_id ? affiliate : person} is missing, to which a record refers`,
        entry,
        page,
      );
  }
};

const missingFrom = (state: State, write: Write, { deletesOf }: Facts, page: Call): string | undefined => {
  const entry = state.get(keyOf(write));
  if (write.verb === 'delete') return entry?.record ? `${keyOf(write)} is still there` : undefined;
  if (entry && (!entry.record || entry.version >= (write.version ?? 0))) return undefined;
  if (deletesOf(write).some(({ call }) => call.sentMs < page.endedMs)) return undefined;
  return `${keyOf(write)} ${entry ? `has version ${entry.version}` : 'is missing'}`;
};

/** A feed that was read to the end after all writers had stopped is what the lists tell. */
const differencesOf = function* (state: State, last: Call, facts: Facts): Iterable<Violation> {
  const listed = facts.listed.filter(({ call }) => call.company === last.company && facts.isLast(last));
  const sentence =
    'Whoever reads to `hasMore: false`, and applies each entry whose `version` is higher than the one it has';
  const there = new Map(listed.map((one) => [keyOf(one), one]));
  const kinds = new Set(listed.map(({ kind }) => kind));
  for (const one of there.values()) {
    const entry = state.get(keyOf(one));
    if (JSON.stringify(entry?.record) !== JSON.stringify(one.record))
      yield broken(sentence, `${keyOf(one)}: the feed and the list differ`, entry ?? last, one);
  }
  for (const entry of state.values())
    if (entry.record && kinds.has(entry.kind) && !there.has(keyOf(entry)))
      yield broken(sentence, `${keyOf(entry)} is in the feed, and not in the list`, entry, last);
};

const listsLeaveOutNothing: Check = function* ({ writes, deletesOf }, { calls }) {
  for (const pages of walksOf(calls, '/integrations/people?limit')) {
    const [first, last] = [pages[0]!, pages.at(-1)!];
    if (jsonOf(last).hasMore) continue;
    const seen = Map.groupBy(
      pages.flatMap((page, at) => sightingsOf(page).map((one) => ({ ...one, at }))),
      keyOf,
    );
    for (const write of writes) {
      const { call, kind, version } = write;
      if (kind !== 'person' || call.company !== first.company || !isDone(call)) continue;
      if (deletesOf(write).some((one) => one.call.sentMs < last.endedMs)) continue;
      const all = seen.get(keyOf(write)) ?? [];
      if (all.length === 0 && isBefore(call, first))
        yield broken('none that was there at the beginning is left out', call, first, last);
      // Begun and ended between two pages, so no page was read while it was committed.
      const next = pages.findIndex(
        (page, at) => at > 0 && isBefore(pages[at - 1]!, call) && isBefore(call, page),
      );
      // A create that meets what it would write changes nothing.
      const earlier = all.find((one) => one.at < next && one.version < (version ?? 0));
      if (earlier && version !== undefined && !all.some((one) => one.at >= next && one.version >= version))
        yield broken(
          'a record that changes while a client pages comes again',
          earlier.call,
          call,
          pages[next]!,
          last,
        );
    }
  }
};

const cursorSkipsNothing: Check = function* ({ writes, isLast }, { calls }) {
  const sentence =
    'Walking `asc` with the last cursor never skips an event, however late its transaction committed.';
  const walks = walksOf(calls, '/events');
  for (const pages of walks) {
    const { by, company } = pages[0]!;
    const entries = pages.flatMap((call) => jsonOf(call).entries.map((entry: Json) => ({ ...entry, call })));
    for (const [at, entry] of entries.entries())
      if (at > 0 && entry.sequence <= entries[at - 1].sequence)
        yield broken('its number in the company, in the order of commits', entries[at - 1].call, entry.call);
    const ids = new Set(entries.map(({ event }) => event.id));
    const audit = walks.find(([one]) => one!.by === 'auditor' && one!.company === company) ?? [];
    for (const page of isLast(pages.at(-1)!) ? audit : [])
      for (const { event } of jsonOf(page).entries)
        if (!ids.has(event.id)) yield broken(sentence, `event ${event.id} was skipped`, pages.at(-1)!, page);
    if (by !== 'auditor') continue;
    const told = Map.groupBy(
      entries,
      ({ event: { type, payload } }) => `${type} ${payload.client_id ?? payload.employee_id}`,
    );
    for (const { call, kind, id } of writes) {
      if (call.company !== company || kind === 'note' || statusOf(call) !== 201) continue;
      const type = kind === 'affiliate' ? kind : call.path.includes('/leads') ? 'lead' : 'client';
      const count = told.get(`${type}.created ${id}`)?.length ?? 0;
      if (count !== 1)
        yield broken('An event is written in the transaction of its cause.', `${count} events`, call);
    }
  }
};

const limitsAreExact: Check = function* (_facts, { calls }) {
  const counted = calls.filter((call) => isDone(call) && headerOf(call, 'x-ratelimit-policy') !== undefined);
  const windowOf = (call: Call) => [
    call.key,
    ...['policy', 'reset'].map((name) => headerOf(call, `x-ratelimit-${name}`)),
  ];
  for (const all of Map.groupBy(counted, (call) => windowOf(call).join()).values()) {
    const limit = Number(headerOf(all[0]!, 'x-ratelimit-limit'));
    const most = 'Over any number of gateways exactly `limit` requests pass';
    if (all.length > limit) yield broken(most, `${all.length} of ${limit} passed`, all[limit]!);
    for (const same of Map.groupBy(all, (call) => headerOf(call, 'x-ratelimit-remaining')).values())
      if (same.length > 1) yield broken('the n-th request of the window reports n', ...same.slice(0, 2));
  }
};

export const readChecks: readonly Check[] = [
  feedIsTheState,
  listsLeaveOutNothing,
  cursorSkipsNothing,
  limitsAreExact,
];
