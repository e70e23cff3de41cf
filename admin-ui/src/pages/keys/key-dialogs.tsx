import { useQuery } from '@tanstack/react-query';
import { call } from '../../model/client.ts';
import { keyUseQuery } from '../../model/queries.ts';
import { RotateSecret } from '../../model/rotate-secret.tsx';
import type { ApiKey } from '../../model/scopes.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { DialogButton, type Shown } from '../../ui/dialog-button.tsx';
import { plural } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { serverNow } from '../../ui/reachability.ts';
import { Notice } from '../../ui/states.tsx';
import { MinuteAgo, Moment, TimeAgo } from '../../ui/values.tsx';

interface RevokeKeyProps {
  readonly apiKey: ApiKey | undefined;
  readonly onClose: () => void;
}

export function RevokeKey({ apiKey, onClose }: RevokeKeyProps) {
  if (!apiKey) return null;
  const recent = apiKey.lastUsedUtc !== null && serverNow() - Date.parse(apiKey.lastUsedUtc) < 86_400_000;
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Revoke “${apiKey.name}”?`}
      confirm="Revoke key"
      danger
      typed={recent ? 'revoke' : undefined}
      act={() => call('revokeApiKey', { params: { id: apiKey.id } })}
      done={`Key “${apiKey.name}” revoked`}
    >
      {recent && apiKey.lastUsedUtc !== null && (
        <Notice tone="warn" title="This key is in use">
          It was last used <MinuteAgo time={apiKey.lastUsedUtc} />. Tools that use it stop working at once.
        </Notice>
      )}
      <p>Requests with this key are refused at once. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

export interface KeyDialogProps extends Shown {
  readonly apiKey: ApiKey;
}

export function RotateKey({ apiKey, ...shown }: KeyDialogProps) {
  return (
    <RotateSecret
      {...shown}
      title="Rotate the API key"
      description="It gets a new secret, and keeps its name, permissions, limits and subscriptions."
      legend="The present secret"
      keeps="Both secrets work and share the key’s limits, so nothing fails while you update your tools."
      ends="Tools fail until they have the new secret. If it leaked: choose 1 h, update your tools, then end the old one."
      hoursLabel="Both work for"
      hours={[1, 24, 72, 168]}
      running={
        apiKey.previous != null &&
        'The key was rotated already, and both secrets work. End one of them first, or end both now.'
      }
      submit="Rotate key"
      rotate={async (graceHours) =>
        (await call('rotateApiKey', { params: { id: apiKey.id }, body: { graceHours } })).value
      }
      secret={{ title: 'The key’s new secret', name: 'API key' }}
    />
  );
}

interface RotationProps {
  readonly apiKey: ApiKey;
  readonly refusal: string | undefined;
}

/** Of a key whose two secrets work. */
export function Rotation({ apiKey, refusal }: RotationProps) {
  const { id, masked, previous } = apiKey;
  const { data: use } = useQuery({ ...keyUseQuery(id), enabled: refusal === undefined && previous != null });
  if (previous == null) return null;
  return (
    <Notice tone="info" title="Two secrets of this key work">
      <Stack gap="s">
        <p>
          The old one, <code>{previous.masked}</code>, works until <Moment time={previous.untilUtc} />. The
          new one is <code>{masked}</code>.
        </p>
        {use !== undefined && (
          <p>
            {use.previous === null ? (
              'The old one was not used in the last seven days.'
            ) : (
              <>
                The old one was last used <TimeAgo time={use.previous.utc} /> from{' '}
                <code>{use.previous.address}</code>; {plural(use.previousInLastHour, '# request')} in the last
                hour.
              </>
            )}
          </p>
        )}
        <Row gap="s">
          {(['new', 'old'] as const).map((keep) => (
            <DialogButton
              key={keep}
              disabledReason={refusal}
              dialog={(shown) => (
                <ConfirmDialog
                  {...shown}
                  title={keep === 'new' ? 'End the old secret now?' : 'Give up the new secret?'}
                  confirm={keep === 'new' ? 'End old secret' : 'Keep old secret'}
                  danger
                  act={() => call('endKeyRotation', { params: { id }, body: { keep } })}
                  done="Rotation ended"
                >
                  <p>
                    Requests with <code>{keep === 'new' ? previous.masked : masked}</code> are refused at
                    once, and this cannot be undone.
                  </p>
                  {keep === 'old' && <p>The old secret then works as before the rotation.</p>}
                </ConfirmDialog>
              )}
            >
              {keep === 'new' ? 'End the old secret…' : 'Keep the old secret…'}
            </DialogButton>
          ))}
        </Row>
      </Stack>
    </Notice>
  );
}
