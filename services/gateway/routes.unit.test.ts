import { basePath, keyOperations } from '@causeway/proto';
import { expect, test } from 'vitest';
import { createRouter } from './routes.ts';

const route = createRouter(keyOperations, basePath);

test('every operation is found under its own method and path, with its parameters in order', () => {
  for (const operation of keyOperations) {
    const params = [...operation.path.matchAll(/\{\w+\}/g)].map((_, at) => `${at + 7}`);
    let at = 0;
    const path = `/api/v1${operation.path.replace(/\{\w+\}/g, () => params[at++]!)}`;
    expect(route(operation.method, path)).toEqual({ match: { operation, params } });
  }
});

test('HEAD has the route of GET', () => {
  expect(route('HEAD', '/api/v1/events').match?.operation.id).toBe('listEvents');
});

test('another method on a known path gets the allowed methods', () => {
  expect(route('DELETE', '/api/v1/events')).toEqual({ match: undefined, allow: 'GET, HEAD' });
  expect(route('PUT', '/api/v1/webhooks/subscriptions/5').allow?.split(', ').toSorted()).toEqual([
    'DELETE',
    'GET',
    'HEAD',
    'PATCH',
  ]);
  expect(route('OPTIONS', '/api/v1/integrations/leads').allow).toBe('POST');
});

test.each([
  '/api/v1/events/',
  '/api/v1//events',
  '/api/v1/Events',
  '/api/v1',
  '/api/v2/events',
  '/api/v1/webhooks/subscriptions//test',
  '/api/v1/integrations/leads/5/status/x',
  '/api/v1/__proto__',
])('%s is not found', (path) => {
  expect(route('GET', path)).toEqual({ match: undefined, allow: undefined });
});
