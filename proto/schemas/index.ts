/** The siblings' door to the field rules, for what is not an operation of the interface. */
export * from './fields.ts';
export * from './query.ts';
export * from './text.ts';
export * from './values.ts';
export * from './webhooks.ts';
