import { call, useMutation } from '../../model/client.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Stack } from '../../ui/layout.tsx';
import { serverNow } from '../../ui/reachability.ts';
import { Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { MinuteAgo } from '../../ui/values.tsx';

interface RevokeKeyProps {
  readonly apiKey: ApiKey | undefined;
  readonly onClose: () => void;
}

export function RevokeKey({ apiKey, onClose }: RevokeKeyProps) {
  const revoke = useMutation({
    mutationFn: (id: number) => call('revokeApiKey', { params: { id } }),
    onSuccess: () => {
      const name = apiKey?.name ?? '';
      toast(`Key “${name}” revoked`);
      onClose();
    },
  });
  if (!apiKey) return null;
  const recent = apiKey.lastUsedUtc !== null && serverNow() - Date.parse(apiKey.lastUsedUtc) < 86_400_000;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Revoke “${apiKey.name}”?`}
      confirm="Revoke key"
      danger
      typed={recent ? 'revoke' : undefined}
      mutation={revoke}
      onSubmit={() => revoke.mutate(apiKey.id)}
    >
      <Stack gap="s">
        {recent && apiKey.lastUsedUtc !== null && (
          <Notice tone="warn" title="This key is in use">
            It was last used <MinuteAgo time={apiKey.lastUsedUtc} />. Tools that use it stop working at once.
          </Notice>
        )}
        <p>Requests with this key are refused at once. This cannot be undone.</p>
      </Stack>
    </ConfirmDialog>
  );
}
