import type { Answer } from '../../model/client.ts';

type Event = Answer<'listPortalEvents'>['events'][number];
type Fields = Readonly<Record<string, unknown>>;

/**
 * What each event says otherwise than the one before it about the same thing: the person, or one of their invoices,
 * payments, documents or agreements. A field that only one of the two has is no change.
 * @param events the newest first, as they are returned.
 */
export const changesOf = (
  events: readonly Event[],
): readonly { readonly event: Event; readonly before: Fields; readonly after: Fields }[] => {
  const known = new Map<string, Fields>();
  return events
    .toReversed()
    .map((event) => {
      const fields = fieldsOf(event);
      const thing = thingOf(event);
      const earlier = known.get(thing) ?? {};
      const changed = Object.keys(fields).filter(
        (name) => name in earlier && JSON.stringify(earlier[name]) !== JSON.stringify(fields[name]),
      );
      known.set(thing, { ...earlier, ...fields });
      const pick = (from: Fields): Fields => Object.fromEntries(changed.map((name) => [name, from[name]]));
      return { event, before: pick(earlier), after: pick(fields) };
    })
    .toReversed();
};

const thingOf = ({ payload }: Event): string => {
  const name = ['payment_id', 'document_id', 'agreement_id', 'invoice_id'].find(
    (field) => typeof payload[field] === 'number',
  );
  return name === undefined ? 'client' : `${name} ${payload[name]}`;
};

/** Without times, and without the fields that are about the change itself. */
const fieldsOf = ({ payload }: Event): Fields => {
  const { new_status, previous_status, erased, status_note, changed_by_employee_id, ...rest } = payload;
  const all = { ...rest, ...(new_status === undefined ? {} : { status: new_status }) };
  return Object.fromEntries(Object.entries(all).filter(([field]) => !field.endsWith('_date')));
};
