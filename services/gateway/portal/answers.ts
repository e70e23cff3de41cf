import { deviceHeader, sessionCompanyHeader, sessionTokenHeader } from '@causeway/proto';
import type { AnswerRules } from '../exchange.ts';
import type { Header } from '../limits/policy.ts';
import type { Client } from './client.ts';
import { deviceCookie, tokenCookie } from './cookie.ts';
import { dataPolicy, securityHeaders } from './security-headers.ts';

/**
 * The properties of all answers of the portal to this client.
 * @param namesCompany whether the session's cookie names its company, by which its cell is found.
 */
export const memberAnswers = (client: Client, namesCompany: boolean): AnswerRules => ({
  logged: 'portal request',
  unnamed: 'portalPage',
  always: securityHeaders(client),
  api: dataHeaders,
  shapeOf: () => 'general',
  // `access` decides about the cookies and answers their tokens.
  translate: ({
    [sessionTokenHeader]: token,
    [sessionCompanyHeader]: company,
    [deviceHeader]: device,
    'Content-Type': _,
    ...others
  }) => [
    ...Object.entries(others),
    ...(token === undefined
      ? []
      : [['Set-Cookie', tokenCookie(token, client, namesCompany ? company : undefined)] as const]),
    ...(device === undefined ? [] : [['Set-Cookie', deviceCookie(device, client)] as const]),
  ],
});

const dataHeaders: readonly Header[] = [
  ['Cache-Control', 'no-store'],
  ['Vary', 'Cookie, Origin, Sec-Fetch-Site'],
  dataPolicy,
];
