export * from './fields.ts';
export { fieldMeanings } from './meanings.ts';
export { affiliate, note, person, personFound } from './records.ts';
export * from './values.ts';
export * from './webhooks.ts';
