import { expect, test } from 'vitest';
import { networkOf, siteOf } from './network.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('%s is in the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('an IPv6 address belongs to the site of its /48', () => {
  expect(siteOf('2001:db8:1:2::6')).toBe('2001:db8:1');
  expect(siteOf('203.0.113.7')).toBe('203.0.113.7');
});
