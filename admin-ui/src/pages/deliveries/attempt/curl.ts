interface Request {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The request as a command for a shell, signature and all, so that it can be sent to a receiver under repair. */
export const toCurl = ({ url, headers, body }: Request): string =>
  [
    `curl -X POST ${quote(url)}`,
    ...headers
      .filter(([name]) => !/^(?:host|content-length|connection)$/i.test(name))
      .map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
