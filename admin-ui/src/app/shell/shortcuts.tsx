import { Dialog } from '../../ui/dialog.tsx';
import s from './shortcuts.module.css';
import { commandKey } from './triggers.tsx';

/** Lists the keyboard shortcuts; opened by `?`. */
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
  { keys: [commandKey(), 'K'], what: 'Search pages, subscriptions, keys and events, or run an action' },
  { keys: ['?'], what: 'Show this list' },
  { keys: ['Esc'], what: 'Close the dialog or menu' },
  { keys: ['Tab'], what: 'Move to the next control; with Shift, to the previous one' },
  { keys: ['←', '→'], what: 'Switch tabs or options' },
  { keys: ['↑', '↓'], what: 'Move in a menu or list' },
  { keys: ['Esc', 'Tab'], what: 'Press one after the other to leave the JSON editor' },
  { keys: ['Enter'], what: 'Confirm, or submit the form' },
];
