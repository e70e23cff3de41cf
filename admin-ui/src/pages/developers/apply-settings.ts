import { call, type Input } from '../../model/client.ts';
import type { Step } from './settings-plan.ts';

/** @returns the new secret, if the step makes one. @param headerValue a header without a value is left out */
export const carryOut = async (
  { kind, action, objectId, body, headers, removedHeaders }: Step,
  headerValue: (header: string) => string | undefined,
): Promise<string | undefined> => {
  const params = { id: objectId };
  if (action === 'deleted') {
    await (kind === 'key' ? call('revokeApiKey', { params }) : call('deletePortalSubscription', { params }));
    return undefined;
  }
  if (kind === 'key') {
    if (action === 'new') return (await call('createApiKey', { body } as Input<'createApiKey'>)).value;
    await call('updateApiKey', { params, body } as Input<'updateApiKey'>);
    return undefined;
  }
  const values = [
    ...removedHeaders.map((name) => [name, null] as const),
    ...headers.flatMap((name) => (headerValue(name) ? [[name, headerValue(name)!] as const] : [])),
  ];
  const all = { ...body, ...(values.length > 0 && { headers: Object.fromEntries(values) }) };
  if (action === 'new') {
    const input = { body: all } as Input<'createPortalSubscription'>;
    return (await call('createPortalSubscription', input)).signingSecret;
  }
  if (Object.keys(all).length > 1)
    await call('updatePortalSubscription', { params, body: all } as Input<'updatePortalSubscription'>);
  return undefined;
};
