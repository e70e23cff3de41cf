import { useQuery } from '@tanstack/react-query';
import { type Answer, call } from '../../model/client.ts';
import { sessionsQuery } from '../../model/queries.ts';
import { ActButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { DialogButton, type Shown } from '../../ui/dialog-button.tsx';
import { plural } from '../../ui/format.ts';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Badge, MinuteAgo, TimeAgo } from '../../ui/values.tsx';

type Session = Answer<'listSessions'>['sessions'][number];

export function Sessions() {
  const query = useQuery(sessionsQuery);
  const others = (query.data?.sessions.length ?? 1) - 1;
  return (
    <Card
      flush
      title="Where you are signed in"
      actions={
        <DialogButton
          name="others"
          size="s"
          disabledReason={others === 0 ? 'You have no other sessions' : undefined}
          dialog={(shown) => <EndOthers {...shown} />}
        >
          End other sessions…
        </DialogButton>
      }
    >
      <Table
        query={query}
        label="Sessions"
        columns={columns}
        rows={query.data?.sessions}
        rowKey={(session) => session.id}
        emptyState={<Empty title="No sessions" />}
      />
    </Card>
  );
}

const EndOthers = (props: Shown) => (
  <ConfirmDialog
    {...props}
    title="End all other sessions?"
    confirm="End sessions"
    danger
    act={() => call('revokeOtherSessions', {})}
    onDone={({ revoked }) => {
      toast(plural(revoked, '# session ended', '# sessions ended'));
      props.onClose();
    }}
  >
    Every other browser has to sign in again. If you do not recognize a session, also change your password.
  </ConfirmDialog>
);

const columns: readonly Column<Session>[] = [
  {
    header: 'Browser',
    grow: true,
    cell: (session) => (
      <Stack gap="xs">
        <Row gap="s">
          <strong data-tip={session.userAgent}>{browserName(session.userAgent)}</strong>
          {session.current && <Badge tone="good">This browser</Badge>}
        </Row>
        <Quiet small>{session.address}</Quiet>
      </Stack>
    ),
  },
  { header: 'Last used', cell: (session) => <LastUsed session={session} /> },
  timeColumn('Signed in', (session) => session.createdUtc),
  timeColumn('Ends', (session) => session.expiresUtc),
  actionsColumn(undefined, (session) => (session.current ? null : <EndSession session={session} />)),
];

/** Uses are noted to the minute, so the first ones may seem earlier than the sign-in. */
function LastUsed({ session: { createdUtc, lastUsedUtc } }: { readonly session: Session }) {
  return lastUsedUtc > createdUtc ? <MinuteAgo time={lastUsedUtc} /> : <TimeAgo time={createdUtc} />;
}

function EndSession({ session }: { readonly session: Session }) {
  const { id, address, userAgent } = session;
  return (
    <ActButton
      size="s"
      aria-label={`End the session of ${browserName(userAgent)} at ${address}`}
      act={() => call('revokeSession', { params: { id } })}
      done="Session ended"
    >
      End
    </ActButton>
  );
}

const browsers = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const systems = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'Mac'],
  [/Linux/, 'Linux'],
] as const;

export const browserName = (userAgent: string): string => {
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (!browser) return userAgent.slice(0, 60) || 'Unknown browser';
  return system ? `${browser} on ${system}` : browser;
};
