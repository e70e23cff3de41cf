import {
  type AnswerTo,
  type BodyOf,
  type Contract,
  contract,
  type OperationIdOf,
  Problem,
  parseBody,
} from '@causeway/proto';
import { each, type Handler, json } from '@causeway/runtime';
import type { Access } from './context.ts';

type OperatorOperationId = OperationIdOf<'access', 'operator'>;
type Body<Id extends OperatorOperationId> = BodyOf<Contract[Id]>;

/**
 * The handler of an operator operation: parses the body, answers with the result of `handle`, and logs the outcome,
 * because operator actions are few and somebody will ask about them later.
 */
export const operatorHandler = <Id extends OperatorOperationId>(
  { log }: Pick<Access, 'log'>,
  operation: Id,
  handle: (body: Body<Id>, call: { readonly requestId: string }) => Promise<AnswerTo<Id>>,
): Handler =>
  each(async ({ body, requestId }) => {
    const startedMs = performance.now();
    const ended = (outcome: object) =>
      log.info(
        { operation, requestId, ...outcome, elapsedMs: Math.round(performance.now() - startedMs) },
        'operator call',
      );
    try {
      const answer = await handle(parseBody(contract[operation], body) as Body<Id>, { requestId });
      ended({ outcome: 'done', ...idsOf(answer as unknown as Ids) });
      return json(operation.startsWith('create') ? 201 : 200, answer);
    } catch (error) {
      ended({ outcome: error instanceof Problem ? error.code : 'internal_error' });
      throw error;
    }
  });

interface Ids {
  readonly company_id?: number;
  readonly id?: number;
}

/** Which records the log line is about: never a name, a value or an address. */
const idsOf = ({ company_id, id }: Ids) => ({
  ...(company_id !== undefined && { companyId: company_id }),
  ...(id !== undefined && { id }),
});
