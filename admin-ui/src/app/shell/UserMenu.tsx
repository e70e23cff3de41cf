import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { LogOut, ShieldCheck } from 'lucide-react';
import { call } from '../../api/client.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Menu } from '../../ui/Menu.tsx';
import { toastError } from '../../ui/Toast.tsx';
import { leave, nameOfMember, useSession } from '../session.ts';
import s from './UserMenu.module.css';

export function UserMenu() {
  const { user, company } = useSession();
  const name = nameOfMember(user);
  const navigate = useNavigate();
  const router = useRouter();
  const queryClient = useQueryClient();
  const signOut = useMutation({
    mutationFn: () => call('signOut', {}),
    onSuccess: () => leave(queryClient, router, 'signed-out'),
    onError: toastError,
  });
  return (
    <Menu
      trigger={
        <button type="button" className={s.trigger}>
          <span aria-hidden="true">{initials(name)}</span>
          <span className="visually-hidden">Your account: {name}</span>
        </button>
      }
      heading={
        <>
          <p className={s.name}>{name}</p>
          {user.name !== '' && <p className={s.email}>{user.email}</p>}
          <p className={s.company}>
            {company.name} <Badge tone="accent">{user.role}</Badge>
          </p>
        </>
      }
      actions={[
        { label: 'Your security', icon: <ShieldCheck />, onSelect: () => void navigate({ to: '/security' }) },
        'separator',
        { label: 'Sign out', icon: <LogOut />, onSelect: () => signOut.mutate() },
      ]}
    />
  );
}

const initials = (name: string): string => {
  const words = name.trim().split(/\s+/);
  return `${words[0]?.charAt(0) ?? ''}${words.length > 1 ? (words.at(-1)?.charAt(0) ?? '') : ''}`.toUpperCase();
};
