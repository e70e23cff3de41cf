import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { listMembers, type MemberFilter, type MemberSort } from '../../model/members.ts';
import { teamQuery } from '../../model/queries.ts';
import { type Role, roleNames, useRefusal } from '../../model/session.ts';
import { SharedLinks, useSharedLinks } from '../../model/shared-links.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Card, Page, Quiet, Stack } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { actionsColumn, type Column, NumberedPager, pageOf, Table } from '../../ui/table.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { Badge, Cut, TimeAgo } from '../../ui/values.tsx';
import { ChangeRole, OfferPassword, RemoveMember, ResetTwoFactor, RoleChoice } from './member-dialogs.tsx';
import { MemberTable } from './member-table.tsx';
import { SecondFactor } from './second-factor.tsx';

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
    dialog?: 'invite' | 'require-factor';
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
          <MemberTable
            query={team}
            members={shown?.rows}
            owners={members?.filter((member) => member.role === 'owner').length}
            marked={search.member}
            onChangeRole={(member) => open({ role: member.id })}
            onPassword={(member) => open({ password: member.id })}
            onTwoFactor={(member) => open({ factor: member.id })}
            onRemove={(member) => open({ remove: member.id })}
          />
          <NumberedPager
            page={shown?.page ?? 1}
            pageSize={pageSize}
            count={found?.length ?? 0}
            onPage={(page) => set({ page: page === 1 ? undefined : page })}
          />
        </Card>
      )}
      {members && (
        <SecondFactor
          members={members}
          asking={dialog === 'require-factor'}
          onAsk={() => open({ dialog: 'require-factor' })}
          onClose={close}
        />
      )}
      {team.data && team.data.invitations.length > 0 && <Invitations invitations={team.data.invitations} />}
      {hidden === undefined && <LinksCard />}
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

/** People without a session may have them, also those who have left. */
function LinksCard() {
  return (
    useSharedLinks().length > 0 && (
      <Card title="Shared links" description="Anyone who has one of these sees its delivery, masked.">
        <SharedLinks />
      </Card>
    )
  );
}

const pageSize = 25;

const filterOptions: readonly { readonly value: MemberFilter; readonly label: string }[] = [
  { value: 'owner', label: 'Owners' },
  { value: 'admin', label: 'Admins' },
  { value: 'developer', label: 'Developers' },
  { value: 'viewer', label: 'Viewers' },
  { value: 'without-totp', label: 'Without a second factor' },
];

const sortOptions: readonly { readonly value: MemberSort; readonly label: string }[] = [
  { value: 'name', label: 'By name' },
  { value: 'role', label: 'By role' },
  { value: 'recent', label: 'Last sign-in first' },
  { value: 'idle', label: 'Longest without sign-in first' },
];

type Invitation = Answer<'listTeam'>['invitations'][number];

function Invitations({ invitations }: { readonly invitations: readonly Invitation[] }) {
  return (
    <Card flush title="Open invitations" description="Each link works once.">
      <Table
        label="Open invitations"
        columns={columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
        emptyState={<Empty title="No open invitations" />}
      />
    </Card>
  );
}

const columns: readonly Column<Invitation>[] = [
  {
    header: 'Email',
    phone: 'title',
    grow: true,
    cell: (invitation) => (
      <Stack gap="xs">
        <Cut strong text={invitation.email} />
        <Quiet small>
          <Cut text={`Invited by ${invitation.invitedBy}`} />
        </Quiet>
      </Stack>
    ),
  },
  {
    header: 'Role',
    phone: 'badge',
    cell: (invitation) => <Badge>{roleNames[invitation.role]}</Badge>,
  },
  {
    header: 'Expires',
    phone: 'named-time',
    cell: (invitation) =>
      invitation.expired ? <Badge tone="warn">Expired</Badge> : <TimeAgo time={invitation.expiresUtc} />,
  },
  actionsColumn('detail', (invitation) => <RevokeInvitation invitation={invitation} />),
];

function RevokeInvitation({ invitation }: { readonly invitation: Invitation }) {
  const refusal = useRefusal('admin');
  const revoke = useMutation({
    mutationFn: () => call('revokeInvitation', { params: { id: invitation.id } }),
    onSuccess: () => toast('Invitation revoked'),
    onError: toastError,
  });
  return (
    <Button
      size="s"
      pending={revoke.isPending}
      disabledReason={refusal}
      aria-label={`Revoke invitation for ${invitation.email}`}
      onClick={() => revoke.mutate()}
    >
      Revoke invitation
    </Button>
  );
}

function InviteMember({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [link, setLink] = useState<{ readonly url: string; readonly mailed: boolean } | null>(null);
  if (link !== null) {
    return (
      <SecretDialog title="Invitation link" name="link" value={link.url} onClose={() => setLink(null)}>
        <p>
          {link.mailed
            ? 'It also goes to them by mail. Copy it only if the mail does not arrive.'
            : 'No mail was sent. Send this link to the person privately.'}{' '}
          Anyone who opens it first can join.
        </p>
      </SecretDialog>
    );
  }
  return (
    <Dialog open={open} onClose={onClose} title="Invite a member">
      <InviteForm
        onClose={onClose}
        onDone={(path, mailed) => {
          setLink({ url: `${location.origin}${path}`, mailed });
          onClose();
        }}
      />
    </Dialog>
  );
}

const noInvitation: { readonly email: string; readonly role: Role } = { email: '', role: 'developer' };
const invitationLabels = { email: 'Email', role: 'Role' };

function InviteForm({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (path: string, mailed: boolean) => void;
}) {
  const draft = useDraft('team/invite', noInvitation, invitationLabels);
  const { email, role } = draft.values;
  const invite = useMutation({
    mutationFn: () => call('inviteMember', { body: { email, role } }),
    gcTime: 0,
    meta: { saves: 'team/invite' },
    onSuccess: (answer) => onDone(answer.link, answer.mailed),
  });
  return (
    <Form
      draft={draft}
      mutation={invite}
      fields={['email', 'role']}
      submit="Create invitation link"
      onCancel={onClose}
    >
      <Field label="Email" hint="They sign in with this address." error={fieldError(invite.error, 'email')}>
        <TextInput type="email" value={email} onValue={(value) => draft.set({ email: value })} />
      </Field>
      <RoleChoice
        value={role}
        onChange={(value) => draft.set({ role: value })}
        error={fieldError(invite.error, 'role')}
      />
    </Form>
  );
}
