import type { AuditSource } from '@causeway/proto';

/** The source of audit entries made by the operator's command line, which knows no user name. */
export const byOperator = (requestId: string): AuditSource => ({
  kind: 'operator',
  id: null,
  name: 'operator',
  address: null,
  userAgent: null,
  requestId,
});
