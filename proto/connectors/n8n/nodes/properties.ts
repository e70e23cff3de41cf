import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { recordKinds } from '../../changes.ts';
import { type Action, actions, events, type Field, lookups } from '../../table.ts';

/** The form of the node: a resource, its operations, and the fields of each. */
export const actionProperties = (): INodeProperties[] => {
  const resources = [...new Set(actions.map(({ resource }) => resource))];
  return [
    {
      displayName: 'Resource',
      name: 'resource',
      type: 'options',
      noDataExpression: true,
      options: resources.map((resource) => ({ name: singular(resource), value: resource })),
      default: 'leads',
    },
    ...resources.map((resource) => operationProperty(resource)),
    ...actions.flatMap(fieldProperties),
  ];
};

const singulars: Readonly<Record<string, string>> = { people: 'Person' };
const singular = (resource: string): string =>
  singulars[resource] ?? resource[0]!.toUpperCase() + resource.slice(1).replace(/s$/, '');

const operationProperty = (resource: string): INodeProperties => {
  const ofResource = actions.filter((action) => action.resource === resource);
  const first = ofResource[0]!.operation;
  return {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: [resource] } },
    options: ofResource.map(({ operation, title, description }) => ({
      name: operation[0]!.toUpperCase() + operation.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter}`),
      value: operation,
      action: title.replace(/,.*/, ''),
      description: plain(description || title),
    })),
    default: first,
  };
};

/** A required field stands alone; the others are in a list from which a person adds them. */
const fieldProperties = (action: Action): readonly INodeProperties[] => {
  const displayOptions = { show: { resource: [action.resource], operation: [action.operation] } };
  const optional = action.fields.filter(({ required }) => !required);
  const { name, displayName } = moreFields(action);
  const more: INodeProperties = {
    displayName,
    name,
    type: 'collection',
    placeholder: 'Add Field',
    default: {},
    displayOptions,
    options: optional.map(fieldProperty).sort((a, b) => (a.displayName < b.displayName ? -1 : 1)),
  };
  return [
    ...action.fields
      .filter(({ required }) => required)
      .map((field) => ({ ...fieldProperty(field), required: true, displayOptions })),
    ...(optional.length > 0 ? [more] : []),
  ];
};

/** The list of optional fields, under the name that n8n's own nodes give it. */
export const moreFields = ({ method, operation }: Action): { name: string; displayName: string } => {
  if (method === 'GET') return { name: 'filters', displayName: 'Filters' };
  return operation === 'create'
    ? { name: 'additionalFields', displayName: 'Additional Fields' }
    : { name: 'updateFields', displayName: 'Update Fields' };
};

export const isLocator = ({ in: place, lookup }: Field): boolean => place === 'path' && lookup !== undefined;

const fieldProperty = (field: Field): INodeProperties => {
  const { name, label, type, lookup } = field;
  const about = plain(field.description ?? '');
  const described = about === '' ? {} : { description: about };
  if (isLocator(field)) return locator(field);
  if (lookup && !isSearch(lookup))
    return {
      displayName: `${label.replace(/ ID$/, '')} Name or ID`,
      name,
      type: 'options',
      typeOptions: { loadOptionsMethod: lookup },
      default: '',
      description: `${about && `${about}. `}${chooseHint}`,
    };
  const plainType = { displayName: label, name, ...described };
  switch (type) {
    case 'boolean':
      return {
        ...plainType,
        type,
        default: false,
        description: `Whether it ${label.replace('Is ', 'is ').toLowerCase()}`,
      };
    case 'number':
      return { ...plainType, type, default: 0 };
    case 'email':
      return { ...plainType, type: 'string', default: '', placeholder: 'name@email.com' };
    case 'longText':
      return { ...plainType, type: 'string', typeOptions: { rows: 4 }, default: '' };
    default:
      return { ...plainType, type: 'string', default: '' };
  }
};

const isSearch = (name: string): boolean => lookups.some((one) => one.name === name && one.isSearch);

const chooseHint =
  'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>';

const locator = ({ name, label, lookup }: Field): INodeProperties => ({
  displayName: label.replace(/ ID$/, ''),
  name,
  type: 'resourceLocator',
  default: { mode: 'list', value: '' },
  description: 'The lead or client',
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: lookup, searchable: true, searchFilterRequired: true },
    },
    {
      displayName: 'By ID',
      name: 'id',
      type: 'string',
      placeholder: 'e.g. 1042',
      validation: [
        {
          type: 'regex',
          properties: { regex: '^[0-9]{1,16}$', errorMessage: 'Not the ID of a lead or client' },
        },
      ],
    },
  ],
});

export const eventProperty = (): INodeProperties => ({
  displayName: 'Events',
  name: 'events',
  type: 'multiOptions',
  required: true,
  default: [],
  description: 'The events that start the workflow',
  options: events
    .map(
      ({ type, title, description }): INodePropertyOptions => ({
        name: title.replace(/ [a-z]/g, (letter) => letter.toUpperCase()),
        value: type,
        description: plain(description),
      }),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1)),
});

export const kindsProperty = (): INodeProperties => ({
  displayName: 'Records',
  name: 'kinds',
  type: 'multiOptions',
  required: true,
  default: ['person'],
  description: 'The records whose changes start the workflow',
  options: recordKinds.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});

/** n8n shows HTML, and ends a single sentence without a period. */
const plain = (text: string): string => {
  const flat = text.replaceAll('`', '').replaceAll('<', '&lt;');
  return /\. /.test(flat) ? flat : flat.replace(/\.$/, '');
};
