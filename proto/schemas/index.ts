export * from './fields.ts';
export { affiliate, note, person, personFound } from './records.ts';
export * from './values.ts';
export * from './webhooks.ts';
