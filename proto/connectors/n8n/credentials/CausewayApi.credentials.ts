import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow';

export class CausewayApi implements ICredentialType {
  name = 'causewayApi';

  displayName = 'Causeway API';

  icon: Icon = 'file:../causeway.svg';

  documentationUrl = 'https://crm.example.com/docs';

  properties: INodeProperties[] = [
    {
      displayName: 'Address',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://crm.example.com',
      description: 'Where your installation of Causeway is',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'Created in the portal under API keys. Actions need the scopes integrations:read and integrations:write, the trigger webhooks:write.',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { 'X-Api-Key': '={{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.trim().replace(/\\/+$/, "").replace(/\\/+api\\/v1$/, "")}}',
      url: '/api/v1/integrations/me',
    },
  };
}
