import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { nameOfMember } from '../../app/session.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { SecretDialog } from '../../ui/SecretDialog.tsx';
import type { Member } from './MemberTable.tsx';

interface OfferPasswordProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

/** For a member who lost the password: a link, to be handed over, by which they choose a new one. */
export function OfferPassword({ member, onClose }: OfferPasswordProps) {
  const [link, setLink] = useState<string | null>(null);
  const offer = useMutation({
    mutationFn: (id: number) => call('offerPasswordReset', { params: { id } }),
    gcTime: 0,
    onSuccess: (answer) => {
      setLink(`${location.origin}${answer.link}`);
      onClose();
    },
  });
  if (link !== null) {
    return (
      <SecretDialog
        title="The link for a new password"
        name="link"
        value={link}
        onClose={() => setLink(null)}
      >
        <p>
          Send it to the person yourself, in a private way: whoever opens it chooses the password. It works
          once, and for an hour.
        </p>
      </SecretDialog>
    );
  }
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`A new password for ${nameOfMember(member)}?`}
      confirm="Make the link"
      pending={offer.isPending}
      error={offer.error}
      onConfirm={() => offer.mutate(member.id)}
    >
      <p>
        You get a link to hand over. When it is used, they are signed out everywhere and sign in with the new
        password{member.totpEnabled && ' and, as before, a code of their app'}. The present password works
        until then.
      </p>
    </ConfirmDialog>
  );
}
