import { expect, test } from 'vitest';
import { personActions } from './people.ts';
import { createKeysUnderWay, keysOf, stepsOf } from './steps.ts';

const { create: createLead, update: updateLead } = personActions.lead;

const create = (companyId: number, external_id?: string, idempotencyKey?: string) =>
  ({
    action: createLead,
    keys: keysOf(createLead, { companyId, recordId: 0, body: { external_id } } as never),
    identity: idempotencyKey && {
      companyId,
      key: Buffer.from(idempotencyKey),
      fingerprint: Buffer.from('request'),
    },
  }) as never;
const update = (companyId: number, recordId: number, external_id?: string) =>
  ({
    action: updateLead,
    keys: keysOf(updateLead, { companyId, recordId, body: { external_id } } as never),
  }) as never;

test('calls for one record are in steps of their own, and calls of one kind for others share one', () => {
  const [first, same, other] = [create(1, 'a'), create(1, 'a'), create(2, 'a')];
  expect(stepsOf([first, same, other])).toEqual([[first, other], [same]]);
});

test.each([
  ['other records', create(1, 'b'), true],
  ['a record without an external id', create(1), true],
  ['the record of another company', create(2, 'a'), true],
  ['the same record', create(1, 'a'), false],
  ['a record that takes the external id of another', update(1, 9, 'a'), false],
  ['another record that is changed', update(1, 8), true],
  ['the record that is changed', update(1, 7), false],
  ['another request with the same Idempotency-Key', create(1, 'b', 'k'), false],
  ['the same Idempotency-Key in another company', create(2, 'b', 'k'), true],
])('beside a group, %s', (_, call, isFree) => {
  const underWay = createKeysUnderWay();
  const end = underWay.begin([create(1, 'a'), update(1, 7), create(1, 'c', 'k')]);
  expect(underWay.isFree([create(3, 'z'), call])).toBe(isFree);
  end();
  expect(underWay.isFree([call])).toBe(true);
});

test('a third group is not free, whatever it changes', () => {
  const underWay = createKeysUnderWay();
  const end = underWay.begin([create(1, 'a')]);
  underWay.begin([create(1, 'b')]);
  expect(underWay.isFree([create(2, 'c')])).toBe(false);
  end();
  expect(underWay.isFree([create(2, 'c')])).toBe(true);
});
