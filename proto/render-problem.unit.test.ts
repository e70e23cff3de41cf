import { describe, expect, test } from 'vitest';
import * as e from './errors.ts';
import { type ExceededLimit, renderLimitExceeded, renderProblem } from './render-problem.ts';

const render = (shape: 'general' | 'lookup', facts: e.ProblemFacts) => {
  const { status, headers, body } = renderProblem(shape, facts, { requestId: 'req-1' });
  return { status, headers, body: JSON.parse(body) };
};
const jsonHeader = { 'Content-Type': 'application/json' };

describe('the general shape', () => {
  test('of a 500 names the request and leaks nothing of the cause', () => {
    const stranger = Object.assign(new Error('SELECT secret FROM host-7'), { sql: 'SELECT' });
    expect(render('general', e.toProblem(stranger))).toEqual({
      status: 500,
      headers: jsonHeader,
      body: { error: 'internal error', requestId: 'req-1' },
    });
    expect(e.toProblem(stranger).cause).toBe(stranger);
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

  test('never has a wait of zero', () => {
    const atTheEnd = { ...exceeded, nowMs: exceeded.resetMs };
    expect(renderLimitExceeded('general', atTheEnd).headers['Retry-After']).toBe('1');
  });
});
