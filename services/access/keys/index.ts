export { createApiKey } from './create-api-key.ts';
export { createKey } from './create-key.ts';
export { listApiKeys } from './list-api-keys.ts';
export { listKeys } from './list-keys.ts';
export { revokeApiKey } from './revoke-api-key.ts';
export { revokeKey } from './revoke-key.ts';
