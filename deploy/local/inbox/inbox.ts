import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly id: number;
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly raw: string;
  readonly receivedUtc: string;
}

export interface Inbox {
  readonly url: string;
  readonly smtpUrl: string;
  /** The oldest first. */
  mails(): readonly ReceivedMail[];
  close(): Promise<void>;
}

/**
 * An SMTP server on this machine that keeps mails instead of sending them, and a page that shows them.
 * @param onMail awaited before a mail is accepted; what it throws is the refusal.
 */
export const startInbox = async ({
  port = 0,
  smtpPort = 0,
  keep = 200,
  onMail = async () => {},
}: InboxOptions = {}): Promise<Inbox> => {
  const mails: ReceivedMail[] = [];
  let last = 0;
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    size: maxMailBytes,
    onData: (stream, session, accept) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        const raw = Buffer.concat(chunks);
        const mail = await simpleParser(raw);
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        const received: ReceivedMail = {
          id: ++last,
          messageId: mail.messageId ?? '',
          from: mail.from?.text ?? '',
          to: recipients.join(', '),
          recipients,
          subject: mail.subject ?? '',
          text: mail.text ?? '',
          html: mail.html || '',
          raw: raw.toString('latin1'),
          receivedUtc: new Date().toISOString(),
        };
        await onMail(received);
        mails.push(received);
        if (mails.length > keep) mails.shift();
      })().then(
        () => accept(),
        (error: Error) => accept(error),
      );
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>((done) => smtp.listen(smtpPort, host, done));
  const http = createServer((request, response) => answer(request, response, mails));
  await new Promise<void>((done) => http.listen(port, host, done));
  return {
    url: `http://${host}:${(http.address() as AddressInfo).port}/`,
    smtpUrl: `smtp://${host}:${(smtp.server.address() as AddressInfo).port}`,
    mails: () => mails,
    close: async () => {
      http.closeAllConnections();
      await Promise.all([
        new Promise((done) => http.close(done)),
        new Promise<void>((done) => smtp.close(() => done())),
      ]);
    },
  };
};

const host = '127.0.0.1';
const maxMailBytes = 2 ** 20;

interface InboxOptions {
  readonly port?: number;
  readonly smtpPort?: number;
  readonly keep?: number;
  readonly onMail?: (mail: ReceivedMail) => Promise<void>;
}

const answer = (request: IncomingMessage, response: ServerResponse, mails: readonly ReceivedMail[]): void => {
  // Links in it sign people in: a page of another site must not read it under a name of its own.
  const isOwn = /^(127\.0\.0\.1|localhost):\d+$/.test(request.headers.host ?? '');
  const [, id, part] = /^\/(\d+)(\/html)?$/.exec(request.url ?? '') ?? [];
  const mail = mails.find((one) => String(one.id) === id);
  const send = (status: number, body: string, type = 'text/html', policy = pagePolicy): void => {
    response.writeHead(status, {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
    response.end(body);
  };
  if (!isOwn || request.method !== 'GET') send(404, page('Not found', '<h1>Not found</h1>'));
  else if (request.url === '/mails.json') send(200, JSON.stringify(mails), 'application/json');
  else if (mail && part) send(200, `<base target="_blank">${mail.html}`, 'text/html', mailPolicy);
  else if (mail) send(200, mailPage(mail));
  else if (request.url === '/') send(200, listPage(mails));
  else send(404, page('Not found', '<h1>Not found</h1><p><a href="/">Inbox</a></p>'));
};

const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'self'";
const mailPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'";

const listPage = (mails: readonly ReceivedMail[]): string =>
  page(
    'Inbox',
    `<h1>Inbox</h1><p>Mails of this cluster. They are kept here instead of being sent.</p>${
      mails.length === 0
        ? '<p>No mail yet. Invite a member, or let a subscription fail five times in a row.</p>'
        : `<ul>${mails
            .toReversed()
            .map(
              ({ id, subject, to, receivedUtc }) =>
                `<li><a href="/${id}">${escaped(subject)}</a><small>to ${escaped(to)} · ${receivedUtc}</small></li>`,
            )
            .join('')}</ul>`
    }`,
  );

const mailPage = ({ id, subject, from, to, messageId, receivedUtc, text }: ReceivedMail): string =>
  page(
    subject,
    `<p><a href="/">Inbox</a></p><h1>${escaped(subject)}</h1>
    <p><small>From ${escaped(from)}<br>To ${escaped(to)}<br>${receivedUtc} · ${escaped(messageId)}</small></p>
    <iframe src="/${id}/html" title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>
    <h2>As text</h2><pre>${escaped(text)}</pre>`,
  );

const page = (
  title: string,
  body: string,
): string => `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46em; margin: 2em auto; padding: 0 1em; overflow-wrap: anywhere }
ul { list-style: none; padding: 0 } li { padding: .6em 0; border-bottom: 1px solid #8884 }
small { display: block; opacity: .75 } pre { white-space: pre-wrap; font-size: 14px }
iframe { width: 100%; height: 22em; border: 1px solid #8884; background: #fff; color-scheme: light }
</style></head><body>${body}</body></html>`;

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
