import { hash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { clockSlackMs, openSecret, sealSecret, type Trx } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { readCompanyName, selectCompany } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { countedEmail } from '../sessions/subjects.ts';
import { hashToken } from '../sessions/token.ts';
import type { NoticesContext, Send } from './context.ts';
import type { MailMessage } from './mail.ts';
import { strangersName } from './names.ts';
import { minuteOf } from './words.ts';

interface SealedLink {
  readonly kind: 'invitation' | 'password';
  readonly token: string;
}

/**
 * Mails a link, in the transaction that makes it, which holds `lockLinkMails`. Until the mail is accepted, the token is kept sealed; everywhere else only
 * its hash is stored. @returns whether it will be mailed: not if this installation sends no mail, or if the company or the
 * address has had its share (contract, "Notices")
 */
export const mailLink = async (
  { portal, mailsFrom }: Pick<Access, 'portal' | 'mailsFrom'>,
  trx: Trx<AccessTables>,
  {
    companyId,
    to,
    userId = null,
    at,
    ...link
  }: SealedLink & {
    readonly to: string;
    readonly companyId: number;
    readonly userId?: number | null;
    readonly at: Date;
  },
): Promise<boolean> => {
  if (mailsFrom === null || !(await takeMail(trx, companyId, to, at))) return false;
  await trx
    .insertInto('notice_sends')
    .values({
      company_id: companyId,
      channel: 'mail',
      group_id: null,
      user_id: userId,
      sealed: sealSecret(portal.keyRing, companyId, JSON.stringify(link)),
      due_utc: at,
      created_utc: at,
    })
    .execute();
  return true;
};

/** Of a company, and to one address. */
export const linkMails = { ofCompany: 20, perMs: 3_600_000, addressMs: 15 * 60_000 };

/**
 * Makes the counts of link mails exact over all replicas. Call it before other statements of the transaction: their foreign keys
 * lock the company too.
 */
export const lockLinkMails = async (trx: Trx<AccessTables>, companyId: number): Promise<void> => {
  await selectCompany(trx, companyId).select('company_id').forUpdate().execute();
};

const takeMail = async (
  trx: Trx<AccessTables>,
  company_id: number,
  to: string,
  mailed_utc: Date,
): Promise<boolean> => {
  const [local, domain = ''] = countedEmail(to).split(/@(?=[^@]*$)/);
  // Both spellings of an international domain are one mailbox.
  const address_hash = hash('sha256', `${local}@${domainToASCII(domain) || domain}`, 'buffer');
  const sinceMs = (ageMs: number) => mailed_utc.getTime() - ageMs;
  const mailed = await trx
    .selectFrom('link_mails')
    .select(['address_hash', 'mailed_utc'])
    .where('company_id', '=', company_id)
    .where('mailed_utc', '>', new Date(sinceMs(linkMails.perMs)))
    // A later one is of a clock that went back since.
    .where('mailed_utc', '<=', new Date(sinceMs(-clockSlackMs)))
    .limit(linkMails.ofCompany)
    .execute();
  const isLate = mailed.some(
    (one) => one.address_hash.equals(address_hash) && one.mailed_utc.getTime() > sinceMs(linkMails.addressMs),
  );
  if (isLate || mailed.length >= linkMails.ofCompany) return false;
  await trx.insertInto('link_mails').values({ company_id, mailed_utc, address_hash }).execute();
  return true;
};

/** Undefined if the link was used, replaced or withdrawn, or has expired. */
export const linkMail = async (
  { db, now, keyRing, mail }: NoticesContext,
  { company_id, send_id, sealed }: Send,
): Promise<MailMessage | undefined> => {
  const { kind, token } = JSON.parse(openSecret(keyRing, company_id, sealed!)) as SealedLink;
  const company = strangersName(await readCompanyName(db, company_id));
  const messageId = `link.${company_id}.${send_id}`;
  const url = `${mail!.portalUrl}/${kind}#${token}`;
  if (kind === 'invitation') {
    const invitation = await db
      .selectFrom('portal_invitations')
      .select(['email', 'role', 'invited_by_name', 'expires_utc'])
      .where('company_id', '=', company_id)
      .where('token_hash', '=', hashToken(token))
      .where('expires_utc', '>', now())
      .executeTakeFirst();
    if (!invitation) return undefined;
    const { email, role, invited_by_name, expires_utc } = invitation;
    return {
      to: email,
      subject: `Invitation to ${company} on Causeway`,
      messageId,
      paragraphs: [
        `${strangersName(invited_by_name)} invites you to join ${company} as ${role}.`,
        `The link works once, until ${minuteOf(expires_utc)}.`,
      ],
      link: { label: 'Accept the invitation', url },
      footer: 'If you did not expect this, ignore it: nothing happens without you.',
    };
  }
  const reset = await db
    .selectFrom('portal_password_resets as reset')
    .innerJoin('portal_users as member', (join) =>
      join.onRef('member.company_id', '=', 'reset.company_id').onRef('member.id', '=', 'reset.user_id'),
    )
    .select(['member.email', 'reset.expires_utc'])
    .where('reset.company_id', '=', company_id)
    .where('member.company_id', '=', company_id)
    .where('reset.token_hash', '=', hashToken(token))
    .where('reset.expires_utc', '>', now())
    .executeTakeFirst();
  if (!reset) return undefined;
  return {
    to: reset.email,
    subject: `Choose a new password for ${company} on Causeway`,
    messageId,
    paragraphs: [
      `An admin of ${company} made a link with which you choose a new password.`,
      `The link works once, until ${minuteOf(reset.expires_utc)}.`,
    ],
    link: { label: 'Choose a new password', url },
    footer:
      'If you did not ask for this, tell an admin. Your password stays as it is until the link is used.',
  };
};
