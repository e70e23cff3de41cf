// Not the whole contract: each thread would take half a second of processor time to load it.
import {
  type OpenSecret,
  openedSecret,
  signatureHeader,
  standardSignatureHeader,
} from '@causeway/proto/signatures';
import { type KeyRing, openSecret } from '@causeway/runtime/sealed-secret';
import { workerData } from 'piscina';

// Hot: copying an object with its own arrays for each delivery to and from the thread took as long as signing.

export interface SignTask {
  readonly timestamp: number;
  /** `numbersEach` for each delivery: company, event, and how many bytes each of the next four has. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** For each delivery its sealed secret, the previous one if it is valid still, its own headers, and the body. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const numbersEach = 6;
export const linesEach = 3;

/**
 * The signing threads are the only place where secrets are decrypted.
 * @returns three lines for each delivery: its signatures and the JSON of its own headers; or an empty line and an error.
 */
export default ({ timestamp, numbers, bytes }: SignTask): string => {
  const lines: string[] = [];
  let at = 0;
  const next = (length: number): Buffer => {
    at += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset + at - length, length);
  };
  for (let at = 0; at < numbers.length; at += numbersEach) {
    const [companyId, eventId, ...lengths] = numbers.subarray(at, at + numbersEach) as unknown as Numbers;
    const [sealed, previous, headers, body] = lengths.map(next) as [Buffer, Buffer, Buffer, Buffer];
    try {
      const secrets = [opened(companyId, sealed)];
      if (previous.length > 0) secrets.push(opened(companyId, previous));
      lines.push(
        signatureHeader(secrets, timestamp, body),
        standardSignatureHeader(secrets, eventId, timestamp, body),
        headers.length > 0 ? openSecret(workerData as KeyRing, companyId, headers) : '',
      );
    } catch (error) {
      lines.push('', (error as Error).message.replaceAll('\n', ' '), '');
    }
  }
  return lines.join('\n');
};

type Numbers = [companyId: number, eventId: number, ...lengths: number[]];

const maxSecrets = 10_000;
let secretsByBytes = new Map<string, OpenSecret & { readonly companyId: number }>();

/** A sealed secret opens for its own company only. */
const opened = (companyId: number, sealed: Buffer): OpenSecret => {
  const name = sealed.toString('latin1');
  const opened = secretsByBytes.get(name);
  if (opened?.companyId === companyId) return opened;
  const secret = { ...openedSecret(openSecret(workerData as KeyRing, companyId, sealed)), companyId };
  if (secretsByBytes.size >= maxSecrets) secretsByBytes = new Map();
  secretsByBytes.set(name, secret);
  return secret;
};
