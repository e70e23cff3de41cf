import { expect, test } from 'vitest';
import { deliveryPorts, portOf, portProblem } from './addresses.ts';

const strict = { allowHttp: false, allowPrivate: false };

test('without configured ports deliveries go to those of HTTPS, and in development to any port', () => {
  expect(deliveryPorts(undefined, strict)).toEqual(new Set([443, 8443]));
  expect(deliveryPorts(undefined, { ...strict, allowHttp: true })).toBe('any');
  expect(deliveryPorts(undefined, { ...strict, allowPrivate: true })).toBe('any');
  expect(deliveryPorts(new Set([443]), { allowHttp: true, allowPrivate: true })).toEqual(new Set([443]));
});

test.each([
  ['https://a.example', 443],
  ['https://a.example:443/', 443],
  ['http://a.example/', 80],
  ['https://a.example:8443', 8443],
  ['https://a.example:0', 0],
])('%s has port %i', (url, port) => {
  expect(portOf(new URL(url))).toBe(port);
});

test('a port that is not allowed is refused with the allowed ones', () => {
  const ports = new Set([8443, 443]);
  expect(portProblem(new URL('https://a.example'), ports)).toBeUndefined();
  expect(portProblem(new URL('https://a.example:8443'), ports)).toBeUndefined();
  expect(portProblem(new URL('https://a.example:6379'), ports)).toBe(
    '6379; deliveries go to these ports only: 443, 8443; an operator allows others with WEBHOOKS_PORTS',
  );
  expect(portProblem(new URL('https://a.example:6379'), 'any')).toBeUndefined();
  expect(portProblem(new URL('https://a.example:0'), 'any')).toBe('0; a port is from 1 to 65535');
});
