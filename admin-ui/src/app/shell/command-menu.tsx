import { Dialog as Base } from '@base-ui/react/dialog';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { KeyRound, LogOut, Plus, Users, Webhook } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { operationQuery } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { type Found, placeOf, useFound } from '../../model/records.tsx';
import { roleAtLeast, useSession, useSignOut } from '../../model/session.ts';
import { type Choice, Combobox } from '../../ui/combobox.tsx';
import { hasWords } from '../../ui/format.ts';
import { useDebounced } from '../../ui/toolbar.tsx';
import s from './command-menu.module.css';
import { useLinkedPages } from './navigation.tsx';

export function CommandMenu({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const { commands, isPending } = useCommands(text);
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={s.backdrop} />
        <Base.Popup className={s.popup} initialFocus={input}>
          <Base.Title className="visually-hidden">Go to</Base.Title>
          <Combobox
            label="Search, or go to a page"
            listLabel="Pages, actions and records"
            placeholder="Name, email, external ID, number, page…"
            inputRef={input}
            text={text}
            onText={setText}
            choices={commands}
            none={isPending ? 'Searching…' : 'No results.'}
            onChoose={(command) => {
              onClose();
              command.run();
            }}
          />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface SearchedCommand extends Choice {
  readonly words: string;
}

const useCommands = (text: string): { commands: readonly Choice[]; isPending: boolean } => {
  const pages = usePages();
  const actions = useActions();
  const { records, isPending: searches } = useRecords(text);
  const { found, isPending: finds } = useFoundChoices(text);
  const isPending = searches || finds;
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return { commands: [...pages, ...actions], isPending: false };
  const hits = [...pages, ...actions, ...records]
    .filter(({ words }) => hasWords(words, wanted))
    .sort((a, b) => rank(b, wanted) - rank(a, wanted))
    .slice(0, 40);
  // What payloads may hold is no hit: the lists of events and deliveries filter by it.
  const isHit = ({ target }: Found): boolean => !('email' in target || 'external' in target);
  const isNamed = hits[0] && rank(hits[0], wanted) > 0;
  // Enter opens the first: what bears the name, then what the server found, then what contains the words.
  const sure = found.filter(isHit);
  return { commands: isNamed ? [...hits, ...sure] : [...sure, ...hits], isPending };
};

/** The whole name before its beginning, and that before any place. */
const rank = ({ label, words }: SearchedCommand, wanted: string): number =>
  label.toLowerCase() === wanted ? 2 : Number(words.startsWith(wanted.split(/\s+/)[0] ?? ''));

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

const useActions = (): readonly SearchedCommand[] => {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { role } = useSession().user;
  const action = (label: string, icon: ReactNode, run: () => unknown, words: string): SearchedCommand =>
    searched('Action', icon, label, words, run);
  const createKey = () => navigate({ to: '/keys', search: { dialog: 'create' } });
  const addSubscription = () => navigate({ to: '/subscriptions/new' });
  return [
    ...(roleAtLeast(role, 'developer')
      ? [
          action('Create an API key', <Plus />, createKey, 'new'),
          action('Add a subscription', <Plus />, addSubscription, 'new webhook'),
        ]
      : []),
    action('Sign out', <LogOut />, () => signOut.mutate(), 'leave log out'),
  ];
};

const useRecords = (text: string) => {
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
  const records: readonly SearchedCommand[] = [
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
    ...(keys.data?.keys ?? []).map(({ id, name, masked }) =>
      searched('API key', <KeyRound />, name, `${masked} ${q}`, () =>
        navigate({ to: '/keys/$id', params: { id } }),
      ),
    ),
    ...(team.data?.members ?? []).map((member) =>
      searched('Member', <Users />, nameOfMember(member), member.email, () =>
        navigate({ to: '/team', search: { q: member.email, member: member.id } }),
      ),
    ),
  ];
  return { records, isPending: keys.isFetching || q !== text.trim().slice(0, 100) };
};

const useFoundChoices = (text: string) => {
  const navigate = useNavigate();
  const { found, isPending } = useFound(text);
  return { found: found.map((one) => ({ ...one, run: () => navigate(placeOf(one.target)) })), isPending };
};
