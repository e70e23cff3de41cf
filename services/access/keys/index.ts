export { createApiKey } from './createApiKey.ts';
export { createKey } from './createKey.ts';
export { listApiKeys } from './listApiKeys.ts';
export { listKeys } from './listKeys.ts';
export { revokeApiKey } from './revokeApiKey.ts';
export { revokeKey } from './revokeKey.ts';
