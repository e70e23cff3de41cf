import { deviceHeader, sessionTokenHeader } from '@causeway/proto';
import type { AnswerRules } from '../exchange.ts';
import type { Header } from '../limits/policy.ts';
import type { Client } from './client.ts';
import { deviceCookie, tokenCookie } from './cookie.ts';
import { dataPolicy, securityHeaders } from './security-headers.ts';

/** The properties of all answers of the portal to this client. */
export const memberAnswers = (client: Client): AnswerRules => ({
  logged: 'portal request',
  unnamed: 'portalPage',
  always: securityHeaders(client),
  api: dataHeaders,
  shapeOf: () => 'general',
  // `access` decides about the cookies and answers their tokens.
  translate: ({ [sessionTokenHeader]: token, [deviceHeader]: device, 'Content-Type': _, ...others }) => [
    ...Object.entries(others),
    ...(token === undefined ? [] : [['Set-Cookie', tokenCookie(token, client)] as const]),
    ...(device === undefined ? [] : [['Set-Cookie', deviceCookie(device, client)] as const]),
  ],
});

const dataHeaders: readonly Header[] = [
  ['Cache-Control', 'no-store'],
  ['Vary', 'Cookie, Origin, Sec-Fetch-Site'],
  dataPolicy,
];
