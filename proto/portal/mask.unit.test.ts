import { describe, expect, test } from 'vitest';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { masked, maskHeaders, maskPayload, maskTargets, maskText, maskUrl } from './mask.ts';

const now = new Date('2026-01-15T09:30:00.000Z');

/** What viewers may read of each type. A new field is added here if they may read it. */
const readable: Readonly<Record<string, readonly string[]>> = {
  'client.created': ['client_id', 'status', 'created_date'],
  'client.status_changed': [
    'client_id',
    'previous_status',
    'new_status',
    'changed_by_employee_id',
    'changed_date',
  ],
  'lead.created': ['client_id', 'status', 'created_date'],
  'invoice.created': [
    ...['invoice_id', 'client_id', 'invoice_number', 'amount', 'currency', 'status'],
    ...['due_date', 'created_date'],
  ],
  'invoice.status_changed': ['invoice_id', 'client_id', 'previous_status', 'new_status', 'changed_date'],
  'payment.succeeded': [
    ...['payment_id', 'client_id', 'invoice_id', 'amount', 'currency', 'payment_method', 'paid_date'],
  ],
  'payment.failed': [
    ...['payment_id', 'client_id', 'invoice_id', 'amount', 'currency', 'payment_method', 'failed_date'],
  ],
  'affiliate.created': ['employee_id', 'is_approved', 'created_date'],
  'document.uploaded': [
    ...['document_id', 'client_id', 'content_type', 'size_bytes', 'uploaded_by_employee_id', 'uploaded_date'],
  ],
  'agreement.signed': ['agreement_id', 'client_id', 'signed_date'],
};

describe.each(eventTypes)('of %s', (type) => {
  const sample = samplePayload(type, now) as Readonly<Record<string, unknown>>;

  test('only the harmless fields are shown', () => {
    const shown = maskPayload(type, sample) as Readonly<Record<string, unknown>>;
    expect(Object.keys(shown)).toEqual(Object.keys(sample));
    expect(Object.keys(shown).filter((name) => shown[name] !== masked)).toEqual(readable[type]);
    for (const name of readable[type]!) expect(shown[name]).toEqual(sample[name]);
    expect(JSON.stringify(shown)).not.toMatch(/Katherine|Johnson|Meitner|Lise|@|555/);
  });

  test('nothing shows that the schema does not mark, whatever stands where', () => {
    const odd = [
      ...[112233, 1.5, true, '1975-12-31', '1975-12-31T00:00:00Z', 'PAYSECRET5', 'has an illness'],
      ...['kit@example.com', '+1 555 010 4477', ['a'], { id: 1 }, [{ client_id: 7, status: 'x' }]],
    ];
    const names = [
      ...[
        'passport',
        'salary',
        'pin',
        'otp',
        'lat',
        'dob',
        'code',
        'reason',
        'state',
        'id',
        'type',
        'api_key_id',
      ],
      ...[
        'secret_type',
        'john.smith-1980',
        'kit@example.com',
        '__proto__',
        'constructor',
        'toString',
        'erased',
      ],
    ];
    for (const value of odd)
      for (const name of names) {
        if (name === 'erased' && value === true) continue;
        const given = Object.fromEntries([...Object.entries(sample), [name, value]]);
        const rest = maskPayload(type, given) as object;
        expect(rest, `${name} ${JSON.stringify(value)}`).toEqual({
          ...(maskPayload(type, sample) as object),
          [masked]: masked,
        });
      }
    // A test event may have any value in any field.
    for (const [name, field] of Object.entries(eventDefinitions[type].payload.shape))
      for (const value of [...odd, 'x'.repeat(101)]) {
        const shown = (maskPayload(type, { [name]: value }) as Readonly<Record<string, unknown>>)[name];
        const fits = readable[type]!.includes(name) && field.safeParse(value).success;
        const isTelling = typeof value === 'string' && /@|555|1975-12-31$|x{101}/.test(value);
        expect(shown, `${name} ${JSON.stringify(value)}`).toEqual(fits && !isTelling ? value : masked);
      }
    for (const value of odd)
      if (typeof value !== 'object' || Array.isArray(value)) expect(maskPayload(type, value)).toBe(masked);
  });
});

