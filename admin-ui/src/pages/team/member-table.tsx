import { KeyRound, ShieldOff, UserCog, UserMinus } from 'lucide-react';
import type { Answer } from '../../model/client.ts';
import { hasFactor, nameOfMember } from '../../model/members.ts';
import { roleAtLeast, useRefusal, useSession } from '../../model/session.ts';
import { Row } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, type TableProps, timeColumn } from '../../ui/table.tsx';
import { Badge, Cut } from '../../ui/values.tsx';

export type Member = Answer<'listTeam'>['members'][number];

interface MemberTableProps extends Pick<TableProps<Member>, 'query' | 'paged'> {
  readonly members: readonly Member[] | undefined;
  /** How many owners the company has, on this page of the list or another. */
  readonly owners: number | undefined;
  readonly marked: number | undefined;
  readonly onOpen: (dialog: 'role' | 'password' | 'factor' | 'remove', member: number) => void;
}

export function MemberTable(props: MemberTableProps) {
  const { query, paged, members, owners, marked, onOpen } = props;
  const adminRefusal = useRefusal('admin');
  const ownerRefusal = useRefusal('owner');
  const { role } = useSession().user;
  const refusalOver = (member: Member): string | undefined =>
    adminRefusal ??
    (member.role === 'owner' && !roleAtLeast(role, 'owner')
      ? 'Only an owner can change another owner'
      : undefined);
  const refusalFor = (member: Member): string | undefined => {
    const refusal = refusalOver(member);
    if (refusal) return refusal;
    if (member.role === 'owner' && owners === 1)
      return 'A company needs an owner. Make another member an owner first.';
    return undefined;
  };
  const twoFactorRefusal = (member: Member): string | undefined => {
    if (!hasFactor(member)) return 'They have no second factor';
    return member.you ? 'Change your own second factor under Your security' : ownerRefusal;
  };
  const columns: readonly Column<Member>[] = [
    {
      header: 'Name',
      phone: 'title',
      grow: true,
      cell: (member) => (
        <Row gap="s" nowrap>
          <Cut strong text={nameOfMember(member)} />
          {member.you && <Badge>you</Badge>}
        </Row>
      ),
    },
    { header: 'Email', phone: 'detail', bounded: true, cell: ({ email }) => <Cut text={email} /> },
    {
      header: 'Role',
      phone: 'badge',
      cell: (member) => <Badge tone={member.role === 'owner' ? 'accent' : 'neutral'}>{member.role}</Badge>,
    },
    {
      header: 'Second factor',
      cell: (member) =>
        hasFactor(member) && (
          <Badge tone="good" dot>
            {member.passkeys > 0 ? (member.totpEnabled ? 'App and passkey' : 'Passkey') : 'App'}
          </Badge>
        ),
    },
    timeColumn('Last sign-in', (member) => member.lastSignInUtc, { phone: 'named-time' }),
    actionsColumn('menu', (member) => (
      <RowMenu
        label={nameOfMember(member)}
        actions={[
          {
            label: 'Change role…',
            icon: <UserCog />,
            disabledReason: refusalFor(member),
            onSelect: () => onOpen('role', member.id),
          },
          {
            label: 'Reset password…',
            icon: <KeyRound />,
            disabledReason: member.you ? 'Change your own password under Your security' : refusalOver(member),
            onSelect: () => onOpen('password', member.id),
          },
          {
            label: 'Reset second factor…',
            icon: <ShieldOff />,
            disabledReason: twoFactorRefusal(member),
            onSelect: () => onOpen('factor', member.id),
          },
          {
            label: member.you ? 'Leave…' : 'Remove…',
            icon: <UserMinus />,
            danger: true,
            disabledReason: refusalFor(member),
            onSelect: () => onOpen('remove', member.id),
          },
        ]}
      />
    )),
  ];
  return (
    <Table
      label="Members"
      columns={columns}
      query={query}
      rows={members}
      paged={paged}
      rowKey={(member) => member.id}
      selected={(member) => member.id === marked}
      emptyState={<Empty title="No member matches" />}
    />
  );
}
