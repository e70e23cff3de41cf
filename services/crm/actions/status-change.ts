import { newEvent } from '../events/event-log.ts';
import type { ClientRow } from '../store/store.ts';
import type { Status } from './statuses.ts';

/** Who changed the status and why, if the caller says so. */
interface Reason {
  readonly changed_by_employee_id?: number | null | undefined;
  readonly status_note?: string | null | undefined;
}

/** A row of the status history (contract, "Leads and clients"). */
export const statusChange = (
  { company_id, client_id }: ClientRow,
  from: Status,
  to: Status,
  { changed_by_employee_id = null, status_note = null }: Reason,
  now: Date,
) => ({
  company_id,
  client_id,
  from_status_id: from.id,
  to_status_id: to.id,
  changed_by_employee_id,
  status_note,
  changed_utc: now,
});

/** The event of a client's status change; converting a lead to a client is the same event. */
export const convertedEvent = (
  { company_id, client_id }: ClientRow,
  from: Status,
  to: Status,
  { changed_by_employee_id = null, status_note = null }: Reason,
  now: Date,
) =>
  newEvent(company_id, 'client.status_changed', {
    client_id,
    previous_status: from.name,
    new_status: to.name,
    changed_by_employee_id,
    status_note,
    changed_date: now.toISOString(),
  });
