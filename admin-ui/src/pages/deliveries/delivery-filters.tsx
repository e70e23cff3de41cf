import { useQuery } from '@tanstack/react-query';
import { ListFilter } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { classLabels } from '../../model/attempt-view.tsx';
import { type DeliverySearch, periods } from '../../model/deliveries.ts';
import { eventTypesQuery, subscriptionsQuery } from '../../model/queries.ts';
import { RecordFilter } from '../../model/record-filter.tsx';
import { nameOf } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { Field, TextInput } from '../../ui/form.tsx';
import { formatDateMinute } from '../../ui/format.ts';
import { Filter, TimeField, useTyped } from '../../ui/toolbar.tsx';
import s from './delivery-filters.module.css';

interface DeliveryFiltersProps {
  readonly search: DeliverySearch;
  readonly onChange: (search: DeliverySearch) => void;
}

/** On phones, the fields unfold. */
export function DeliveryFilters({ search, onChange }: DeliveryFiltersProps) {
  const [open, setOpen] = useState(false);
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  const types = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const rare = [...[search.status, search.event, search.replay, search.since, search.until]];
  const rareCount = rare.filter((value) => value !== undefined).length;
  const [more, setMore] = useState(rareCount > 0);
  // Browsers take long to build fields for times; the button shows first that it was pressed.
  const moreShown = useDeferredValue(more);
  const set = (change: DeliverySearch): void => onChange({ ...search, ...change });
  const { state, ...others } = search;
  const count = Object.values(others).filter((value) => value !== undefined).length;
  return (
    <search className={s.filters} aria-label="Filters" data-open={open || undefined}>
      <RecordFilter search={search} onChange={set} />
      <span className={s.opener}>
        <Button icon={<ListFilter />} aria-expanded={open} onClick={() => setOpen(!open)}>
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
      </span>
      <div className={s.fields}>
        <Filter
          label="Subscription"
          all="All subscriptions"
          value={search.subscription?.toString()}
          onChange={(value) => set({ subscription: value === undefined ? undefined : Number(value) })}
          options={subscriptions.map((one) => ({ value: String(one.id), label: nameOf(one) }))}
        />
        <Filter
          label="Event type"
          all="All event types"
          value={search.type}
          onChange={(type) => set({ type })}
          options={types.map((one) => ({ value: one.type, label: one.type }))}
        />
        <Filter
          label="Period"
          all="Any time"
          value={search.period ?? ((search.since ?? search.until) ? 'chosen' : undefined)}
          onChange={(chosen) =>
            set({
              period: periods.find(({ value }) => value === chosen)?.value,
              since: undefined,
              until: undefined,
            })
          }
          options={[...periods, ...((search.since ?? search.until) ? [chosenTimes(search)] : [])]}
        />
        <Filter
          label="Cause"
          all="Any cause of failure"
          value={search.cause}
          onChange={(cause) => set({ cause })}
          options={Object.entries(classLabels).map(([value, label]) => ({ value, label }))}
        />
        <Button variant="ghost" icon={<ListFilter />} aria-expanded={more} onClick={() => setMore(!more)}>
          {rareCount > 0 ? `More (${rareCount})` : 'More'}
        </Button>
        {(count > 0 || state !== undefined) && (
          <Button variant="ghost" onClick={() => onChange({})}>
            Clear
          </Button>
        )}
        {more && moreShown && (
          <div className={s.more}>
            <NumberField label="Status code" value={search.status} onChange={(status) => set({ status })} />
            <NumberField label="Event number" value={search.event} onChange={(event) => set({ event })} />
            <NumberField label="Replay number" value={search.replay} onChange={(replay) => set({ replay })} />
            <TimeField
              label="From"
              value={search.since}
              onChange={(since) => set({ since, period: undefined })}
            />
            <TimeField
              label="Until"
              value={search.until}
              onChange={(until) => set({ until, period: undefined })}
            />
          </div>
        )}
      </div>
    </search>
  );
}

const chosenTimes = ({ since, until }: DeliverySearch) => ({
  value: 'chosen',
  label: [since, until].map((time) => (time === undefined ? '' : formatDateMinute(time))).join(' – '),
});

interface NumberFieldProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

/** Takes effect on Enter or when it loses the focus. */
function NumberField({ label, value, onChange }: NumberFieldProps) {
  const { text, setText, taken } = useTyped(value?.toString() ?? '');
  const take = (): void => {
    const next = /^\d+$/.test(text.trim()) ? Number(text.trim()) : undefined;
    const typed = next?.toString() ?? '';
    setText(typed);
    if (typed === taken.current) return;
    taken.current = typed;
    onChange(next);
  };
  return (
    <Field label={label}>
      <TextInput
        inputMode="numeric"
        value={text}
        onValue={setText}
        onBlur={take}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take();
        }}
      />
    </Field>
  );
}
