import { deviceHeader, sessionTokenHeader } from '@causeway/proto';
import type { AnswerRules } from '../exchange.ts';
import type { Header } from '../limits/limiter.ts';
import type { Client } from './visit.ts';

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

/** If data is ever shown as a page, nothing in it may run or be framed. */
const dataPolicy: Header = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];

const dataHeaders: readonly Header[] = [
  ['Cache-Control', 'no-store'],
  ['Vary', 'Accept-Encoding, Cookie, Origin, Sec-Fetch-Site'],
  dataPolicy,
];

/**
 * `__Host-` binds the cookie to this host and to https. Browsers refuse such a cookie on plain
 * http://localhost, so only there it has a name without the prefix.
 */
const secureName = '__Host-causeway';
const plainName = 'causeway';
const token = /^[\w-]{43}$/;
/** Names the members who have signed in with this browser; `access` issues and checks it. */
const device = /^[\w.-]{1,300}$/;
/** 400 days, the longest time that browsers keep a cookie. */
const deviceSeconds = 400 * 86_400;

const isLocal = ({ host, https }: Client): boolean =>
  !https && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host);

const nameFor = (client: Client, suffix = ''): string => (isLocal(client) ? plainName : secureName) + suffix;
const deviceSuffix = '-device';

/** Empty if there is no token, or two, because then one was planted. */
export const readToken = (cookie: string, client: Client): string => read(cookie, nameFor(client), token);

/** Empty in the same cases as `readToken`. */
export const readDevice = (cookie: string, client: Client): string =>
  read(cookie, nameFor(client, deviceSuffix), device);

const read = (cookie: string, cookieName: string, valid: RegExp): string => {
  const name = `${cookieName}=`;
  const values = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  const [value = ''] = values;
  return values.length === 1 && valid.test(value) ? value : '';
};

/** An empty token deletes the cookie. It lasts until the browser closes or `access` ends it. */
export const tokenCookie = (value: string, client: Client): string =>
  write(nameFor(client), value, client, value === '' ? 0 : undefined);

export const deviceCookie = (value: string, client: Client): string =>
  write(nameFor(client, deviceSuffix), value, client, deviceSeconds);

const write = (name: string, value: string, client: Client, seconds: number | undefined): string =>
  [
    `${name}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isLocal(client) ? [] : ['Secure']),
    ...(seconds === undefined ? [] : [`Max-Age=${seconds}`]),
  ].join('; ');

const always: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];
const https: Header = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'];

const securityHeaders = (client: Client): readonly Header[] => (client.https ? [...always, https] : always);

/** A page may run and load its own files and connect to its own origin, nothing else. */
export const pagePolicy: Header = [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
];

export const pagePermissions: Header = [
  'Permissions-Policy',
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-write=(self)',
];
