import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test('without options there is one process of each kind on port 8080, in the foreground', () => {
  expect(parseOptions([])).toEqual({
    port: 8080,
    counts: { gateway: 1, access: 1, crm: 1, webhooks: 1, dispatcher: 1, agents: 1 },
    nats: 1,
    detach: false,
    watch: false,
    help: false,
  });
});

test('every count and the port can be chosen', () => {
  const counts = '--gateways 4 --access 2 --crm 3 --webhooks 5 --dispatchers=6 --nats 3';
  const args = `--port 9000 ${counts} --detach --watch`.split(' ');
  expect(parseOptions(args)).toEqual({
    port: 9000,
    counts: { gateway: 4, access: 2, crm: 3, webhooks: 5, dispatcher: 6, agents: 1 },
    nats: 3,
    detach: true,
    watch: true,
    help: false,
  });
});

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
