import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import type { Answer } from '../../api/types.ts';
import { useRefusal } from '../../app/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Quiet, Stack } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { teamQuery } from './queries.ts';

type Invitation = Answer<'listTeam'>['invitations'][number];

export function Invitations({ invitations }: { readonly invitations: readonly Invitation[] }) {
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
    id: 'email',
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
  { id: 'role', header: 'Role', phone: 'badge', cell: (invitation) => <Badge>{invitation.role}</Badge> },
  {
    id: 'expires',
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
    meta: { invalidates: [teamQuery.queryKey] },
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
