import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { NumberedPager, pageOf } from '../../ui/pager.tsx';
import { OrError } from '../../ui/states.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { ChangeRole } from './change-role.tsx';
import { Invitations } from './invitations.tsx';
import { InviteMember } from './invite-member.tsx';
import { listMembers, type MemberFilter, type MemberSort } from './list-members.ts';
import { MemberTable } from './member-table.tsx';
import { OfferPassword } from './offer-password.tsx';
import { teamQuery } from './queries.ts';
import { RemoveMember } from './remove-member.tsx';
import { ResetTwoFactor } from './reset-two-factor.tsx';

export function TeamPage() {
  const { dialog, role, remove, password, factor, ...search } = useSearch({ from: '/in/team' });
  const navigate = useNavigate({ from: '/team' });
  const refusal = useRefusal('admin');
  const hidden = useRefusal('developer');
  const team = useQuery({ ...teamQuery, enabled: hidden === undefined });
  const members = team.data?.members;
  const { q, show, sort } = search;
  const found = members && listMembers(members, search);
  const shown = found && pageOf(found, search.page, pageSize);
  const set = (change: typeof search): void =>
    void navigate({ search: { q, show, sort, ...change }, replace: true });
  const open = (dialogs: {
    dialog?: 'invite';
    role?: number;
    remove?: number;
    password?: number;
    factor?: number;
  }): void => void navigate({ search: { ...search, ...dialogs } });
  const close = (): void => void navigate({ search, replace: true });
  return (
    <Page
      title="Team"
      description="Who can use this portal, and what they can do."
      refreshing={team.isRefetching}
      actions={
        <Button
          variant="primary"
          icon={<UserPlus />}
          disabledReason={refusal}
          onClick={() => open({ dialog: 'invite' })}
        >
          Invite member
        </Button>
      }
    >
      {hidden !== undefined && <Notice tone="info">{hidden}</Notice>}
      {hidden === undefined && (
        <Card flush title="Members">
          <Toolbar>
            <SearchBox label="Search members" value={q} onChange={(q) => set({ q })} />
            <Filter
              label="Show"
              all="All members"
              value={show}
              options={filterOptions}
              onChange={(value) => set({ show: value })}
            />
            <Filter
              label="Order"
              value={sort ?? 'name'}
              options={sortOptions}
              onChange={(value) => set({ sort: value === 'name' ? undefined : value })}
            />
          </Toolbar>
          <OrError query={team}>
            <MemberTable
              members={shown?.rows}
              owners={members?.filter((member) => member.role === 'owner').length}
              marked={search.member}
              onChangeRole={(member) => open({ role: member.id })}
              onPassword={(member) => open({ password: member.id })}
              onTwoFactor={(member) => open({ factor: member.id })}
              onRemove={(member) => open({ remove: member.id })}
            />
          </OrError>
          <NumberedPager
            page={shown?.page ?? 1}
            pageSize={pageSize}
            count={found?.length ?? 0}
            onPage={(page) => set({ page: page === 1 ? undefined : page })}
          />
        </Card>
      )}
      {team.data && team.data.invitations.length > 0 && <Invitations invitations={team.data.invitations} />}
      {refusal === undefined && (
        <>
          <InviteMember open={dialog === 'invite'} onClose={close} />
          <ChangeRole key={`role-${role}`} member={members?.find((one) => one.id === role)} onClose={close} />
          <OfferPassword member={members?.find((one) => one.id === password)} onClose={close} />
          <ResetTwoFactor member={members?.find((one) => one.id === factor)} onClose={close} />
          <RemoveMember
            key={`remove-${remove}`}
            member={members?.find((one) => one.id === remove)}
            onClose={close}
          />
        </>
      )}
    </Page>
  );
}

const pageSize = 25;

const filterOptions: readonly { readonly value: MemberFilter; readonly label: string }[] = [
  { value: 'owner', label: 'Owners' },
  { value: 'admin', label: 'Admins' },
  { value: 'developer', label: 'Developers' },
  { value: 'viewer', label: 'Viewers' },
  { value: 'without-totp', label: 'Without two-factor' },
];

const sortOptions: readonly { readonly value: MemberSort; readonly label: string }[] = [
  { value: 'name', label: 'By name' },
  { value: 'role', label: 'By role' },
  { value: 'recent', label: 'Last sign-in first' },
  { value: 'idle', label: 'Longest without sign-in first' },
];
