import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** An authenticator of WebAuthn with one credential (ES256), which a test may let lie. */
export const newAuthenticator = (origin: string, host = 'localhost') => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let handle = Buffer.alloc(0);
  let counter = 0;
  const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
  const clientData = (type: string, challenge: string, from: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const head = (flags: number): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(host), Buffer.from([flags]), count]);
  };
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  const outer = { id: text(id), rawId: text(id), type: 'public-key', clientExtensionResults: {} };

  return {
    /** @param options of `startPasskey`. */
    create: (
      options: { readonly challenge: string; readonly user: { readonly id: string } },
      from = origin,
    ) => {
      handle = Buffer.from(options.user.id, 'base64url');
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      // CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
      const key = Buffer.concat([
        Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]),
        Buffer.from(x, 'base64url'),
        Buffer.from([0x22, 0x58, 32]),
        Buffer.from(y, 'base64url'),
      ]);
      const data = Buffer.concat([head(0x45), Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      // CBOR: {fmt: 'none', attStmt: {}, authData: data}
      const attestation = Buffer.concat([
        Buffer.from([0xa3, 0x63]),
        Buffer.from('fmt'),
        Buffer.from([0x64]),
        Buffer.from('none'),
        Buffer.from([0x67]),
        Buffer.from('attStmt'),
        Buffer.from([0xa0, 0x68]),
        Buffer.from('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ]);
      const client = clientData('webauthn.create', options.challenge, from);
      return { ...outer, response: { clientDataJSON: text(client), attestationObject: text(attestation) } };
    },
    get: (
      { challenge }: { readonly challenge: string },
      lies: {
        readonly from?: string;
        readonly counts?: number;
        readonly verified?: boolean;
        readonly as?: string;
      } = {},
    ) => {
      counter += lies.counts ?? 1;
      const client = clientData('webauthn.get', challenge, lies.from ?? origin);
      const data = head(lies.verified === false ? 0x01 : 0x05);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return {
        ...outer,
        response: {
          clientDataJSON: text(client),
          authenticatorData: text(data),
          signature: text(signature),
          userHandle: lies.as ?? text(handle),
        },
      };
    },
    handle: () => text(handle),
  };
};