test('a type that is not known shows nothing, and an erased person only that', () => {
  expect(maskPayload('client.gone', { client_id: 7 })).toEqual({ [masked]: masked });
  expect(maskPayload('client.created', { client_id: 7, erased: true })).toEqual({
    client_id: 7,
    erased: true,
  });
});

test('an answer of a receiver is masked by the fields of all types', () => {
  expect(maskText('{"client_id":7,"status":"ok","ok":true,"message":"Hello Kit","first_name":"Kit"}')).toBe(
    `{"client_id":7,"status":"ok","${masked}":"${masked}","first_name":"${masked}"}`,
  );
  for (const text of ['Hello Kit', '"Kit"', '7', 'true', '[{"client_id":7}]'])
    expect(maskText(text)).toMatch(/^"?•••"?$/);
  expect(maskText('')).toBe('');
});

test('a condition shows its field and whether it exists, and values of harmless fields', () => {
  const conditions = [
    { field: 'first_name', equals: 'Kit' },
    { field: 'first_name', exists: true },
    { field: 'is_approved', equals: true },
    { field: 'status', in: ['Client - Active', 'kit@example.com'] },
    { field: 'amount', min: 5 },
    { field: 'commission_rate', max: 5 },
  ];
  expect(maskTargets({ conditions })).toEqual({
    conditions: [
      { field: 'first_name', equals: masked },
      { field: 'first_name', exists: true },
      { field: 'is_approved', equals: true },
      { field: 'status', in: ['Client - Active', masked] },
      { field: 'amount', min: 5 },
      { field: 'commission_rate', max: masked },
    ],
  });
});

test.each([
  ['https://hooks.example.com/causeway', 'https://hooks.example.com/causeway'],
  ['https://hooks.example.com:8443/v1/in-bound/', 'https://hooks.example.com:8443/v1/in-bound/'],
  ['https://kit:secret@example.com/a', `https://${masked}@example.com/a`],
  ['https://example.com/a?token=s3cret&b=&c', `https://example.com/a?token=${masked}&b=${masked}&${masked}`],
  ['https://example.com/a?S3CRET=x', `https://example.com/a?${masked}`],
  [
    'https://hooks.example.com/services/T024BE7LD/b0g9/s3CrEt',
    `https://hooks.example.com/services/${masked}/${masked}/${masked}`,
  ],
  ['https://example.com/abcdefghijklmnopqrstuvwxyz', `https://example.com/${masked}`],
  ['https://example.com/a#s3cret', `https://example.com/a#${masked}`],
  ['no URL', masked],
])('a viewer sees no token in the URL %s', (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});

test('a viewer sees only the values of headers that hold no token', () => {
  const headers = [
    ['Content-Type', 'application/json'],
    ['Authorization', 'Bearer s3cret'],
    ['Set-Cookie', 'session=s3cret'],
    ['X-Api-Key', 's3cret'],
    ['X-Webhook-Event', 'lead.created'],
    ['Location', 'https://example.com/?token=s3cret'],
  ] as const;
  const shown = maskHeaders(headers);
  expect(JSON.stringify(shown)).not.toContain('s3cret');
  expect(shown.filter(([, value]) => value !== masked).map(([name]) => name)).toEqual([
    'Content-Type',
    'X-Webhook-Event',
  ]);
});

test('URLs and headers of an answer are masked at any depth', () => {
  expect(
    maskTargets({
      list: [{ url: 'https://example.com/?a=1', n: 1, url2: null }],
      headers: [['Cookie', 'a']],
    }),
  ).toEqual({
    list: [{ url: `https://example.com/?a=${masked}`, n: 1, url2: null }],
    headers: [['Cookie', masked]],
  });
});
