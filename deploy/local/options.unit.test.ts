import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test.each([
  ['--port', '0'],
  ['--port', '65536'],
  ['--port', '80a'],
  ['--gateways', '0'],
  ['--crm', '1.5'],
  ['--dispatchers', '33'],
])('%s %s is refused in a sentence that names the option and the value', (name, value) => {
  expect(() => parseOptions([name, value])).toThrow(
    new RegExp(`^${name} takes a whole number from 1 to \\d+, not "${value}"`),
  );
});

test('an unknown option is refused, with a hint at the list of options', () => {
  expect(() => parseOptions(['--gateway', '2'])).toThrow(/--gateway.*npm start -- --help/);
  expect(() => parseOptions(['now'])).toThrow(/'now'.*npm start -- --help/);
});
