import type { Answer } from '../../../api/types.ts';

type Request = Answer<'testPortalSubscription'>['request'];

/** The request as a command for a shell, signature and all, so that it can be sent to a receiver under repair. */
export const toCurl = ({ url, headers, body }: Pick<Request, 'url' | 'headers' | 'body'>): string =>
  [
    `curl -X POST ${quote(url)}`,
    ...headers
      .filter(([name]) => !/^(?:host|content-length|connection)$/i.test(name))
      .map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
