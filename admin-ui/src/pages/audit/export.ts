import type { Entry } from '../../model/audit-words.ts';
import { call } from '../../model/client.ts';
import { save } from '../../ui/save.ts';
import { type AuditSearch, auditParameters } from './audit.ts';
import { csvOf } from './csv.ts';

/** More are exported in several parts, by their dates. */
const maxExported = 10_000;

/** What the list shows with these filters, the newest first. */
export const exportAudit = async (
  search: AuditSearch,
  format: 'csv' | 'json',
): Promise<{ readonly count: number; readonly isCut: boolean }> => {
  const query = auditParameters({ ...search, cursor: undefined });
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listAudit', { query: { ...query, limit: 100, cursor } });
    entries.push(...page.entries);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && entries.length < maxExported);
  const day = new Date().toISOString().slice(0, 10);
  save(`audit-log-${day}.${format}`, format === 'csv' ? csvOf(entries) : JSON.stringify(entries, null, 2));
  return { count: entries.length, isCut: cursor !== undefined };
};
