import { originOf } from '@causeway/identity';
import {
  type BodyOf,
  type Detail,
  invalid,
  type KeyOperation,
  type Problem,
  parseId,
  readCall,
} from '@causeway/proto';
import { type Answer, type Call, each, type Handler, identify, laneHandler } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { Action } from './action.ts';

/** @param what the kind of record in the path, for the text of the 404; null if the path has none. */
export const handleAction = <O extends KeyOperation>(
  { runner }: ActionsContext,
  operation: O,
  what: string | null,
  action: Action<BodyOf<O>, Answer>,
): Handler<O['id']> =>
  laneHandler(
    operation,
    each(async (call) => {
      const { body, refused, externalId } = await parse(operation, call, async (valid) => {
        const references = action.references?.(valid);
        if (!references) return [];
        const [found = []] = await runner.problems([{ companyId: call.tenant, references }]);
        return found;
      });
      const recordId = what === null ? 0 : parseId(call.params[0], what);
      const { tenant: companyId, condition, actor, caller: keyId } = call;
      const origin = originOf({ actor, keyId });
      const submission = { companyId, body, recordId, externalId, origin, condition, refused };
      return runner.submit(action, submission, call.deadlineMs, identify(call));
    }),
  );

/**
 * A refusal names every error: references are checked even beside ill-formed fields. A condition is judged before it, so
 * the body of such a call may lack fields. @throws Problem
 */
const parse = async <O extends KeyOperation>(
  operation: O,
  call: Call,
  problemsOf: (validFields: Partial<BodyOf<O>>) => Promise<readonly Detail[]>,
): Promise<{
  readonly body: BodyOf<O>;
  readonly refused?: Problem;
  readonly externalId: string | undefined;
}> => {
  const { query, body, problems, extra, validFields } = readCall(operation, call);
  const externalId = (query as { readonly external_id?: string } | undefined)?.external_id;
  if (body !== undefined && problems.length === 0) return { body, externalId };
  const valid = validFields();
  const refused = invalid([...problems, ...(await problemsOf(valid))], extra);
  const isNoObject = problems.some(({ field, code }) => field === 'body' && code !== 'empty_update');
  if (call.condition === undefined || isNoObject || query === undefined) throw refused;
  return { body: valid as BodyOf<O>, refused, externalId };
};
