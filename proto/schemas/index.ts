export * from './fields.ts';
export { personFound } from './records.ts';
export * from './values.ts';
export * from './webhooks.ts';
