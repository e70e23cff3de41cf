import { isIPv4 } from 'node:net';
import { type ErrorClass, unresolvedHost } from '@causeway/proto';

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly errorClass: ErrorClass;
  /** The code of a fault on our side, for which the receiver cannot be blamed. */
  readonly ownFault: string | null;

  constructor(errorClass: ErrorClass, message: string, ownFault: string | null = null) {
    super(message);
    this.errorClass = errorClass;
    this.ownFault = ownFault;
  }
}

export const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

/** Blocked addresses use the same message (`unresolvedHost`). */
export const ofLookup = (host: string, error: unknown): Failure => {
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'ENODATA') return new Failure('dns', unresolvedHost(host));
  const what: Readonly<Record<string, string>> = {
    ESERVFAIL: 'could not be resolved: its name servers failed',
    EREFUSED: 'could not be resolved: its name servers refused to answer',
    EBADNAME: 'is not a name that can be looked up',
  };
  return new Failure('dns', `The host ${host} ${what[code] ?? 'could not be resolved'}.`);
};

export const ofConnect = (error: unknown): Failure => {
  const { errors = [error] } = error as { errors?: readonly unknown[] };
  const code = codeOf(errors[0]);
  if (errors.every(isOwnFault))
    return new Failure('connect', 'Causeway could not open a connection, for a reason on its side.', code);
  const what: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'The connection was refused.',
    ECONNRESET: 'The connection was ended as soon as it was made.',
    EHOSTUNREACH: 'The host cannot be reached.',
    ENETUNREACH: 'The network of the host cannot be reached.',
    ETIMEDOUT: 'The host does not take connections.',
  };
  return new Failure('connect', what[code] ?? 'No connection could be made.');
};

/** No descriptor, port or memory, or refused by this machine's own network. Without IPv6 here, a host may have nothing else. */
const isOwnFault = (error: unknown): boolean =>
  ownFaults.has(codeOf(error)) ||
  (codeOf(error) === 'ENETUNREACH' && isIPv4((error as { address?: string }).address ?? ''));
const ownFaults: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'EAGAIN',
  'EPERM',
  'EACCES',
]);

export const ofTls = (error: unknown): Failure => {
  const code = codeOf(error);
  const what: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: 'The certificate has expired.',
    CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
    CERT_REVOKED: 'The certificate has been revoked.',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
    SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is of an authority that is not trusted.',
    UNABLE_TO_GET_ISSUER_CERT: 'The certificate is of an authority that is not trusted.',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is of an authority that is not trusted.',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      'The certificate is of an authority that is not trusted, or the ones between it and its authority are not sent.',
    ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is of another host.',
    HOSTNAME_MISMATCH: 'The certificate is of another host.',
    ERR_SSL_WRONG_VERSION_NUMBER: 'The receiver does not speak TLS on this port.',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The receiver does not speak TLS on this port.',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'The receiver speaks no version of TLS from 1.2 on.',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'The receiver speaks no version of TLS from 1.2 on.',
    ECONNRESET: 'The connection ended during the TLS handshake.',
    EPIPE: 'The connection ended during the TLS handshake.',
  };
  const { message } = error as Error;
  const sentence =
    what[code] ??
    alerts[Number(/alert number (\d+)/.exec(message)?.[1])] ??
    weakCertificates.find(([pattern]) => pattern.test(message))?.[1];
  return new Failure('tls', sentence ?? 'The TLS handshake failed.');
};

const certificateWanted = 'The receiver wants a client certificate, which Causeway does not have.';
/** By number (RFC 8446, section 6.2). Those about our certificate come after the handshake of TLS 1.3. */
const alerts: Readonly<Record<number, string>> = {
  40: 'The receiver refused the TLS handshake: it has no cipher in common with Causeway, or wants a client certificate, which Causeway does not have.',
  42: certificateWanted,
  43: certificateWanted,
  44: certificateWanted,
  45: certificateWanted,
  46: certificateWanted,
  48: certificateWanted,
  116: certificateWanted,
};

/** OpenSSL's texts for what Node has no code for. */
const weakCertificates: readonly (readonly [RegExp, string])[] = [
  [/key too (small|weak)/i, 'A certificate of the receiver has a key that is too short.'],
  [/(md|digest) too weak/i, 'A certificate of the receiver is signed with a digest that is too weak.'],
];

export const requestFailure = (error: Error): Failure => {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new Failure('reset', 'The headers of the answer exceed 16 KiB.');
  if (code.startsWith('ERR_SSL_')) return ofTls(error);
  if (
    error.name === 'HTTPParserError' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
    /^bad /.test(error.message)
  ) {
    const why = /\((.+)\)$/.exec(error.message)?.[1];
    return new Failure('reset', `The answer is not valid HTTP/1.1${why ? `: ${why}` : ''}.`);
  }
  if (code.startsWith('UND_ERR_INVALID')) return new Failure('reset', 'The request cannot be sent as it is.');
  return new Failure('reset', 'The connection ended before an answer came.');
};
