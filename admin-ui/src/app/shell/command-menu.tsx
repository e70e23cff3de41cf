import { Dialog as Base } from '@base-ui/react/dialog';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import clsx from 'clsx';
import {
  CalendarDays,
  Keyboard,
  KeyRound,
  LogOut,
  Moon,
  Plus,
  Search,
  Send,
  Sun,
  Users,
  Webhook,
} from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useDeferredValue, useId, useRef, useState } from 'react';
import { call, operationQuery } from '../../api/client.ts';
import { nameOfMember } from '../../pages/team/list-members.ts';
import { toastError } from '../../ui/toast.tsx';
import { useDebounced } from '../../ui/toolbar.tsx';
import { leave, roleAtLeast, useSession } from '../session.ts';
import { setTheme } from '../theme.ts';
import s from './command-menu.module.css';
import { useLinkedPages } from './navigation.tsx';

export function CommandMenu({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const commands = useCommands(text, onShortcuts);
  // The input appears, and shows what is typed, before the list is rendered.
  const shown = useDeferredValue(commands, noCommands);
  const current = Math.min(active, commands.length - 1);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run();
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
              placeholder="Page, key, number of a client or event…"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setActive(0);
              }}
              onKeyDown={press}
            />
          </div>
          <div id={id} role="listbox" aria-label="Pages and actions" className={s.list}>
            {shown.map((command, index) => (
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

const noCommands: readonly Command[] = [];

interface Command {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: ReactNode;
  readonly run: () => unknown;
}

interface SearchedCommand extends Command {
  readonly words: string;
}

const useCommands = (text: string, onShortcuts: () => void): readonly Command[] => {
  const pages = usePages();
  const actions = useActions(onShortcuts);
  const records = useRecords(text);
  const numbered = useNumbered(text);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...pages, ...actions];
  const first = words[0] ?? '';
  return [
    ...numbered,
    ...[...pages, ...actions, ...records]
      .filter((command) => words.every((word) => command.words.includes(word)))
      .sort((a, b) => Number(b.words.startsWith(first)) - Number(a.words.startsWith(first)))
      .slice(0, 40),
  ];
};

const searched = (
  kind: string,
  icon: ReactNode,
  label: string,
  words: string,
  run: () => unknown,
  id: number | string = label,
): SearchedCommand => ({
  ...{ id: `${kind}-${id}`, kind, icon, label, run },
  words: `${label} ${words}`.toLowerCase(),
});

const usePages = (): readonly SearchedCommand[] => {
  const navigate = useNavigate();
  return useLinkedPages().map(({ to, label, icon: Icon, words }) =>
    searched('Page', <Icon />, label, words, () => navigate({ to })),
  );
};

const useActions = (onShortcuts: () => void): readonly SearchedCommand[] => {
  const navigate = useNavigate();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { role } = useSession().user;
  const action = (label: string, icon: ReactNode, run: () => unknown, words: string): SearchedCommand =>
    searched('Action', icon, label, words, run);
  const createKey = () => navigate({ to: '/keys', search: { dialog: 'create' } });
  const addSubscription = () => navigate({ to: '/subscriptions/new' });
  const signOut = () => call('signOut', {}).then(() => leave(queryClient, router, 'signed-out'), toastError);
  return [
    ...(roleAtLeast(role, 'developer')
      ? [
          action('Create an API key', <Plus />, createKey, 'new'),
          action('Add a subscription', <Plus />, addSubscription, 'new webhook'),
        ]
      : []),
    action('Light theme', <Sun />, () => setTheme('light'), 'bright'),
    action('Dark theme', <Moon />, () => setTheme('dark'), 'night'),
    action('Keyboard shortcuts', <Keyboard />, onShortcuts, 'help keys'),
    action('Sign out', <LogOut />, signOut, 'leave log out'),
  ];
};

const useRecords = (text: string): readonly SearchedCommand[] => {
  const navigate = useNavigate();
  const subscriptions = useQuery(operationQuery('listPortalSubscriptions', {}));
  const q = useDebounced(text.trim(), 200).slice(0, 100);
  const { role } = useSession().user;
  // The server searches, because only a page of them is loaded.
  const keys = useQuery({
    ...operationQuery('listApiKeys', { query: { q, limit: 10 } }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const team = useQuery({ ...operationQuery('listTeam', {}), enabled: roleAtLeast(role, 'developer') });
  return [
    ...(subscriptions.data?.subscriptions ?? []).map(({ id, name, url }) =>
      searched(
        'Subscription',
        <Webhook />,
        name ?? url,
        url,
        () => navigate({ to: '/subscriptions/$id', params: { id } }),
        id,
      ),
    ),
    ...(keys.data?.keys ?? []).map(({ id, name, masked, isActive }) =>
      searched('API key', <KeyRound />, name, `${masked} ${q}`, () =>
        navigate({ to: '/keys', search: { show: isActive ? undefined : 'revoked', q: name, key: id } }),
      ),
    ),
    ...(team.data?.members ?? []).map((member) =>
      searched('Member', <Users />, nameOfMember(member), member.email, () =>
        navigate({ to: '/team', search: { q: member.email, member: member.id } }),
      ),
    ),
  ];
};

/** A number may be that of a client, an invoice or an event; the id of a delivery is three of them. */
const useNumbered = (text: string): readonly Command[] => {
  const navigate = useNavigate();
  const [, event, subscription, replay] = /^#?(\d{1,15})(?:-(\d{1,15})-(\d{1,15}))?$/.exec(text.trim()) ?? [];
  const id = Number(event);
  if (!Number.isSafeInteger(id) || id === 0) return [];
  const command = (kind: string, label: string, icon: ReactNode, run: () => unknown): Command => ({
    ...{ id: label, label, kind, icon, run },
  });
  if (subscription !== undefined) {
    const params = { event: id, subscription: Number(subscription), replay: Number(replay) };
    const open = () => navigate({ to: '/deliveries/$event/$subscription/$replay', params });
    return [command('Delivery', `Delivery ${text.trim()}`, <Send />, open)];
  }
  return [
    command('Event', `Event ${id}`, <CalendarDays />, () => navigate({ to: '/events/$id', params: { id } })),
    ...(['client', 'invoice'] as const).flatMap((record) => [
      command('Events', `Events of ${record} ${id}`, <CalendarDays />, () =>
        navigate({ to: '/events', search: { [record]: id } }),
      ),
      command('Deliveries', `Deliveries of ${record} ${id}`, <Send />, () =>
        navigate({ to: '/deliveries', search: { [record]: id } }),
      ),
    ]),
  ];
};
