import { z } from 'zod';
import {
  defineEventType,
  employeeOrNone,
  label,
  recordId,
  samplePerson,
  textOrNone,
  time,
} from '../shared.ts';

export const clientStatusChanged = defineEventType({
  type: 'client.status_changed',
  title: 'Client status changed',
  description: 'A client moved to another status, or a lead became a client.',
  payload: z.object({
    client_id: recordId,
    previous_status: label,
    new_status: label,
    changed_by_employee_id: employeeOrNone,
    status_note: textOrNone,
    changed_date: time,
  }),
  sample: (now) => ({
    client_id: samplePerson.client_id,
    previous_status: 'Lead - Contacted',
    new_status: 'Client - Active',
    changed_by_employee_id: 7,
    status_note: 'Signed today.',
    changed_date: now,
  }),
});
