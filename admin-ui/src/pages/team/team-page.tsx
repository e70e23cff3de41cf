import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Page } from '../../ui/page.tsx';
import { ChangeRole } from './change-role.tsx';
import { Invitations } from './invitations.tsx';
import { InviteMember } from './invite-member.tsx';
import { MemberTable } from './member-table.tsx';
import { OfferPassword } from './offer-password.tsx';
import { teamQuery } from './queries.ts';
import { RemoveMember } from './remove-member.tsx';

export function TeamPage() {
  const { dialog, role, remove, password } = useSearch({ from: '/in/team' });
  const navigate = useNavigate({ from: '/team' });
  const refusal = useRefusal('admin');
  const team = useQuery(teamQuery);
  const members = team.data?.members;
  const close = (): void => void navigate({ search: {}, replace: true });
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
          onClick={() => void navigate({ search: { dialog: 'invite' } })}
        >
          Invite member
        </Button>
      }
    >
      <Card flush title="Members">
        {team.isError && !team.data ? (
          <Failed error={team.error} retry={() => void team.refetch()} />
        ) : (
          <MemberTable
            members={members}
            onChangeRole={(member) => void navigate({ search: { role: member.id } })}
            onPassword={(member) => void navigate({ search: { password: member.id } })}
            onRemove={(member) => void navigate({ search: { remove: member.id } })}
          />
        )}
      </Card>
      {team.data && team.data.invitations.length > 0 && <Invitations invitations={team.data.invitations} />}
      {refusal === undefined && (
        <>
          <InviteMember open={dialog === 'invite'} onClose={close} />
          <ChangeRole key={`role-${role}`} member={members?.find((one) => one.id === role)} onClose={close} />
          <OfferPassword member={members?.find((one) => one.id === password)} onClose={close} />
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
