import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
  readonly keyFile: string;
  readonly certFile: string;
}

export interface Authority {
  readonly ca: string;
  readonly caFile: string;
  /**
   * @param name host or address; several separated by commas. @param days negative for an expired certificate
   */
  issue(name: string, days?: number): Certificate;
  selfSigned(name: string): Certificate;
  remove(): void;
}

export const makeAuthority = (): Authority => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-certificates-'));
  const at = (file: string) => join(folder, file);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: 'pipe', cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const selfSign = (file: string, name: string, extra: readonly string[] = []) =>
    openssl(
      ...['req', '-x509', ...newKey, '-keyout', at(`${file}.key`), '-out', at(`${file}.pem`)],
      ...['-days', '3', '-subj', `/CN=${name}`, ...extra],
    );
  const read = (file: string): Certificate => ({
    key: readFileSync(at(`${file}.key`), 'utf8'),
    cert: readFileSync(at(`${file}.pem`), 'utf8'),
    keyFile: at(`${file}.key`),
    certFile: at(`${file}.pem`),
  });
  selfSign('ca', 'An authority of tests');
  let made = 0;
  return {
    ca: read('ca').cert,
    caFile: read('ca').certFile,
    issue: (name, days = 3) => {
      made += 1;
      const file = `leaf-${made}`;
      const names = name.split(',');
      const alternatives = names.map((one) => `${/^[\d.]+$/.test(one) ? 'IP' : 'DNS'}:${one}`);
      writeFileSync(at(`${file}.ext`), `subjectAltName=${alternatives.join(',')}\n`);
      openssl(
        'req',
        ...newKey,
        '-keyout',
        at(`${file}.key`),
        '-out',
        at(`${file}.csr`),
        '-subj',
        `/CN=${names[0]}`,
      );
      openssl(
        ...['x509', '-req', '-in', at(`${file}.csr`), '-CA', at('ca.pem'), '-CAkey', at('ca.key')],
        ...['-CAcreateserial', '-out', at(`${file}.pem`), '-extfile', at(`${file}.ext`)],
        ...['-days', String(days)],
      );
      return read(file);
    },
    selfSigned: (name) => {
      selfSign('self', name, ['-addext', `subjectAltName=DNS:${name}`]);
      return read('self');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
