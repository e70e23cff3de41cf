import { type ErrorClass, unresolvedHost } from '@causeway/proto';

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly errorClass: ErrorClass;

  constructor(errorClass: ErrorClass, message: string) {
    super(message);
    this.errorClass = errorClass;
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
  const { errors } = error as { errors?: readonly unknown[] };
  const code = codeOf(errors?.[0] ?? error);
  const what: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'The connection was refused.',
    ECONNRESET: 'The connection was ended as soon as it was made.',
    EHOSTUNREACH: 'The host cannot be reached.',
    ENETUNREACH: 'The network of the host cannot be reached.',
    EADDRNOTAVAIL: 'The network of the host cannot be reached.',
    ETIMEDOUT: 'The host does not take connections.',
  };
  return new Failure('connect', what[code] ?? 'No connection could be made.');
};

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
  return new Failure('tls', what[code] ?? 'The TLS handshake failed.');
};

export const requestFailure = (error: Error): Failure => {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new Failure('reset', 'The headers of the answer exceed 16 KiB.');
  if (
    error.name === 'HTTPParserError' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
    /^bad /.test(error.message)
  )
    return new Failure('reset', 'The answer is not valid HTTP/1.1.');
  if (code.startsWith('UND_ERR_INVALID')) return new Failure('reset', 'The request cannot be sent as it is.');
  return new Failure('reset', 'The connection ended before an answer came.');
};
