import {
  type BatchItem,
  type Condition,
  type Detail,
  invalid,
  type KeyOperation,
  Problem,
  readItem,
  type upsertOf,
  type WithBody,
} from '@causeway/proto';
import type { Answer } from '@causeway/runtime';
import { foldedAddress } from '../addresses.ts';
import type { RecordHolder } from '../store/store.ts';
import type { Action } from './action.ts';

export interface Targets {
  readonly create: Target;
  /** How an upsert that has no id is read. */
  readonly upsert?: ReturnType<typeof upsertOf>;
  readonly update?: Target;
  /** Of a record that is named by its `external_id` alone. */
  readonly updateNamed?: Target;
  /** Where the records are, by the column of their id. */
  readonly holder?: RecordHolder;
}

/** The operation for one record, as which an item is read, carried out and answered. */
export interface Target {
  readonly operation: KeyOperation;
  readonly action: Action<object, Answer>;
  /** The field that stands for the parameter of the operation's path. */
  readonly idName: string | undefined;
}

export interface ReadTarget extends Target {
  readonly recordId: number;
  readonly externalId?: string | undefined;
  readonly incomplete?: Problem | undefined;
  readonly condition?: Condition | undefined;
  readonly body: object | undefined;
  readonly problems: readonly Detail[];
  readonly dropped: readonly Detail[];
  readonly valid: object;
}

export const readTarget = (
  targets: Targets,
  mode: string,
  sent: BatchItem,
  drops: boolean,
  ofAll: Condition | undefined,
): ReadTarget => {
  const { item, condition } = readVersion(sent, ofAll);
  const { create, upsert, update = create, updateNamed } = targets;
  const read = (operation: WithBody, item: BatchItem, params: readonly string[] = [], mayDrop = drops) => {
    // Whatever may be left out, nothing is done without the condition that was sent.
    const hasCondition = !item.problems.some(({ field }) => field === versionName);
    const { value, problems, dropped, valid } = readItem(operation, item, params, mayDrop && hasCondition);
    return { body: value as object | undefined, problems, dropped, valid: valid() as object };
  };
  const { idName = '' } = update;
  const id = item.fields[idName] ?? null;
  // In these modes, an id that is null says that the record has another name or is new.
  const unnumbered = without(item, idName);
  if (id === null && mode === 'upsert' && upsert) {
    const { body, ...rest } = read(upsert, unnumbered);
    const lacking = body ? missingIn(body, upsert.requires) : [];
    if (lacking.length > 0 && externalIdIn(body!) === undefined)
      return { ...create, ...rest, body: undefined, problems: lacking, valid: body!, condition, recordId: 0 };
    const incomplete = lacking.length > 0 ? invalid(lacking) : undefined;
    return { ...create, ...rest, body, incomplete, condition, recordId: 0 };
  }
  if (id === null && mode === 'update' && updateNamed) {
    const result = read(updateNamed.operation, unnumbered);
    const fields = (result.body ?? result.valid) as { external_id?: string | null };
    const externalId = externalIdIn(fields);
    delete fields.external_id;
    if (externalId !== undefined) return { ...updateNamed, ...result, externalId, condition, recordId: 0 };
    const nameless = result.problems.some(({ field }) => field === 'external_id') ? [] : [noName(idName)];
    return {
      ...updateNamed,
      ...result,
      body: undefined,
      problems: [...nameless, ...result.problems],
      recordId: 0,
    };
  }
  const chosen = mode === 'create' ? create : update;
  if (chosen.idName === undefined)
    return { ...chosen, ...read(chosen.operation, item), condition, recordId: 0 };
  const wrongId = idProblem(idName, item.fields[idName]);
  if (!wrongId) {
    const result = read(chosen.operation, item, [String(id)]);
    return { ...chosen, ...result, condition, recordId: id as number };
  }
  const { problems, valid } = read(chosen.operation, unnumbered, [], false);
  return { ...chosen, recordId: 0, body: undefined, problems: [wrongId, ...problems], dropped: [], valid };
};

const externalIdIn = ({ external_id }: { readonly external_id?: string | null }): string | undefined =>
  external_id ?? undefined;

/** The `external_id` that an item names or gives to its record. */
export const externalIdOf = ({ externalId, body }: ReadTarget): string | undefined =>
  externalId ?? (body && externalIdIn(body));

const missingIn = (body: object, names: readonly string[]): readonly Detail[] =>
  names
    .filter((name) => (body as Record<string, unknown>)[name] === undefined)
    .map((field): Detail => ({ field, code: 'required', message: `${field} is required` }));

const noName = (field: string): Detail => ({
  field,
  code: 'required',
  message: `${field} or external_id is required`,
});

/** The version that an item's record must have, which is no field of the record. */
const readVersion = (
  { fields: { [versionName]: version, ...fields }, problems }: BatchItem,
  ofAll: Condition | undefined,
): { readonly item: BatchItem; readonly condition?: Condition | undefined } => {
  if ((version ?? null) === null) return { item: { fields, problems }, condition: ofAll };
  const isVersion = Number.isSafeInteger(version) && (version as number) > 0;
  if (isVersion && ofAll === undefined) return { item: { fields, problems }, condition: [version as number] };
  const fault = isVersion
    ? ({ code: 'must_agree', message: `${versionName} must not be sent with If-None-Match` } as const)
    : ({ code: 'wrong_kind', message: `${versionName} must be a positive integer` } as const);
  return { item: { fields, problems: [...problems, { field: versionName, ...fault }] } };
};
const versionName = 'if_version';

const without = ({ fields, problems }: BatchItem, name: string): BatchItem => {
  const { [name]: _, ...rest } = fields;
  return { fields: rest, problems };
};

/** In a path, such an id would be a 404; here it is a field. */
const idProblem = (field: string, id: unknown): Detail | undefined => {
  if (Number.isSafeInteger(id) && (id as number) > 0) return undefined;
  if (id === undefined || id === null) return { field, code: 'required', message: `${field} is required` };
  const code = typeof id === 'number' ? 'out_of_range' : 'wrong_kind';
  return { field, code, message: `${field} must be a positive integer` };
};

/**
 * Finds items of one record by what they say (contract, "Batches").
 * @param ids of the records that have the items' external ids.
 */
export const createSeen = (idName: string | undefined, ids: ReadonlyMap<string, number>) => {
  const first = new Map<string, number>();
  return {
    /** @returns the earlier item that names the same record. */
    note: (item: ReadTarget, index: number): number | undefined => {
      const { operation, recordId, body } = item;
      const { email } = body as { email?: string };
      const externalId = externalIdOf(item);
      const isUpdate = operation.method === 'PATCH';
      const id = isUpdate && recordId > 0 ? recordId : ids.get(externalId ?? '');
      const names = [
        ...(id ? [`${idName}:${id}`] : []),
        ...(externalId ? [`external_id:${externalId}`] : []),
      ];
      const address = isUpdate || !email ? undefined : foldedAddress(email);
      // People may share an address; it names a record where one of the two has no better name.
      const lookupNames = address
        ? [...names, externalId ? `only email:${address}` : `email:${address}`]
        : names;
      const found = lookupNames.map((name) => first.get(name)).find((at) => at !== undefined);
      if (found !== undefined) return found;
      if (address) names.push(`email:${address}`, ...(externalId ? [] : [`only email:${address}`]));
      for (const name of names) if (!first.has(name)) first.set(name, index);
      return undefined;
    },
  };
};

export const duplicateItemError = (first: number): Problem =>
  new Problem({
    code: 'duplicate_item',
    publicMessage: `item ${first} of the batch names the same record`,
  });
