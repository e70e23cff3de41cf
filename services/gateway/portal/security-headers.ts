import type { Header } from '../limits/policy.ts';
import type { Client } from './client.ts';

const always: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];
const https: Header = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'];

/** The headers of every answer of the portal. */
export const securityHeaders = (client: Client): readonly Header[] =>
  client.https ? [...always, https] : always;

/** An answer of the API is data: if it is ever shown as a page, nothing in it may run or be framed. */
export const dataPolicy: Header = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];

/** A page may run and load its own files and connect to its own origin, nothing else. */
export const pagePolicy = (nonce?: string): Header => [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    nonce ? `style-src 'self' 'nonce-${nonce}'` : "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
];

export const pagePermissions: Header = [
  'Permissions-Policy',
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-write=(self)',
];
