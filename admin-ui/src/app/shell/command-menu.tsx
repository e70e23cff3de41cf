import { Dialog as Base } from '@base-ui/react/dialog';
import clsx from 'clsx';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { afterPaint } from '../../ui/after-paint.ts';
import s from './command-menu.module.css';
import { type Command, useCommands } from './commands.tsx';

interface CommandMenuProps {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}

/** The command menu (⌘K): finds pages, subscriptions, keys and actions by name. */
export function CommandMenu({ onClose, onShortcuts }: CommandMenuProps) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const commands = useCommands(text, onShortcuts);
  const current = Math.min(active, commands.length - 1);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    afterPaint(command.run);
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.min(Math.max(current + step, 0), commands.length - 1);
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[current]);
    }
  };
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={s.backdrop} />
        <Base.Popup className={s.popup} initialFocus={input}>
          <Base.Title className="visually-hidden">Go to</Base.Title>
          <div className={s.search}>
            <Search size={16} />
            <input
              ref={input}
              role="combobox"
              aria-expanded="true"
              aria-controls={id}
              aria-activedescendant={commands.length > 0 ? `${id}-${current}` : undefined}
              aria-label="Go to a page, or start something"
              placeholder="Page, subscription, key, event number…"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setActive(0);
              }}
              onKeyDown={press}
            />
          </div>
          <div id={id} role="listbox" aria-label="Pages and actions" className={s.list}>
            {commands.map((command, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
              <div
                key={command.id}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                className={clsx(s.option, index === current && s.active)}
                onMouseMove={() => setActive(index)}
                onClick={() => run(command)}
              >
                {command.icon}
                <span className={s.label}>
                  <bdi>{command.label}</bdi>
                </span>
                <span className={s.kind}>{command.kind}</span>
              </div>
            ))}
          </div>
          {commands.length === 0 && <p className={s.none}>No results.</p>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
