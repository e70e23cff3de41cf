import { useQuery } from '@tanstack/react-query';
import { Changes } from '../../model/activity.tsx';
import type { Entry } from '../../model/audit-words.ts';
import { call, type Input } from '../../model/client.ts';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { ApiError } from '../../ui/errors.ts';
import { Stack } from '../../ui/layout.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';

type Values = Readonly<Record<string, unknown>>;

interface Way {
  readonly names: readonly string[];
  /** The present values; null if there is no such thing any more. */
  readonly read: (id: number) => Promise<object | null>;
  readonly write: (id: number, before: Values, after: Values) => Promise<unknown>;
}

/**
 * Changes that come back without risk: what a subscription receives, how it and a key are called, fewer
 * permissions. Not secrets and headers, which the log does not hold; not roles, revocations, expiries,
 * networks, second factors and limits, which would give rights back; not channels, whose URLs are secret or point elsewhere.
 */
const ways: Readonly<Partial<Record<Entry['action'], Way>>> = {
  'subscription.changed': {
    names: ['name', 'description', 'url', 'eventTypes'],
    read: (id) => call('getPortalSubscription', { params: { id } }),
    write: (id, before, after) =>
      call('updatePortalSubscription', {
        params: { id },
        body: { ...before, basedOn: after } as Input<'updatePortalSubscription'>['body'],
      }),
  },
  'key.changed': {
    names: ['name', 'note', 'scopes'],
    read: async (id) => (await call('listApiKeys', { query: { ids: String(id) } })).keys[0] ?? null,
    write: (id, before, after) =>
      call('updateApiKey', { params: { id }, body: { ...before, basedOn: after } }),
  },
};

/** The former values that may come back; permissions only if that leaves the key with fewer. */
const revertible = ({ action, before, after }: Entry): readonly string[] =>
  (ways[action]?.names ?? []).filter((name) => {
    if (before === null || after === null || !(name in before) || !(name in after)) return false;
    const now = after[name];
    return name !== 'scopes' || (before[name] as string[]).every((one) => (now as string[]).includes(one));
  });

const pick = (values: object, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, (values as Values)[name] ?? null]));
const isSame = (a: Values, b: Values): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Of a change that its page could undo by hand. */
export function Revert({ entry }: { readonly entry: Entry }) {
  if (revertible(entry).length === 0) return null;
  return (
    <DialogButton
      size="s"
      aria-label={`Revert the change of ${entry.target.name}`}
      dialog={({ open, onClose }) =>
        open && <RevertDialog entry={entry} way={ways[entry.action]!} onClose={onClose} />
      }
    >
      Revert…
    </DialogButton>
  );
}

interface RevertDialogProps {
  readonly entry: Entry;
  readonly way: Way;
  readonly onClose: () => void;
}

function RevertDialog({ entry, way, onClose }: RevertDialogProps) {
  const names = revertible(entry);
  const [before, after] = [pick(entry.before ?? {}, names), pick(entry.after ?? {}, names)];
  const id = Number(entry.target.id);
  const query = useQuery({
    queryKey: ['revert', entry.id],
    queryFn: async () => {
      const found = await way.read(id).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
      return found && pick(found, names);
    },
    staleTime: 0,
    gcTime: 0,
  });
  const revert = async (): Promise<void> => {
    const { data } = await query.refetch();
    if (!data || !isSame(data, after))
      throw new ApiError({ status: 409, message: 'It was changed meanwhile' });
    await way.write(id, before, after);
  };
  const present = query.data;
  if (present && isSame(present, after))
    return (
      <ConfirmDialog
        onClose={onClose}
        title="Revert this change?"
        confirm="Revert change"
        act={revert}
        done="Change reverted"
      >
        <p>The values before the change come back at once:</p>
        <Changes before={after} after={before} />
      </ConfirmDialog>
    );
  return (
    <Dialog open onClose={onClose} title="This change cannot be reverted" size="s">
      <Loaded query={query}>
        {() => (
          <Stack>
            <Notice tone="warn">
              {present
                ? 'The values were changed again since. Edit them on their page:'
                : 'It no longer exists.'}
            </Notice>
            {present && <Changes before={before} after={present} />}
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}
