import clsx from 'clsx';
import { ChevronDown, Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Field, TextInput } from './form.tsx';
import segmentedCss from './segmented.module.css';
import toolbarCss from './toolbar.module.css';
import { cityOf, timeAt, wallTime, zone } from './zone.ts';

export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <search className={toolbarCss.toolbar} aria-label="Filters">
      {children}
    </search>
  );
}

interface SearchBoxProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

const settledMs = 250;

/** What is typed stays while the URL takes it over; a change by other means, such as the Back button, replaces it. */
export const useTyped = (value: string) => {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  const taken = useRef(value);
  // Until the URL has taken it over, `value` is the one from before.
  if (shown !== value) {
    setShown(value);
    if (taken.current !== value) {
      taken.current = value;
      setText(value);
    }
  }
  return { text, setText, taken };
};

/** A search text, taken over when the person pauses. */
export function SearchBox({ label, value = '', onChange }: SearchBoxProps) {
  const { text, setText, taken } = useTyped(value);
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
    <div className={toolbarCss.search}>
      <Search size={15} aria-hidden="true" />
      <Field label={label} hideLabel>
        <TextInput type="search" placeholder={label} value={text} maxLength={100} onValue={setText} />
      </Field>
    </div>
  );
}

interface FilterProps<Value extends string> {
  readonly label: string;
  readonly all?: string | undefined;
  readonly value: Value | undefined;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value | undefined) => void;
}

/** A quiet text that is filled once it narrows the list. The browser's own list of options lies over it. */
export function Filter<Value extends string>({ label, all, value, options, onChange }: FilterProps<Value>) {
  const id = useId();
  const chosen = options.find((option) => option.value === value)?.label ?? value;
  const narrows = all !== undefined && value !== undefined;
  return (
    <span className={clsx(toolbarCss.chip, narrows && toolbarCss.set)}>
      <span className={toolbarCss.choice}>
        <span aria-hidden="true">
          <bdi>{chosen === undefined ? label : `${label}: ${chosen}`}</bdi>
        </span>
        {!narrows && <ChevronDown size={14} aria-hidden="true" />}
        <select
          id={id}
          aria-label={label}
          value={value ?? ''}
          onChange={(event) => onChange((event.target.value || undefined) as Value | undefined)}
        >
          {all !== undefined && <option value="">{all}</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
          {value !== undefined && chosen === value && <option value={value}>{value}</option>}
        </select>
      </span>
      {narrows && (
        <button
          type="button"
          aria-label={`Remove filter: ${label}`}
          onClick={() => {
            onChange(undefined);
            document.getElementById(id)?.focus();
          }}
        >
          <X size={14} />
        </button>
      )}
    </span>
  );
}

interface SegmentedProps<Value extends string> {
  readonly label: string;
  /** A count keeps its room while it is empty. */
  readonly options: readonly { readonly value: Value; readonly label: string; readonly count?: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** Real radio buttons, so that the arrow keys work. */
export function Segmented<Value extends string>({ label, options, value, onChange }: SegmentedProps<Value>) {
  const [shown, choose] = useChoice(value, onChange);
  return (
    <fieldset className={segmentedCss.group}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={segmentedCss.option}>
          <input
            type="radio"
            name={label}
            checked={option.value === shown}
            onChange={() => choose(option.value)}
          />
          <span>
            {option.label}
            {option.count !== undefined && <b className={segmentedCss.count}>{option.count}</b>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A choice that shows at once and takes effect when the URL has it. */
export const useChoice = <Value,>(
  value: Value,
  onChange: (value: Value) => void,
): readonly [Value, (next: Value) => void] => {
  const [shown, setShown] = useState({ value, chosen: value });
  if (shown.value !== value) setShown({ value, chosen: value });
  const choose = (chosen: Value): void => {
    setShown({ value, chosen });
    onChange(chosen);
  };
  return [shown.chosen, choose];
};

export const useDebounced = <T,>(value: T, delayMs: number): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
};

interface TimeFieldProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

export function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <Field label={`${label} (${cityOf(zone())})`}>
      <TextInput
        type="datetime-local"
        value={value === undefined ? '' : wallTime(value)}
        onChange={(event) => onChange(event.target.value === '' ? undefined : timeAt(event.target.value))}
      />
    </Field>
  );
}
