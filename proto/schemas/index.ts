/** Exports the field rules to code outside the operations. */
export * from './fields.ts';
export * from './values.ts';
export * from './webhooks.ts';
