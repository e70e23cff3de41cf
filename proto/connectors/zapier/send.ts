import type { Bundle, ZObject } from 'zapier-platform-core';
import { type ConnectorRequest, type Json, problemOf, rootOf } from '../request.ts';

/**
 * Sends a request with the connection's key. Zapier refuses or drops a value with `{{…}}` in it, also where it is a person's
 * text: so two braces are written apart, and stand together again in what is sent.
 * @returns the answer's body; empty for 204, and for the status `emptyOn`
 * @throws Zapier's errors: one that waits and tries again (429, 503), one that asks for a new connection (401), or one
 *   that stops the step with a sentence
 */
export const send = async (
  z: ZObject,
  { authData }: Pick<Bundle, 'authData'>,
  request: Omit<ConnectorRequest, 'method'> & { readonly method: ConnectorRequest['method'] | 'DELETE' },
  { emptyOn = 204 } = {},
): Promise<Json> => {
  const { method, path, query, body } = request;
  const options = {
    method,
    params: Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, value.replaceAll('{{', '{\0{')]),
    ),
    encodeURIComponent: (text: string) => encodeURIComponent(text).replaceAll('%00', ''),
    ...(body && { body: JSON.stringify(body).replaceAll('{{', '{\\u007b') }),
    headers: {
      'X-Api-Key': authData.apiKey!,
      'Content-Type': 'application/json',
      Accept: 'application/json',
    },
    // The key goes to no other host.
    redirect: 'manual' as const,
    skipThrowForStatus: true,
    throwForThrottlingEarly: false,
  };
  const answer = await z.request(rootOf(authData.baseUrl!) + path, options);
  const { status } = answer;
  const json = jsonIn(answer.content);
  if (status >= 200 && status < 300) return json;
  if (status === emptyOn) return {};
  const problem = problemOf(status, json, answer.getHeader('x-request-id'));
  if (problem.retryAfter !== undefined)
    throw new z.errors.ThrottledError(problem.message, problem.retryAfter);
  if (status === 401) throw new z.errors.ExpiredAuthError(problem.message);
  throw new z.errors.Error(problem.message, 'refused', status);
};

const jsonIn = (text: string): Json => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};
