export const summaryOf = (payload: Readonly<Record<string, unknown>>): string => {
  const name = [payload.first_name, payload.last_name].filter((part) => typeof part === 'string').join(' ');
  const amount =
    typeof payload.amount === 'number' ? `${inMoney(payload.amount)} ${payload.currency ?? ''}` : '';
  const status =
    typeof payload.new_status === 'string' ? `${payload.previous_status} → ${payload.new_status}` : '';
  const other = [payload.file_name, payload.agreement_name, payload.invoice_number].find(
    (part) => typeof part === 'string',
  );
  return [name, other, amount.trim(), status].filter(Boolean).join(' · ');
};

const inMoney = (amount: number): string => String(amount).replace(/\.\d$/, '$&0');
