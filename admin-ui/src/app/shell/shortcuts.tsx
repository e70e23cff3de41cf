import { Dialog } from '../../ui/dialog.tsx';
import { commandKey } from './command-key.ts';
import s from './shortcuts.module.css';

/** `?`: what can be done by keyboard. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts" size="s">
      <dl className={s.keys}>
        {shortcuts().map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const shortcuts = () => [
  { keys: [commandKey(), 'K'], what: 'Go to a page, a subscription, a key or an event, or start something' },
  { keys: ['?'], what: 'Show this list' },
  { keys: ['Esc'], what: 'Close what is open' },
  { keys: ['Tab'], what: 'Go on to the next control; with Shift, back' },
  { keys: ['←', '→'], what: 'Change the tab, or the choice in a row' },
  { keys: ['↑', '↓'], what: 'Move in a menu or in a list of choices' },
  { keys: ['Esc', 'Tab'], what: 'One after the other: leave the JSON editor' },
  { keys: ['Enter'], what: 'Do it, or send the form' },
];
