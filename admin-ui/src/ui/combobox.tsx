import clsx from 'clsx';
import { Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, type Ref, useDeferredValue, useId, useState } from 'react';
import s from './combobox.module.css';

export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: ReactNode;
  readonly run: () => unknown;
}

interface ComboboxProps {
  readonly label: string;
  readonly listLabel: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly choices: readonly Choice[];
  /** In place of a list without choices. */
  readonly none?: string | undefined;
  readonly onChoose: (choice: Choice) => void;
  readonly inputRef?: Ref<HTMLInputElement>;
  /** A field of a toolbar, whose list floats over the page while the field has the focus. */
  readonly floating?: boolean;
}

/** A text field with a list of what the text finds. The arrow keys and Enter choose. */
export function Combobox(props: ComboboxProps) {
  const { label, listLabel, placeholder, text, onText, choices, none, onChoose, inputRef, floating } = props;
  const id = useId();
  const [active, setActive] = useState(0);
  const [focused, setFocused] = useState(false);
  const open = !floating || (focused && text.trim() !== '');
  // The field shows what is typed before the list is rendered.
  const shown = useDeferredValue(choices, noChoices);
  const current = Math.min(active, choices.length - 1);
  const press = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 };
    const step = steps[event.key];
    const chosen = choices[current];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.min(Math.max(current + step, 0), choices.length - 1);
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (open && chosen) onChoose(chosen);
    } else if (event.key === 'Escape' && floating && text !== '') {
      event.preventDefault();
      onText('');
    }
  };
  return (
    <div className={clsx(floating && s.floating)}>
      <div className={clsx(s.search, floating && s.field)}>
        <Search size={floating ? 15 : 16} aria-hidden="true" />
        <input
          ref={inputRef}
          type="text"
          autoComplete="off"
          maxLength={254}
          role="combobox"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          aria-activedescendant={open && shown[current] ? `${id}-${current}` : undefined}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          onChange={(event) => {
            onText(event.target.value);
            setActive(0);
          }}
          onKeyDown={press}
        />
      </div>
      {open && (
        <div className={clsx(floating && s.popup)}>
          <div id={id} role="listbox" aria-label={listLabel} className={s.list}>
            {shown.map((choice, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
              <div
                key={choice.id}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                className={clsx(s.option, index === current && s.active)}
                onMouseMove={() => setActive(index)}
                // The input keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => onChoose(choice)}
              >
                {choice.icon}
                <span className={s.label}>
                  <bdi>{choice.label}</bdi>
                </span>
                <span className={s.kind}>{choice.kind}</span>
              </div>
            ))}
          </div>
          {choices.length === 0 && none !== undefined && <p className={s.none}>{none}</p>}
        </div>
      )}
    </div>
  );
}

const noChoices: readonly Choice[] = [];
