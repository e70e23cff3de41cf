import { type BodyOf, type Detail, invalid, type KeyOperation, parseId, readCall } from '@causeway/proto';
import { type Answer, type Call, each, type Handler, identify, laneHandler } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { Action } from './action.ts';

/**
 * The handler of an operation: parses the body and submits it to the runner, which groups it with other calls.
 * @param what the kind of record in the path, for the text of the 404; null if the path has none.
 */
export const handleAction = <O extends KeyOperation>(
  { runner }: ActionsContext,
  operation: O,
  what: string | null,
  action: Action<BodyOf<O>, Answer>,
): Handler<O['id']> =>
  laneHandler(
    operation,
    each(async (call) => {
      const body = await parse(operation, call, async (valid) => {
        const references = action.references?.(valid as Partial<BodyOf<O>>);
        return references ? runner.problems({ companyId: call.tenant, references }) : [];
      });
      const recordId = what === null ? 0 : parseId(call.params[0], what);
      const submission = { companyId: call.tenant, body, recordId };
      return runner.submit(action, submission, call.deadlineMs, identify(call));
    }),
  );

/**
 * Returns the body once query and body are valid. A refusal names every error at once, so references are checked even
 * beside ill-formed fields.
 * @throws Problem
 */
const parse = async <O extends KeyOperation>(
  operation: O,
  call: Call,
  problemsOf: (validFields: object) => Promise<readonly Detail[]>,
): Promise<BodyOf<O>> => {
  const { body, problems, extra, validFields } = readCall(operation, call);
  if (body !== undefined && problems.length === 0) return body;
  throw invalid([...problems, ...(await problemsOf(validFields()))], extra);
};
