import { cleanUp } from '@causeway/runtime/testing';
import { Agent, request } from 'undici';

/** Requests to the API server. */
export interface Api {
  ask(method: 'GET' | 'POST' | 'DELETE' | 'PATCH', path: string, body?: object): Promise<Answered>;
  /** @throws unless the request succeeds, or the object exists already */
  create(path: string, body: object): Promise<void>;
  list<Item>(path: string): Promise<readonly Item[]>;
}

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asked for.
  readonly body: any;
}

export const openApi = ({ url, token, authority }: ApiOptions): Api => {
  const dispatcher = new Agent({ connect: { ca: authority } });
  cleanUp(() => dispatcher.destroy());
  const ask: Api['ask'] = async (method, path, body) => {
    const answer = await request(`${url}${path}`, {
      dispatcher,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  return {
    ask,
    create: async (path, body) => {
      const { status, body: said } = await ask('POST', path, body);
      if (status >= 300 && status !== 409) throw new Error(`POST ${path}: ${JSON.stringify(said)}`);
    },
    list: async <Item>(path: string) => {
      const { status, body } = await ask('GET', path);
      if (status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(body)}`);
      return body.items as readonly Item[];
    },
  };
};

interface ApiOptions {
  readonly url: string;
  readonly token: string;
  /** PEM of the server's certificate. */
  readonly authority: string;
}
