// biome-ignore-all lint/suspicious/noExplicitAny: n8n's own types have it in these places.
// The parts of n8n that the nodes use. n8n itself is too large to install for a type check; the nightly test checks the
// nodes against its own types.
declare module 'n8n-workflow' {
  export type IDataObject = Record<string, any>;
  export type JsonObject = Record<string, any>;
  export interface INode {
    readonly id: string;
    readonly name: string;
  }
  export interface INodeExecutionData {
    json: IDataObject;
    pairedItem?: { item: number };
  }
  export interface INodePropertyOptions {
    name: string;
    value: string | number | boolean;
    description?: string;
    action?: string;
  }
  export interface INodeListSearchResult {
    results: INodePropertyOptions[];
  }
  export interface INodeProperties {
    displayName: string;
    name: string;
    type: any;
    default: any;
    [detail: string]: any;
  }
  export interface INodeTypeDescription {
    displayName: string;
    name: string;
    properties: INodeProperties[];
    [detail: string]: any;
  }
  export interface INodeType {
    description: INodeTypeDescription;
  }
  export interface ICredentialType {
    name: string;
    displayName: string;
    properties: INodeProperties[];
  }
  export type Icon = `file:${string}`;
  export interface IAuthenticateGeneric {
    type: 'generic';
    properties: IDataObject;
  }
  export interface ICredentialTestRequest {
    request: IDataObject;
  }
  export interface IHttpRequestOptions {
    [option: string]: any;
  }
  interface Functions {
    getCredentials<Credentials extends object>(type: string): Promise<Credentials>;
    getNode(): INode;
    getNodeParameter(name: string, fallback?: any): any;
    helpers: {
      httpRequestWithAuthentication(this: any, type: string, options: IHttpRequestOptions): Promise<any>;
    };
  }
  export interface ILoadOptionsFunctions extends Functions {}
  export interface IExecuteFunctions extends Functions {
    getInputData(): INodeExecutionData[];
    getNodeParameter(name: string, index: number, fallback?: any, options?: { extractValue?: boolean }): any;
    continueOnFail(): boolean;
  }
  export interface IHookFunctions extends Functions {
    getNodeWebhookUrl(name: 'default'): string | undefined;
    getWorkflow(): { id?: string; name?: string };
    getWorkflowStaticData(type: 'node'): IDataObject;
  }
  export interface IPollFunctions extends Functions {
    readonly logger: { warn(text: string): void };
    getMode(): string;
    getWorkflowStaticData(type: 'node'): IDataObject;
  }
  export interface IWebhookResponseData {
    workflowData?: INodeExecutionData[][];
    noWebhookResponse?: boolean;
    webhookResponse?: any;
  }
  export interface IWebhookFunctions extends Functions {
    getRequestObject(): { rawBody?: Uint8Array };
    getResponseObject(): {
      readonly statusCode: number;
      status(code: number): { json(body: unknown): unknown };
      once(event: 'finish', done: () => void): unknown;
    };
    getMode(): string;
    getWorkflow(): { id?: string };
    getHeaderData(): Record<string, string | string[] | undefined>;
    getWorkflowStaticData(type: 'node'): IDataObject;
  }
  export class NodeApiError extends Error {
    constructor(node: INode, response: JsonObject, options?: Record<string, any>);
  }
  export const NodeConnectionTypes: { readonly Main: 'main' };
  export function sleep(ms: number): Promise<void>;
}
