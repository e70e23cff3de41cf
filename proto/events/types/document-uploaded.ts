import { z } from 'zod';
import {
  defineEventType,
  employeeOrNone,
  harmless,
  label,
  recordId,
  samplePerson,
  text,
  time,
} from '../shared.ts';

export const documentUploaded = defineEventType({
  type: 'document.uploaded',
  title: 'Document uploaded',
  description: 'A document was added to a client’s record.',
  payload: z.object({
    document_id: recordId,
    client_id: recordId,
    file_name: text,
    content_type: label,
    size_bytes: harmless(z.int().min(0)),
    uploaded_by_employee_id: employeeOrNone,
    uploaded_date: time,
  }),
  sample: (now) => ({
    document_id: 8101,
    client_id: samplePerson.client_id,
    file_name: 'contract.pdf',
    content_type: 'application/pdf',
    size_bytes: 48_213,
    uploaded_by_employee_id: 7,
    uploaded_date: now,
  }),
});
