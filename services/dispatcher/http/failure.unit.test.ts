import { expect, test } from 'vitest';
import { ofConnect, ofTls } from './failure.ts';

const failed = (code: string, address?: string) => Object.assign(new Error(code), { code, address });

test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL', 'EPERM', 'EACCES'])(
  '%s is a fault on our side',
  (code) => {
    expect(ofConnect(failed(code))).toMatchObject({ errorClass: 'connect', ownFault: code });
    expect(ofConnect({ errors: [failed(code), failed('EPERM')] })).toMatchObject({ ownFault: code });
    expect(ofConnect({ errors: [failed(code), failed('ECONNREFUSED')] })).toMatchObject({ ownFault: null });
  },
);

test.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT', 'EANYTHING'])(
  '%s is a fault of the receiver',
  (code) => expect(ofConnect(failed(code))).toMatchObject({ errorClass: 'connect', ownFault: null }),
);

test('a machine without a route for IPv4 is at fault, and one without IPv6 is not', () => {
  expect(ofConnect(failed('ENETUNREACH', '203.0.113.7'))).toMatchObject({ ownFault: 'ENETUNREACH' });
  expect(ofConnect(failed('ENETUNREACH', '2001:db8::7'))).toMatchObject({ ownFault: null });
});

test.each([
  ['EE certificate key too weak', 'A certificate of the receiver has a key that is too short.'],
  ['CA md too weak', 'A certificate of the receiver is signed with a digest that is too weak.'],
  ['something else', 'The TLS handshake failed.'],
])('the TLS error "%s" is named', (message, sentence) => {
  expect(ofTls(new Error(message)).message).toBe(sentence);
});
