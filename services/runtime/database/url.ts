import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { ConfigError } from '../config.ts';

export interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly socketPath?: string;
  readonly ssl?: MysqlTls;
}

interface MysqlTls {
  readonly rejectUnauthorized: boolean;
  readonly verifyIdentity?: boolean;
  readonly ca?: string;
}

/**
 * Parses `mysql://user:password@host:port/database?tls=verify&tlsCaFile=/path/ca.pem`.
 *
 * - `tls=verify` encrypts and verifies the server's certificate: it must be for the host name, and from `tlsCaFile`
 * if given, otherwise from one of Node's authorities. `tls=verify-ca` does not check the name, for servers with
 * certificates for other names. `tls=encrypt` encrypts without verifying the server. `tls=off`, the default, does not
 * encrypt.
 * - `socket=/path/mysqld.sock` replaces host and port.
 *
 * mysql2 would accept any of its options in a URL, `multipleStatements` included, so it never gets the URL.
 * @throws ConfigError without the text of the URL, which contains the password.
 */
export const parseMysqlUrl = (text: string): MysqlAddress => {
  if (!URL.canParse(text)) throw new ConfigError('the MySQL URL is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'mysql:') throw new ConfigError('the MySQL URL must begin with mysql://');
  for (const name of url.searchParams.keys()) {
    if (!knownParameters.has(name)) throw new ConfigError(`the MySQL URL has an unknown parameter: ${name}`);
  }
  const socketPath = url.searchParams.get('socket');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1';
  const ssl = readTls(url.searchParams.get('tls'), url.searchParams.get('tlsCaFile'));
  // Without a host name, mysql2 would compare the certificate with `localhost`.
  if (ssl?.verifyIdentity && isIP(host))
    throw new ConfigError('the MySQL URL: tls=verify requires a host name');
  return {
    host,
    port: Number(url.port) || 3306,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(socketPath === null ? {} : { socketPath }),
    ...(ssl === undefined ? {} : { ssl }),
  };
};

export const describeAddress = ({ host, port, socketPath }: MysqlAddress): string =>
  socketPath ?? (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

const knownParameters = new Set(['tls', 'tlsCaFile', 'socket']);

const readTls = (mode: string | null, caFile: string | null): MysqlAddress['ssl'] => {
  switch (mode) {
    case null:
    case 'off':
      return undefined;
    case 'encrypt':
      return { rejectUnauthorized: false };
    case 'verify':
    case 'verify-ca':
      return {
        rejectUnauthorized: true,
        verifyIdentity: mode === 'verify',
        ...(caFile === null ? {} : { ca: readFileSync(caFile, 'utf8') }),
      };
    default:
      throw new ConfigError('the MySQL URL: tls must be verify, verify-ca, encrypt or off');
  }
};
