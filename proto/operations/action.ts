/** Settings that all record actions share (contract, "Identifiers, keys, scopes"). */
export const action = {
  audience: 'key',
  service: 'crm',
  scope: 'integrations:write',
  bucket: 'write',
  errorShape: 'general',
  deadlineMs: 5000,
  repeat: 'once',
  query: null,
} as const;
