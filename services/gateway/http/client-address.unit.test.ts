import { expect, test } from 'vitest';
import { clientAddress } from './head.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['0000:0000:0000:0000:0000:ffff:cb00:7107', '203.0.113.7'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['::1', '::1'],
])('the client of a connection from %s is %s', (remote, address) => {
  expect(clientAddress(remote, '', 0)).toBe(address);
});

test('without proxies the client address is that of the connection, whatever the client sends', () => {
  expect(clientAddress('203.0.113.7', '1.2.3.4', 0)).toBe('203.0.113.7');
});

test.each([
  ['9.9.9.9, 203.0.113.7', 1, '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7, 10.0.0.5', 2, '203.0.113.7'],
  ['203.0.113.7:5123', 1, '203.0.113.7'],
  ['[2001:db8::1]:443', 1, '2001:db8::1'],
  ['', 1, '10.0.0.9'],
  ['not an address', 1, '10.0.0.9'],
  ['203.0.113.7', 2, '10.0.0.9'],
])(
  'behind proxies it is the entry that the outermost trusted proxy wrote: %s by %i',
  (written, proxies, address) => {
    expect(clientAddress('10.0.0.9', written, proxies)).toBe(address);
  },
);
