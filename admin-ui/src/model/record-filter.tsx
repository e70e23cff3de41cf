import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Combobox } from '../ui/combobox.tsx';
import type { RecordSearch } from './queries.ts';
import { isPage, placeOf, titleOf, useFound, useNames } from './records.tsx';

const noRecord: RecordSearch = {
  ...{ client: undefined, invoice: undefined, email: undefined, external: undefined },
};

/** Narrows a list to a record, which a text finds, or opens the event or delivery that it finds. */
export function RecordFilter({
  search,
  onChange,
}: {
  readonly search: RecordSearch;
  readonly onChange: (search: RecordSearch) => void;
}) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const { found, isPending } = useFound(text);
  const chosen = useRecordName(search);
  const choices = found.map(({ target, ...one }) => ({
    ...one,
    run: () => (isPage(target) ? void navigate(placeOf(target)) : onChange({ ...noRecord, ...target })),
  }));
  return (
    <>
      <Combobox
        floating
        label="Find by record"
        listLabel="Records"
        placeholder="Name, email, ID…"
        text={text}
        onText={setText}
        choices={choices}
        none={isPending ? 'Searching…' : 'No results.'}
        onChoose={(choice) => {
          setText('');
          choice.run();
        }}
      />
      {chosen !== undefined && (
        <Button onClick={() => onChange(noRecord)}>
          <bdi>{chosen}</bdi> <X aria-label="Remove filter" />
        </Button>
      )}
    </>
  );
}

/** Undefined if the search names none. */
export const useRecordName = ({ client, invoice, email, external }: RecordSearch): string | undefined => {
  const subject = client === undefined ? null : ({ kind: 'client', id: client, name: null } as const);
  const names = useNames([subject]);
  return subject ? titleOf(subject, names) : ofRecord(invoice, email, external);
};

const ofRecord = (invoice?: number, email?: string, external?: string): string | undefined => {
  if (invoice !== undefined) return `Invoice ${invoice}`;
  return email ?? (external === undefined ? undefined : `External ID ${external}`);
};
