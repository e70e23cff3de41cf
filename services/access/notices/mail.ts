import { createTransport } from 'nodemailer';
import { z } from 'zod';
import { linkless } from './names.ts';

/** Where mail goes, and what it says of its origin. */
export interface MailSettings {
  /** `smtp://` upgrades to TLS by STARTTLS, and refuses a server without it unless that is on this machine; or `smtps://`. */
  readonly url: string;
  readonly from: string;
  /** Of the portal, such as `https://crm.example.com/portal`. */
  readonly portalUrl: string;
}

export interface Mail extends Pick<MailSettings, 'from' | 'portalUrl'> {
  /** Resolves when the server has accepted the message. @throws MailRefused, or an error that may pass */
  send(message: MailMessage): Promise<void>;
  close(): void;
}

export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  /** The same for every sending of the message, so that a mail client shows it once. */
  readonly messageId: string;
  readonly paragraphs: readonly string[];
  readonly link: { readonly label: string; readonly url: string };
  readonly footer: string;
  /** Our own page, behind the footer. */
  readonly footerUrl?: string;
}

/** The server will never accept the message. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

export const createMail = ({ url, from, portalUrl }: MailSettings): Mail => {
  const server = new URL(url);
  const secure = server.protocol === 'smtps:';
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(server.hostname);
  const transport = createTransport({
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: Number(server.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLocal,
    ...(server.username !== '' && {
      auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) },
    }),
    pool: true,
    maxConnections: 4,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([\w.-]+)>?$/.exec(from)?.[1] ?? 'localhost';
  return {
    from,
    portalUrl,
    send: async ({ to, subject, messageId, ...texts }) => {
      // Names of tenants stand in all of them.
      const content = {
        ...texts,
        paragraphs: texts.paragraphs.map(linkless),
        footer: [linkless(texts.footer), texts.footerUrl].filter(Boolean).join(' '),
      };
      try {
        await transport.sendMail({
          from,
          // As an address, so that no part of it is read as another recipient.
          to: { name: '', address: to },
          subject: linkless(subject),
          messageId: `<${messageId}@${domain}>`,
          // Programs that answer by themselves, such as out-of-office replies, leave it alone (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
          text: textOf(content),
          html: htmlOf(content),
        });
      } catch (error) {
        const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
        if (code === 'EENVELOPE' && (responseCode >= 500 || responseCode === 0))
          throw new MailRefused('the server refused the recipient', { cause: error });
        throw error;
      }
    },
    close: () => transport.close(),
  };
};

/** Less than a lease (`send.ts`). */
const timeoutMs = 15_000;

type Content = Pick<MailMessage, 'paragraphs' | 'link' | 'footer'>;

const textOf = ({ paragraphs, link, footer }: Content): string =>
  [...paragraphs, `${link.label}: ${link.url}`, `--\n${footer}`].join('\n\n');

const htmlOf = ({ paragraphs, link, footer }: Content): string =>
  [
    '<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;max-width:40em;margin:1.5em">',
    ...paragraphs.map(
      (text) => `<p style="overflow-wrap:anywhere">${escaped(text).replaceAll('\n', '<br>')}</p>`,
    ),
    `<p><a href="${escaped(link.url)}">${escaped(link.label)}</a></p>`,
    `<p style="color:#666;font-size:13px">${escaped(footer)}</p></body></html>`,
  ].join('\n');

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** `Causeway <no-reply@example.com>`, or an address alone. */
export const senderText = () =>
  z.string().regex(/^(?:[^<>\p{Cc}"]{1,100} <[^\s<>@,]+@[\w.-]+>|[^\s<>@,]+@[\w.-]+)$/u, {
    error: 'must be an address, or a name and an address in angle brackets',
  });
