import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { Building2, Check, LogOut, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { call, useMutation } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toastError } from '../../ui/toast.ts';
import { nameOfMember } from '../name-of-member.ts';
import { leave, useSession } from '../session.ts';
import { type OtherCompany, SwitchCompany, showCompany, useSwitchCompany } from '../switch-company.tsx';
import { setTheme, useTheme } from '../theme.ts';
import s from './menus.module.css';
import { Navigation } from './navigation.tsx';
import { ThemeTrigger, themeIcons, themeNames, UserTrigger } from './triggers.tsx';

export function UserMenu({ defaultOpen }: { readonly defaultOpen: boolean }) {
  const { user, company, otherCompanies } = useSession();
  const [asked, setAsked] = useState<OtherCompany | null>(null);
  const change = useSwitchCompany(showCompany);
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
    <>
      <Menu
        trigger={<UserTrigger />}
        defaultOpen={defaultOpen}
        heading={
          <>
            <p className={s.name} dir="auto">
              {name}
            </p>
            {user.name !== '' && <p className={s.email}>{user.email}</p>}
            <p className={s.company}>
              {company.name} <Badge tone="accent">{user.role}</Badge>
            </p>
          </>
        }
        actions={[
          ...otherCompanies.map((one) => ({
            label: `Switch to ${one.name}`,
            icon: <Building2 />,
            onSelect: () =>
              one.codeRequired ? setAsked(one) : change.mutate(one.id, { onError: toastError }),
          })),
          ...(otherCompanies.length > 0 ? (['separator'] as const) : []),
          {
            label: 'Your security',
            icon: <ShieldCheck />,
            onSelect: () => void navigate({ to: '/security' }),
          },
          'separator',
          { label: 'Sign out', icon: <LogOut />, onSelect: () => signOut.mutate() },
        ]}
      />
      <SwitchCompany company={asked} onClose={() => setAsked(null)} />
    </>
  );
}

export function ThemeMenu({ defaultOpen }: { readonly defaultOpen: boolean }) {
  const chosen = useTheme();
  return (
    <Menu
      trigger={<ThemeTrigger />}
      defaultOpen={defaultOpen}
      actions={(['system', 'light', 'dark'] as const).map((theme) => {
        const ThemeIcon = themeIcons[theme];
        return {
          label: themeNames[theme],
          icon: theme === chosen ? <Check /> : <ThemeIcon />,
          onSelect: () => setTheme(theme),
        };
      })}
    />
  );
}

/** The navigation on narrow screens. */
export function Drawer({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Navigation" side>
      <Navigation plain />
    </Dialog>
  );
}
