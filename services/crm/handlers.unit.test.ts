import { type Definition, definitions, operationsOf } from '@causeway/proto';
import type { HandlerTable } from '@causeway/runtime';
import { expect, test } from 'vitest';
import type { ActionsContext } from './context.ts';
import { handlers } from './handlers.ts';

test('the table has each operation of the service under its own name', () => {
  const names = Object.entries<Definition>(definitions)
    .filter(([, definition]) => operationsOf(definition).every(({ service }) => service === 'crm'))
    .map(([name]) => name);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => typeof handlers[name as keyof typeof handlers] !== 'function')).toEqual([]);
});

// The types are the test: the type check fails without an error under each `@ts-expect-error`.
const { createLead: _, ...others } = handlers;
// @ts-expect-error: an operation without a handler.
export const forgotten: HandlerTable<'crm', ActionsContext> = others;
// @ts-expect-error: a handler of another operation.
export const swapped: HandlerTable<'crm', ActionsContext> = { ...others, createLead: handlers.createClient };
