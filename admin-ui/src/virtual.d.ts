declare module 'virtual:portal-operations' {
  /** Operation id → its method, and its path relative to `/portal/api/v1`. */
  const table: Readonly<Record<string, readonly [method: string, path: string, takesIdempotencyKey?: 1]>>;
  export default table;
}
