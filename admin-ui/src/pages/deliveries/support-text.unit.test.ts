import { expect, test } from 'vitest';
import { escaped, fenced, inline, toMarkdown } from './support-text.ts';

test('Nothing that a receiver answers ends its block, makes a link or an image', () => {
  for (const text of ['```\n# Hi', 'a ```` b', '~~~', '', '`', '`a`']) {
    const [first = '', ...rest] = fenced(text).split('\n');
    const fence = /^`+/.exec(first)?.[0] ?? '';
    expect(rest.at(-1)).toBe(fence);
    expect(rest.slice(0, -1).join('\n')).toBe(text);
    expect(text).not.toContain(fence);
  }
  expect(inline('a`b')).toBe('``a`b``');
  expect(inline('`x`')).toBe('`` `x` ``');
  expect(inline('a\n# b')).toBe('`a # b`');
  expect(escaped('![x](https://evil.example) <b> **a**\n# h')).toBe(
    '\\!\\[x\\]\\(https\\:\\/\\/evil\\.example\\) \\<b\\> \\*\\*a\\*\\* \\# h',
  );
});

test('The text for support has what the receiver has to look for', () => {
  const text = toMarkdown(
    {
      ...{ id: '648-2-0', eventId: 648, eventType: 'client.created', state: 'failed', attempts: 1 },
      eventCreatedUtc: '2026-01-15T09:30:00.000Z',
      history: [
        {
          ...{ attempt: 1, startedUtc: '2026-01-15T09:30:01.000Z', elapsedMs: 84, statusCode: 500 },
          ...{ errorClass: 'status', error: 'x', nextAttemptUtc: null },
        },
      ],
    },
    {
      ...{ attempt: 1, startedUtc: '2026-01-15T09:30:01.000Z', nextAttemptUtc: null, success: false },
      ...{ statusCode: 500, elapsedMs: 84, address: null, errorClass: 'status', error: 'x', masked: true },
      timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
      request: {
        ...{ url: 'https://hooks.example.com/a', timestamp: '1', signature: 'sha256=5f0c' },
        headers: [['X-Webhook-Signature', 'sha256=5f0c']],
        body: '{"id":648,"payload":{"client_id":7,"first_name":"•••"}}',
        signedBefore: { hex: '1.', standard: '1.' },
      },
      response: {
        ...{ headers: [['Server', 'x']], body: '{"email":"•••"}' },
        ...{ bodyBase64: false, truncated: false },
      },
    },
  );
  expect(text).toContain('648-2-0');
  expect(text).toContain('sha256=5f0c');
  expect(text).toContain('"client_id":7');
});
