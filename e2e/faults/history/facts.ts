import type { Json } from '../../api/support/open.ts';
import { type Call, type History, headerOf, isDone, isRefused, jsonOf, type Violation } from './call.ts';

export type Kind = 'person' | 'affiliate' | 'note';

/** A write of one record. An item of a batch is one, with an answer of its own. */
export interface Write {
  readonly call: Call;
  readonly kind: Kind;
  readonly verb: 'create' | 'update' | 'delete';
  /** Of the path, or of the answer. */
  readonly id: number | undefined;
  /** Of the `ETag`, which a repeated answer lacks. */
  readonly version: number | undefined;
  readonly body: Json;
  readonly token: string | undefined;
}

/** A record as it was read. */
export interface Sighting {
  readonly call: Call;
  readonly kind: Kind;
  readonly id: number;
  readonly version: number;
  /** null: deleted. */
  readonly record: Json;
}

export const keyOf = ({ kind, id }: { readonly kind: Kind; readonly id?: number | undefined }): string =>
  `${kind} ${id}`;

/** Each write sets one field to a text that no other write sets. */
export const tokenOf = (fields: Json): string | undefined =>
  (fields?.city ?? fields?.affiliate_company_name ?? fields?.text)?.split(' ')[0];

const route = /^\/integrations\/(clients|leads|people|affiliates)(?:\/(\d+))?(\/notes)?(\/batch)?(?:\?|$)/;
const idOf = (json: Json): number | undefined => json?.client_note_id ?? json?.client_id ?? json?.employee_id;

export const writesOf = (call: Call): readonly Write[] => {
  const [, of, pathId, notes, batch] = route.exec(call.path) ?? [];
  if (!of || call.method === 'GET') return [];
  if (batch) {
    const results: readonly Json[] = jsonOf(call)?.results ?? [];
    return call.body.items.flatMap((body: Json, at: number) => {
      const result = results[at];
      const reply = result
        ? { status: result.status, headers: {}, text: JSON.stringify(result.body), json: result.body }
        : call.reply;
      return writesOf({ ...call, path: call.path.replace('/batch', ''), body, reply });
    });
  }
  const kind: Kind = notes ? 'note' : of === 'affiliates' ? 'affiliate' : 'person';
  const verb = call.method === 'POST' ? 'create' : call.method === 'PATCH' ? 'update' : 'delete';
  const tag = headerOf(call, 'etag');
  return [
    {
      ...{ call, kind, verb, body: call.body, token: tokenOf(call.body) },
      id: verb === 'create' ? (isDone(call) ? idOf(jsonOf(call)) : undefined) : Number(pathId),
      version: tag === undefined ? undefined : Number(tag.replaceAll('"', '')),
    },
  ];
};

export const sightingsOf = (call: Call): readonly Sighting[] => {
  if (call.method !== 'GET' || !isDone(call) || !call.path.startsWith('/integrations/')) return [];
  const json = jsonOf(call);
  if (json.changes)
    return json.changes.map(({ type, id, version, record }: Json) => ({
      call,
      kind: type,
      id,
      version,
      record,
    }));
  const records: readonly Json[] = json.people ?? json.affiliates ?? json.notes ?? [json];
  return records
    .filter((record) => record.version !== undefined)
    .map((record) => {
      const kind: Kind = record.client_note_id ? 'note' : 'affiliate_code' in record ? 'affiliate' : 'person';
      return { call, kind, id: idOf(record)!, version: record.version, record };
    });
};

export type Check = (facts: Facts, history: History) => Iterable<Violation>;

/** What all calls of a history say. */
export interface Facts {
  readonly writes: readonly Write[];
  readonly sightings: readonly Sighting[];
  /** Those of the auditor, who lists everything when all others have stopped. */
  readonly listed: readonly Sighting[];
  /** The writes that set a token; several if a client repeated a request. */
  readonly writers: ReadonlyMap<string, readonly Write[]>;
  /** Whether it was read to the end after everybody had stopped writing. */
  isLast(page: Call): boolean;
  /** Those that may have deleted the record, in the order in which they were sent. */
  deletesOf(record: { readonly kind: Kind; readonly id?: number | undefined }): readonly Write[];
  readonly events: readonly { readonly call: Call; readonly event: Json; readonly sequence: number }[];
}

export const factsOf = (calls: readonly Call[]): Facts => {
  const writes = calls.flatMap(writesOf);
  const sightings = calls.flatMap(sightingsOf);
  const deletes = Map.groupBy(
    writes.filter(({ verb, call }) => verb === 'delete' && !isRefused(call)),
    keyOf,
  );
  /** Notes are deleted with their person. */
  const personOf = new Map<number | undefined, number>();
  for (const { kind, id, call } of writes)
    if (kind === 'note') personOf.set(id, Number(route.exec(call.path)?.[2] ?? call.body.client_id));
  const events = calls
    .filter((call) => call.path.startsWith('/events') && isDone(call))
    .flatMap((call) => jsonOf(call).entries.map(({ event, sequence }: Json) => ({ call, event, sequence })));
  return {
    writes,
    sightings,
    listed: sightings.filter(
      ({ call }) => call.by === 'auditor' && !call.path.startsWith('/integrations/changes'),
    ),
    writers: Map.groupBy(
      writes.filter(({ token }) => token !== undefined),
      ({ token }) => token!,
    ),
    isLast: (page) =>
      !jsonOf(page).hasMore &&
      !writes.some(({ call }) => call.company === page.company && call.endedMs > page.sentMs),
    deletesOf: ({ kind, id }) =>
      (deletes.get(keyOf({ kind: 'person', id: kind === 'note' ? personOf.get(id) : id })) ?? []).toSorted(
        (a, b) => a.call.sentMs - b.call.sentMs,
      ),
    events,
  };
};
