import type { Authentication, Bundle, ZObject } from 'zapier-platform-core';
import { basePath } from '../request.ts';
import { send } from './send.ts';

const me = (z: ZObject, bundle: Bundle) =>
  send(z, bundle, { method: 'GET', path: `${basePath}/integrations/me`, query: {} });

export const authentication: Authentication = {
  type: 'custom',
  fields: [
    {
      key: 'baseUrl',
      label: 'Address',
      type: 'string',
      required: true,
      placeholder: 'https://crm.example.com',
      helpText: 'Where your installation of Causeway is.',
    },
    {
      key: 'apiKey',
      label: 'API Key',
      type: 'password',
      required: true,
      helpText:
        'Create it in the portal, under API keys. Actions need the scopes `integrations:read` and `integrations:write`, triggers `webhooks:write` and `events:read`.',
    },
  ],
  test: me,
  connectionLabel: '{{company.name}} ({{key.name}})',
};
