import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { nameOfMember } from '../../app/session.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import type { Member } from './member-table.tsx';

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
      <SecretDialog title="Password reset link" name="link" value={link} onClose={() => setLink(null)}>
        <p>
          Send this link to the person privately: anyone who opens it can choose the password. It works once,
          for one hour.
        </p>
      </SecretDialog>
    );
  }
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Reset the password of ${nameOfMember(member)}?`}
      confirm="Create reset link"
      pending={offer.isPending}
      error={offer.error}
      onConfirm={() => offer.mutate(member.id)}
    >
      <p>
        You get a link to hand over. When they use it, their sessions in this company end, and they sign in
        with the new password{member.totpEnabled && ' and a code from their app'}. Their present password
        works until then.
      </p>
    </ConfirmDialog>
  );
}
