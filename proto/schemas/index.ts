/** Exports the field rules to code outside the operations. */
export * from './fields.ts';
export * from './query.ts';
export * from './text.ts';
export * from './values.ts';
export * from './webhooks.ts';
