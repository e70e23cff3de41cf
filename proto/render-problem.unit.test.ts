import { describe, expect, test } from 'vitest';
import * as e from './errors.ts';
import { type ExceededLimit, renderLimitExceeded, renderProblem } from './render-problem.ts';

const render = (shape: 'general' | 'lookup', facts: e.ProblemFacts) => {
  const { status, headers, body } = renderProblem(shape, facts, { requestId: 'req-1' });
  return { status, headers, body: JSON.parse(body) };
};
const jsonHeader = { 'Content-Type': 'application/json' };

describe('the general shape', () => {
  test('of a 400 names the first problem and lists all', () => {
    const details = [
      { field: 'a', code: 'required', message: 'a is required' },
      { field: 'b', code: 'wrong_kind', message: 'b must be a string' },
    ] as const;
    expect(render('general', e.invalid(details, { hint: 'h' }))).toEqual({
      status: 400,
      headers: jsonHeader,
      body: { error: 'a is required', details, hint: 'h' },
    });
  });

  test('of a 401 says nothing about the key', () => {
    expect(render('general', e.problem('unauthorized'))).toEqual({
      status: 401,
      headers: { ...jsonHeader, 'WWW-Authenticate': 'ApiKey header="X-Api-Key"' },
      body: { error: 'missing or invalid API key' },
    });
  });

  test('of a 403 names the scope', () => {
    expect(render('general', e.missingScope('events:read'))).toMatchObject({
      status: 403,
      body: { error: 'the API key does not have the scope events:read' },
    });
  });

  test('of an edit of a tool-managed subscription', () => {
    expect(render('general', e.toolManaged('zapier'))).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('zapier'), managed_by: 'zapier', is_tool_managed: true },
    });
  });

  test('of a 404 names the kind of record', () => {
    expect(render('general', e.notFound('event')).body).toEqual({ error: 'event not found' });
    expect(render('general', e.notFound()).body).toEqual({ error: 'not found' });
  });

  test('of a 405 carries Allow', () => {
    expect(render('general', e.methodNotAllowed('GET, HEAD'))).toEqual({
      status: 405,
      headers: { ...jsonHeader, Allow: 'GET, HEAD' },
      body: { error: 'method not allowed' },
    });
  });

  test('of a 413, 501 and 504', () => {
    expect(render('general', e.problem('payload_too_large'))).toMatchObject({
      status: 413,
      body: { error: expect.any(String) },
    });
    expect(render('general', e.problem('not_implemented'))).toMatchObject({
      status: 501,
      body: { error: expect.any(String) },
    });
    expect(render('general', e.problem('timeout'))).toEqual({
      status: 504,
      headers: jsonHeader,
      body: { error: expect.any(String), reason: 'timeout' },
    });
  });

  test('of a 500 names the request and leaks nothing of the cause', () => {
    const stranger = Object.assign(new Error('SELECT secret FROM host-7'), { sql: 'SELECT' });
    expect(render('general', e.toProblem(stranger))).toEqual({
      status: 500,
      headers: jsonHeader,
      body: { error: 'internal error', requestId: 'req-1' },
    });
    expect(e.toProblem(stranger).cause).toBe(stranger);
  });

  test('of a lock timeout', () => {
    expect(render('general', e.problem('lock_timeout'))).toEqual({
      status: 503,
      headers: { ...jsonHeader, 'Retry-After': '1' },
      body: { error: expect.any(String), reason: 'lock_timeout', retryAfter: 1, message: expect.any(String) },
    });
  });

  test.each(['keys_unavailable', 'service_unavailable'] as const)('of a 503 %s', (code) => {
    expect(render('general', e.problem(code))).toEqual({
      status: 503,
      headers: { ...jsonHeader, 'Retry-After': '1' },
      body: { error: expect.any(String), reason: code },
    });
  });
});

describe('the lookup shape', () => {
  test.each([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['not_found', 404],
    ['internal_error', 500],
    ['not_implemented', 501],
  ] as const)('of %s has its code and a message', (code, status) => {
    const answer = render('lookup', e.problem(code));
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error_code: code,
      message: e.errorCodes[code].message,
      ...(status === 500 && { requestId: 'req-1' }),
    });
  });

  test('of a 400 lists all problems too', () => {
    expect(render('lookup', e.invalidField('q', 'too_short', 'q is bad')).body).toEqual({
      error_code: 'invalid_request',
      message: 'q is bad',
      details: [{ field: 'q', code: 'too_short', message: 'q is bad' }],
    });
  });

  test('of a lock timeout has the reason and the wait', () => {
    expect(render('lookup', e.problem('lock_timeout'))).toEqual({
      status: 503,
      headers: { ...jsonHeader, 'Retry-After': '1' },
      body: {
        error_code: 'lock_timeout',
        message: expect.any(String),
        reason: 'lock_timeout',
        retryAfter: 1,
      },
    });
  });
});

describe('an exceeded limit', () => {
  const exceeded: ExceededLimit = {
    name: 'read',
    limit: 60,
    window: '1m',
    resetMs: Date.parse('2026-01-15T09:31:00Z'),
    nowMs: Date.parse('2026-01-15T09:30:41.500Z'),
    currentUsage: 61,
  };

  test('in the general shape has the wait, the limit and the usage', () => {
    const { status, headers, body } = renderLimitExceeded('general', exceeded);
    expect(status).toBe(429);
    expect(headers).toEqual({ ...jsonHeader, 'Retry-After': '19' });
    expect(JSON.parse(body)).toEqual({
      error: 'rate limit exceeded',
      retryAfter: 19,
      limit: 60,
      window: '1m',
      policy: 'read:60/1m',
      resetUtc: '2026-01-15T09:31:00.000Z',
      currentUsage: 61,
    });
  });

  test('names the ceiling of the company if that was reached', () => {
    const { body } = renderLimitExceeded('general', { ...exceeded, name: 'company-read', limit: 1200 });
    expect(JSON.parse(body)).toMatchObject({ limit: 1200, policy: 'company-read:1200/1m' });
  });

  test('in the lookup shape has the wait in whole seconds', () => {
    expect(JSON.parse(renderLimitExceeded('lookup', exceeded).body)).toEqual({
      error_code: 'rate_limit_exceeded',
      message: 'rate limit exceeded',
      retry_after_seconds: 19,
    });
  });

  test('never has a wait of zero', () => {
    const atTheEnd = { ...exceeded, nowMs: exceeded.resetMs };
    expect(renderLimitExceeded('general', atTheEnd).headers['Retry-After']).toBe('1');
  });
});
