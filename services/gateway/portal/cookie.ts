import type { Client } from './client.ts';

/**
 * The session's cookie. `__Host-` binds it to this very host and to https; a browser takes no such cookie on
 * plain http://localhost, so there, and nowhere else, it has a plain name.
 */
const secureName = '__Host-causeway';
const plainName = 'causeway';
const token = /^[\w-]{43}$/;
/** Which members have signed in with this browser before; `access` says, and checks it. */
const device = /^[\w.-]{1,300}$/;
/** 400 days: browsers keep no cookie longer. */
const deviceSeconds = 400 * 86_400;

const isLocal = ({ host, https }: Client): boolean =>
  !https && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host);

const nameFor = (client: Client, suffix = ''): string => (isLocal(client) ? plainName : secureName) + suffix;
const deviceSuffix = '-device';

/** The session's token; empty where there is none, or two: then one of them was planted. */
export const readToken = (cookie: string, client: Client): string => read(cookie, nameFor(client), token);

/** The cookie of known devices; empty as above. */
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

/** The value of `Set-Cookie`; an empty token takes the cookie back. It ends with the browser, or when `access` says. */
export const tokenCookie = (value: string, client: Client): string =>
  write(nameFor(client), value, client, value === '' ? 0 : undefined);

/** The same for known devices. It outlives the session. */
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
