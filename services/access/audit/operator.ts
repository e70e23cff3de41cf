import type { AuditSource } from '@causeway/runtime';

/** The operator's command line as the source of an entry: it runs where the operator is, under no name. */
export const byOperator = (requestId: string): AuditSource => ({
  kind: 'operator',
  id: null,
  name: 'operator',
  address: null,
  userAgent: null,
  requestId,
});
