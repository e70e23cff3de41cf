import {
  type IExecuteFunctions,
  type IHookFunctions,
  type ILoadOptionsFunctions,
  type IPollFunctions,
  sleep,
} from 'n8n-workflow';
import { basePath, type ConnectorRequest, type Json, problemOf, rootOf } from '../../request.ts';
import { lookups } from '../../table.ts';

type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions | IPollFunctions;

/** A request to a busy Causeway is repeated so often, and waits at most so long each time. */
const maxRepeats = 3;
const maxWaitSeconds = 60;

/**
 * Sends a request with the node's credential, and repeats what was refused for a time (429, 503) when that time is over.
 * @returns the answer's body; empty for 204, and for the status `emptyOn`
 * @throws ConnectorProblem
 */
export const send = async (
  context: Context,
  {
    method,
    path,
    query,
    body,
  }: Omit<ConnectorRequest, 'method'> & { readonly method: ConnectorRequest['method'] | 'DELETE' },
  { emptyOn = 204 } = {},
): Promise<Json> => {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>('causewayApi');
  for (let repeats = 0; ; repeats++) {
    const answer = await context.helpers.httpRequestWithAuthentication.call(context, 'causewayApi', {
      method,
      baseURL: rootOf(baseUrl),
      url: path,
      qs: query,
      ...(body && { body }),
      json: true,
      // The key goes to no other host.
      disableFollowRedirect: true,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
    });
    const { statusCode, headers } = answer;
    if (statusCode >= 200 && statusCode < 300) return answer.body || {};
    if (statusCode === emptyOn) return {};
    const problem = problemOf(statusCode, answer.body, headers?.['x-request-id']);
    const { retryAfter } = problem;
    if (retryAfter === undefined || retryAfter > maxWaitSeconds || repeats === maxRepeats) throw problem;
    await sleep(retryAfter * 1000);
  }
};

/** The items of a lookup, for a drop-down. */
export const optionsOf = async (context: Context, name: string, q?: string) => {
  const { path, list, value, shown, isLead } = lookups.find((one) => one.name === name)!;
  const answer = await send(context, { method: 'GET', path: basePath + path, query: q ? { q } : {} });
  return (answer[list] as readonly Json[])
    .filter(({ is_lead }) => isLead === undefined || is_lead === isLead)
    .map((item) => ({ name: String(item[shown]), value: item[value] as number }));
};
