type Payload = Readonly<Record<string, unknown>>;

/** The record that an event is about. */
export interface EventSubject {
  readonly kind: 'client' | 'affiliate' | 'invoice';
  readonly id: number;
  /** If the payload has it. */
  readonly name: string | null;
}

/** @param payload masked for viewers, whose subjects then have no name. */
export const subjectOf = (payload: Payload): EventSubject | null => {
  const { client_id, employee_id, invoice_id } = payload;
  const name = nameOf(payload);
  if (isId(client_id)) return { kind: 'client', id: client_id, name };
  if (isId(employee_id)) return { kind: 'affiliate', id: employee_id, name };
  return isId(invoice_id) ? { kind: 'invoice', id: invoice_id, name: null } : null;
};

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

const nameOf = ({ first_name, last_name }: Payload): string | null => {
  const parts = [first_name, last_name].filter((part) => typeof part === 'string' && part.trim() !== '');
  return parts.length === 0 || parts.every((part) => part === hidden) ? null : parts.join(' ');
};
/** As `maskPayload` writes it. */
const hidden = '•••';

/** A few fields beside the record that an event is about. */
export const summaryOf = (payload: Payload): string => {
  const amount =
    typeof payload.amount === 'number' ? `${inMoney(payload.amount)} ${payload.currency ?? ''}` : '';
  const status =
    typeof payload.new_status === 'string' ? `${payload.previous_status} → ${payload.new_status}` : '';
  const other = [payload.file_name, payload.agreement_name, payload.invoice_number].find(
    (part) => typeof part === 'string',
  );
  return [other, amount.trim(), status].filter(Boolean).join(' · ');
};

const inMoney = (amount: number): string => String(amount).replace(/\.\d$/, '$&0');
