import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Field, Select, TextInput } from './form.tsx';
import s from './toolbar.module.css';

/** The search and filters above a list. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <search className={s.toolbar} aria-label="Filters">
      {children}
    </search>
  );
}

interface SearchBoxProps {
  /** What is searched: `Search keys`. */
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

const settledMs = 250;

/** A search text, taken over when the person pauses. */
export function SearchBox({ label, value = '', onChange }: SearchBoxProps) {
  const [text, setText] = useState(value);
  const taken = useRef(value);
  // The URL changed by other means, such as the Back button.
  if (taken.current !== value) {
    taken.current = value;
    setText(value);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the text starts the timer
  useEffect(() => {
    if (text.trim() === taken.current) return;
    const timer = setTimeout(() => {
      taken.current = text.trim();
      onChange(text.trim() || undefined);
    }, settledMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className={s.search}>
      <Search size={15} aria-hidden="true" />
      <Field label={label} hideLabel>
        <TextInput
          type="search"
          placeholder={label}
          value={text}
          maxLength={100}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </div>
  );
}

interface FilterProps<Value extends string> {
  readonly label: string;
  /** The text of the option that filters nothing. */
  readonly all?: string | undefined;
  readonly value: Value | undefined;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value | undefined) => void;
  /** Shows the label above it. */
  readonly labelled?: boolean;
}

/** One choice of a filter or an order. A value from a link that is no option, or none yet, is shown as it is. */
export function Filter<Value extends string>(props: FilterProps<Value>) {
  const { label, all, value, options, onChange, labelled = false } = props;
  return (
    <Field label={label} hideLabel={!labelled}>
      <Select
        value={value ?? ''}
        onChange={(event) => onChange((event.target.value || undefined) as Value | undefined)}
      >
        {all !== undefined && <option value="">{all}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {value !== undefined && !options.some((option) => option.value === value) && (
          <option value={value}>{value}</option>
        )}
      </Select>
    </Field>
  );
}
