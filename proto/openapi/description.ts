import type { Json } from './json-schema.ts';

/** The parts of the contract that no single operation can say. */
export const description = `
The integration interface of a multi-tenant CRM: lookups, record actions, webhook subscriptions and events.

**Keys.** Every request carries \`X-Api-Key\`. A key belongs to one company, and everything is limited to it: a record of another company is answered as if it did not exist. A key has any of five scopes: \`integrations:read\`, \`integrations:write\`, \`events:read\`, \`webhooks:write\` and \`admin\`. No scope implies another. A revoked key is refused from the moment its revocation was answered.

**Order of checks.** Authentication (401), route (404, 405), scope (403), rate limit (429, 503), parameters and body (400), record (404). A request that fails validation has been counted; one that failed authentication or scope has not.

**Limits.** Counted exactly, per key and bucket, in windows of one UTC minute: 60 requests in the bucket read (lookups included), 100 in write, 200 in admin, unless the installation, the company or the key has others. All keys of a company together have a ceiling in each bucket, twenty times the limit of one key unless the installation has another; its 429 names it as \`company-read:1200/1m\`. Every answer to a counted request carries the five \`X-RateLimit-*\` headers, \`RateLimit-Policy\` and \`RateLimit\`. Over the limit: 429 until the window ends. Where a request cannot be counted: 503 with the reason \`lock_timeout\`; it was not let through.

**Requests.** Bodies are JSON objects in UTF-8, at most 1 MiB, whatever the content type; no body at all reads as an empty object. Unknown fields and unknown or repeated query parameters are refused by name. Texts are trimmed; lengths count Unicode characters; values nest at most 64 levels. A blank optional text is the same as null. On an update null clears an optional field and is refused on a required one, and at least one field must be sent. HEAD works where GET does. A trailing slash is a 404.

**Errors.** Lookup endpoints answer \`{error_code, message}\`, all others \`{error}\`; a 400 lists everything that is wrong in \`details\`. Try again after 429 (when \`Retry-After\` has passed), after 503 (1-2 seconds), and after 504, network timeouts and lost connections: there the request may have been carried out, so send a create again with the same \`external_id\`. Never try again unchanged after 400, 401, 403 or 404.

**Idempotency.** \`external_id\` is unique in a company among leads and clients, among affiliates, and among notes. A create that meets an existing one applies the sent fields to it and answers 200 instead of 201. Of any number of concurrent creates with one \`external_id\`, exactly one answers 201, and all name the same record.

**Times** are ISO 8601 in UTC. **Versions.** This is version 1, by the prefix of its paths.
`.trim();

export const tags: readonly Json[] = [
  { name: 'Lookups', description: 'Lists for dropdowns. A convenience: actions take raw ids.' },
  { name: 'Search', description: 'Find records by their fields.' },
  {
    name: 'Leads',
    description: 'A lead and a client are one record with one client_id; its status tells which it is.',
  },
  { name: 'Clients', description: 'Clients, their statuses and notes.' },
  { name: 'Affiliates', description: 'An affiliate is an employee with the role of affiliates.' },
  { name: 'Webhook subscriptions', description: 'The URLs that receive events.' },
  { name: 'Events', description: 'The log of what happened.' },
  { name: 'Deliveries', description: 'What Causeway sends to the URLs of subscriptions.' },
];
