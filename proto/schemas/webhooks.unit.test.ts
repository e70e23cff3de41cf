import { describe, expect, test } from 'vitest';
import { targetUrl } from './webhooks.ts';

const problemOf = (url: string): string | undefined => targetUrl.safeParse(url).error?.issues[0]?.message;

describe("A subscription's URL", () => {
  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com/a?b=1#c',
    'HTTPS://hooks.example.com:8443?b=@',
    'https://hooks.example.com/a@b',
    'https://exämple.com/ä?ö',
    'https://hooks.example.com:65535/',
  ])('may be %s', (url) => {
    expect(problemOf(url)).toBeUndefined();
  });

  test('is trimmed', () => {
    expect(targetUrl.parse(' https://hooks.example.com/\n')).toBe('https://hooks.example.com/');
  });

  test.each([
    'https:///host',
    'https://',
    'https://?a',
    'https://:443/',
    'https:host',
    'https:/host',
    'https:\\\\host',
    'https://host\\x',
    'https://host/a\\b',
    'https://host?a\\b',
    'https:// host',
    'https://host/a b',
    'https://ho\nst/',
    'https://host:65536/',
    'ftp://host/',
  ])('is invalid as %j: no host, a backslash, a blank or another scheme', (url) => {
    expect(problemOf(url)).toMatch(
      /[\\\s]/.test(url)
        ? /^invalid URL: it must not contain spaces/
        : /^invalid URL: it must be absolute, begin with https/,
    );
  });

  test.each(['https://@host', 'https://:@host/', 'https://user@host', 'https://user:pass@host/'])(
    'has no user info, an empty one included: %s',
    (url) => {
      expect(problemOf(url)).toMatch(/^invalid URL: it must not have a user name/);
    },
  );

  test.each(['https://host:0', 'https://host:00/'])('has no port 0: %s', (url) => {
    expect(problemOf(url)).toBe('invalid URL: the port must be from 1 to 65535');
  });

  test('has at most 500 code points, however many UTF-16 units they take', () => {
    const url = (characters: number): string => {
      const base = 'https://hooks.example.com/';
      return base + '😀'.repeat(characters - base.length);
    };
    expect(problemOf(url(500))).toBeUndefined();
    expect(problemOf(url(501))).toBe('URL exceeds 500 characters (actual: 501)');
  });
});
