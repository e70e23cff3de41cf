import type { Client } from './client.ts';

/**
 * The session's cookie. `__Host-` binds it to this very host and to https; a browser takes no such cookie on
 * plain http://localhost, so there, and nowhere else, it has a plain name.
 */
const secureName = '__Host-causeway';
const plainName = 'causeway';
const token = /^[\w-]{43}$/;

const isLocal = ({ host, https }: Client): boolean =>
  !https && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host);

const nameFor = (client: Client): string => (isLocal(client) ? plainName : secureName);

/** The session's token; empty where there is none, or two: then one of them was planted. */
export const readToken = (cookie: string, client: Client): string => {
  const name = `${nameFor(client)}=`;
  const values = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  const [value = ''] = values;
  return values.length === 1 && token.test(value) ? value : '';
};

/** The value of `Set-Cookie`; an empty token takes the cookie back. It ends with the browser, or when `access` says. */
export const tokenCookie = (value: string, client: Client): string =>
  [
    `${nameFor(client)}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isLocal(client) ? [] : ['Secure']),
    ...(value === '' ? ['Max-Age=0'] : []),
  ].join('; ');
