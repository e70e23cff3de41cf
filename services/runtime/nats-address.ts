import { readFileSync } from 'node:fs';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { ConnectionOptions } from '@nats-io/transport-node';
import { ConfigError } from './config.ts';
import type { CommonConfig } from './process.ts';

/** PEM files, read again for each connection, so that a certificate can be replaced while a process runs. */
export interface NatsFiles {
  /** Node's authorities by default. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

export const natsAddress = (config: NatsConfig): { readonly url: string; readonly files: NatsFiles } => ({
  url: config.NATS_URL,
  files: { caFile: config.NATS_CA_FILE, certFile: config.NATS_CERT_FILE, keyFile: config.NATS_KEY_FILE },
});

type NatsConfig = Pick<CommonConfig, 'NATS_URL' | 'NATS_CA_FILE' | 'NATS_CERT_FILE' | 'NATS_KEY_FILE'>;
type Entry = Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'tls'>;

/**
 * Reads `tls://user:password@host:port,tls://host:port,…`. With `tls://` the process sends nothing to a server that
 * does not encrypt, or whose certificate is not for its host name and from a trusted authority; `nats://` is plain.
 * The first URL holds the user, and all have the same scheme.
 * @throws ConfigError without the URL's text, which holds the password.
 */
export const parseNatsUrl = (text: string, files: NatsFiles = {}): Entry => {
  const servers = text.split(',').map((server) => URL.parse(server.trim()));
  const [first] = servers;
  if (!first || !servers.every((server) => server !== null))
    throw new ConfigError('NATS_URL is not a list of URLs');
  const [scheme, other] = new Set(servers.map(({ protocol }) => protocol));
  if (other !== undefined || !(scheme === 'nats:' || scheme === 'tls:'))
    throw new ConfigError('each URL of NATS_URL must begin with tls://, or each with nats://');
  requireFiles(files, scheme);
  return {
    servers: servers.map(({ host }) => host),
    ...(first.username ? { user: decodeURIComponent(first.username) } : {}),
    ...(first.password ? { pass: decodeURIComponent(first.password) } : {}),
    ...(scheme === 'tls:' ? { tls: tlsOptions(files, servers) } : {}),
  };
};

const requireFiles = (files: NatsFiles, scheme: string): void => {
  for (const [name, file] of Object.entries({
    NATS_CA_FILE: files.caFile,
    NATS_CERT_FILE: files.certFile,
    NATS_KEY_FILE: files.keyFile,
  })) {
    if (file === undefined) continue;
    if (scheme !== 'tls:') throw new ConfigError(`${name} has no effect while NATS_URL begins with nats://`);
    try {
      readFileSync(file);
    } catch {
      throw new ConfigError(`${name}: the file cannot be read`);
    }
  }
  if ((files.certFile === undefined) !== (files.keyFile === undefined))
    throw new ConfigError('NATS_CERT_FILE and NATS_KEY_FILE go together');
};

const tlsOptions = ({ caFile, certFile, keyFile }: NatsFiles, servers: readonly URL[]) => {
  const names = servers.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, '$1'));
  return {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
    // The client passes a server's host name, but none for an IP address, and Node would then check the certificate
    // for `localhost`. So the certificate must be for one of the servers listed here.
    checkServerIdentity: (name: string, certificate: PeerCertificate): Error | undefined => {
      const asked = names.includes(name) ? [name] : names;
      const problems = asked.map((one) => checkServerIdentity(one, certificate));
      return problems.some((problem) => problem === undefined) ? undefined : problems[0];
    },
  };
};

export class TlsProblem extends Error {
  override readonly name = 'TlsProblem';
}

export const tlsError = (error: unknown): unknown => {
  const problem = problemOf(error);
  return problem === undefined ? error : new TlsProblem(problem, { cause: error });
};

const problemOf = (error: unknown): string | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    if (/does not support 'tls'|'tls' is not available/.test(message))
      return 'NATS_URL asks for TLS, and the NATS server offers none';
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
      return `the NATS server's certificate is for another host: ${message}`;
    if (code === 'CERT_HAS_EXPIRED') return "the NATS server's certificate has expired";
    if (unknownAuthority.test(code))
      return "the NATS server's certificate is not from an authority in NATS_CA_FILE, or known to Node";
    if (/CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA/.test(code))
      return 'the NATS server requires a client certificate that it trusts: set NATS_CERT_FILE and NATS_KEY_FILE';
    if (code.startsWith('ERR_SSL_')) return `TLS with the NATS server failed: ${message}`;
  }
  return undefined;
};

const unknownAuthority = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;
