import {
  type BatchItem,
  type Condition,
  type Detail,
  type KeyOperation,
  Problem,
  readItem,
} from '@causeway/proto';
import type { Answer } from '@causeway/runtime';
import { foldedAddress } from '../addresses.ts';
import type { Action } from './action.ts';

export interface Targets {
  readonly create: Target;
  readonly update?: Target;
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
  const { create, update = create } = targets;
  const hasId = (item.fields[update.idName!] ?? null) !== null;
  const chosen = mode === 'update' || (mode === 'upsert' && hasId) ? update : create;
  const { operation, idName } = chosen;
  const read = (item: BatchItem, params: readonly string[], mayDrop: boolean) => {
    // Whatever may be left out, nothing is done without the condition that was sent.
    const hasCondition = !item.problems.some(({ field }) => field === versionName);
    const { value, problems, dropped, valid } = readItem(operation, item, params, mayDrop && hasCondition);
    return { body: value as object | undefined, problems, dropped, valid: valid() as object };
  };
  if (idName === undefined) {
    // In this mode, an id that is null says that the record is new.
    const own = mode === 'upsert' ? without(item, update.idName!) : item;
    return { ...chosen, ...read(own, [], drops), condition, recordId: 0 };
  }
  const id = item.fields[idName];
  const wrongId = idProblem(idName, id);
  if (!wrongId) return { ...chosen, ...read(item, [String(id)], drops), condition, recordId: id as number };
  const { problems, valid } = read(without(item, idName), [], false);
  return { ...chosen, recordId: 0, body: undefined, problems: [wrongId, ...problems], dropped: [], valid };
};

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

/** Finds items of one record by what they say (contract, "Batches"). */
export const createSeen = () => {
  const first = new Map<string, number>();
  return {
    /** @returns the earlier item that names the same record. */
    note: ({ operation, idName, recordId, body }: ReadTarget, index: number): number | undefined => {
      const { external_id: externalId, email } = body as { external_id?: string | null; email?: string };
      const isUpdate = operation.method === 'PATCH';
      const names = [
        ...(isUpdate ? [`${idName}:${recordId}`] : []),
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
