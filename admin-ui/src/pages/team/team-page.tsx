import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { type Answer, call } from '../../model/client.ts';
import { hasFactor, listMembers } from '../../model/members.ts';
import { teamQuery } from '../../model/queries.ts';
import { type Role, useRefusal } from '../../model/session.ts';
import { SharedLinks, useSharedLinks } from '../../model/shared-links.tsx';
import { ActButton } from '../../ui/button.tsx';
import { SecretFlow } from '../../ui/dialog.tsx';
import { DialogButton, type Shown, useDialog } from '../../ui/dialog-button.tsx';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table } from '../../ui/table.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { Badge, Cut, TimeAgo } from '../../ui/values.tsx';
import { MemberDialogs, RoleChoice } from './member-dialogs.tsx';
import { MemberTable } from './member-table.tsx';

export function TeamPage() {
  const { dialog: _, ...search } = useSearch({ from: '/in/team' });
  const navigate = useNavigate({ from: '/team' });
  const refusal = useRefusal('admin');
  const hidden = useRefusal('developer');
  const team = useQuery({ ...teamQuery, enabled: hidden === undefined });
  const members = team.data?.members;
  const without = members?.filter((member) => !hasFactor(member)).length ?? 0;
  const { q, sort } = search;
  const found = members && listMembers(members, search);
  const set = (change: typeof search): void =>
    void navigate({ search: { q, sort, ...change }, replace: true });
  const { open } = useDialog();
  const chosen = members?.find(({ id }) => id === search.member);
  return (
    <Page
      title="Team"
      description="Who can use this portal, and what they can do."
      refreshing={team.isRefetching}
      actions={
        <DialogButton
          name="invite"
          variant="primary"
          icon={<UserPlus />}
          disabledReason={refusal}
          dialog={(shown) => <InviteMember {...shown} />}
        >
          Invite member
        </DialogButton>
      }
    >
      {hidden !== undefined && <Notice tone="info">{hidden}</Notice>}
      {hidden === undefined && (
        <Card
          flush
          title="Members"
          description={without > 0 && plural(without, '# has no second factor.', '# have no second factor.')}
          actions={<Link to="/company">Company settings</Link>}
        >
          <Toolbar>
            <SearchBox label="Search members" value={q} onChange={(q) => set({ q })} />
            <Filter
              label="Order"
              value={sort ?? 'name'}
              options={[
                { value: 'name', label: 'By name' },
                { value: 'idle', label: 'Longest without sign-in first' },
              ]}
              onChange={(value) => set({ sort: value === 'idle' ? value : undefined })}
            />
          </Toolbar>
          <MemberTable
            query={team}
            members={found}
            paged={{ page: search.page, size: 25, onPage: (page) => set({ page }) }}
            owners={members?.filter((member) => member.role === 'owner').length}
            marked={search.member}
            onOpen={(name, id) => open(name, { member: id })}
          />
        </Card>
      )}
      {team.data && team.data.invitations.length > 0 && <Invitations invitations={team.data.invitations} />}
      {hidden === undefined && <LinksCard />}
      {refusal === undefined && chosen && <MemberDialogs key={chosen.id} member={chosen} />}
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
    cell: (invitation) => <Cut strong text={invitation.email} />,
  },
  {
    header: 'Invited by',
    phone: 'detail',
    bounded: true,
    cell: ({ invitedBy }) => <Cut text={invitedBy} />,
  },
  {
    header: 'Role',
    phone: 'badge',
    cell: (invitation) => <Badge>{invitation.role}</Badge>,
  },
  {
    header: 'Expires',
    phone: 'named-time',
    cell: (invitation) =>
      invitation.expired ? <Badge tone="warn">Expired</Badge> : <TimeAgo time={invitation.expiresUtc} />,
  },
  actionsColumn('menu', (invitation) => <RevokeInvitation invitation={invitation} />),
];

function RevokeInvitation({ invitation }: { readonly invitation: Invitation }) {
  const refusal = useRefusal('admin');
  return (
    <ActButton
      size="s"
      disabledReason={refusal}
      aria-label={`Revoke invitation for ${invitation.email}`}
      act={() => call('revokeInvitation', { params: { id: invitation.id } })}
      done="Invitation revoked"
    >
      Revoke invitation
    </ActButton>
  );
}

type MadeInvitation = Answer<'inviteMember'>;

function InviteMember({ open, onClose }: Shown) {
  return (
    <SecretFlow
      open={open}
      onClose={onClose}
      title="Invite a member"
      form={(onMade: (made: MadeInvitation) => void) => <InviteForm onClose={onClose} onMade={onMade} />}
      secret={({ link, mailed }) => ({
        ...{ title: 'Invitation link', name: 'link', value: `${location.origin}${link}` },
        children: (
          <p>
            {mailed
              ? 'It also goes to them by mail. Copy it only if the mail does not arrive.'
              : 'No mail was sent. Send this link to the person privately.'}{' '}
            Anyone who opens it first can join.
          </p>
        ),
      })}
    />
  );
}

const noInvitation: { readonly email: string; readonly role: Role } = { email: '', role: 'developer' };
const invitationLabels = { email: 'Email', role: 'Role' };

interface InviteFormProps {
  readonly onClose: () => void;
  readonly onMade: (made: MadeInvitation) => void;
}

function InviteForm({ onClose, onMade }: InviteFormProps) {
  const draft = useDraft('team/invite', noInvitation, invitationLabels);
  const { email, role } = draft.values;
  return (
    <Form
      draft={draft}
      act={() => call('inviteMember', { body: { email, role } })}
      onDone={onMade}
      submit="Create invitation link"
      onCancel={onClose}
    >
      <Field label="Email" name="email" hint="They sign in with this address.">
        <TextInput type="email" {...draft.bind('email')} />
      </Field>
      <RoleChoice value={role} onChange={(value) => draft.set({ role: value })} />
    </Form>
  );
}
