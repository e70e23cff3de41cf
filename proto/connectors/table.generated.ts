// Written by `npm run openapi -- --snapshot`.
import type { ConnectorTable } from './table.ts';

export const { actions, lookups, events }: ConnectorTable = {
  "actions": [
    {
      "resource": "affiliates",
      "operation": "create",
      "title": "Create an affiliate",
      "description": "A new affiliate is not approved. If an affiliate with the same external_id exists, the sent fields are applied to it instead.",
      "method": "POST",
      "path": "/integrations/affiliates",
      "fields": [
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": true
        },
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "affiliate_code",
          "label": "Affiliate Code",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Unique in the company; 8 characters are generated if it is absent."
        },
        {
          "name": "commission_rate",
          "label": "Commission Rate",
          "in": "body",
          "type": "number",
          "required": false,
          "description": "Per cent, at most 2 decimals."
        },
        {
          "name": "affiliate_company_name",
          "label": "Affiliate Company Name",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "employee_id": 31,
        "affiliate_code": "K7M2QX9D",
        "is_approved": true,
        "created_utc": "2026-01-15T09:30:00.000Z"
      }
    },
    {
      "resource": "affiliates",
      "operation": "get",
      "title": "Read an affiliate",
      "description": "",
      "method": "GET",
      "path": "/integrations/affiliates/{employee_id}",
      "fields": [
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "The affiliate's employee ID."
        }
      ],
      "sample": {
        "employee_id": 31,
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": "grace@example.com",
        "phone": null,
        "affiliate_code": "GRACE-31",
        "commission_rate": 12.5,
        "affiliate_company_name": "Hopper Media",
        "is_active": true,
        "is_approved": true,
        "external_id": "partner-31",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "version": 2
      }
    },
    {
      "resource": "affiliates",
      "operation": "update",
      "title": "Update, approve or deactivate an affiliate",
      "description": "Only the sent fields change. null clears an optional field.",
      "method": "PATCH",
      "path": "/integrations/affiliates/{employee_id}",
      "fields": [
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "The affiliate's employee ID."
        },
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": false
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "affiliate_company_name",
          "label": "Affiliate Company Name",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "commission_rate",
          "label": "Commission Rate",
          "in": "body",
          "type": "number",
          "required": false,
          "description": "Per cent, at most 2 decimals."
        },
        {
          "name": "is_active",
          "label": "Is Active",
          "in": "body",
          "type": "boolean",
          "required": false
        },
        {
          "name": "is_approved",
          "label": "Is Approved",
          "in": "body",
          "type": "boolean",
          "required": false
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "success": true,
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "employee_id": 31
      }
    },
    {
      "resource": "clients",
      "operation": "create",
      "title": "Create a client",
      "description": "Without `status` the client gets the company's default client status. If a record with the same external_id exists, the sent fields are applied to it instead, and a lead becomes a client.",
      "method": "POST",
      "path": "/integrations/clients",
      "fields": [
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": true
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "status",
          "label": "Status",
          "in": "body",
          "type": "text",
          "required": false,
          "lookup": "clientStatuses"
        },
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "city",
          "label": "City",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "state",
          "label": "State",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "zip",
          "label": "Zip",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "affiliate_id",
          "label": "Affiliate ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "affiliates"
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "client_id": 1042,
        "status": "Client - Active",
        "created_utc": "2026-01-15T09:30:00.000Z"
      }
    },
    {
      "resource": "clients",
      "operation": "find",
      "title": "Find clients",
      "description": "Finds clients (not leads) by email, phone, external_id or client_id. Emails are compared case-insensitively, phones by their digits, the rest exactly. A record must match all given parameters. Returns at most 25 records, newest first; `hasMore` says whether there are others.",
      "method": "GET",
      "path": "/integrations/clients/find",
      "fields": [
        {
          "name": "email",
          "label": "Email",
          "in": "query",
          "type": "email",
          "required": false
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "query",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "query",
          "type": "text",
          "required": false
        },
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "query",
          "type": "integer",
          "required": false,
          "lookup": "clients"
        }
      ],
      "list": "clients",
      "sample": {
        "client_id": 1042,
        "first_name": "Katherine",
        "last_name": "Johnson",
        "email": "katherine@example.com",
        "phone": "+1 555 010 4477",
        "external_id": "crm-88",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "status": "Client - Active",
        "is_lead": false
      }
    },
    {
      "resource": "clients",
      "operation": "get",
      "title": "Read a client",
      "description": "Answers 404 unless the record is a client.",
      "method": "GET",
      "path": "/integrations/clients/{client_id}",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        }
      ],
      "sample": {
        "client_id": 1042,
        "first_name": "Katherine",
        "last_name": "Johnson",
        "email": "katherine@example.com",
        "phone": "+1 555 010 4477",
        "city": "Hampton",
        "state": "Virginia",
        "zip": "23666",
        "package_keyword": null,
        "status_id": 20,
        "status": "Client - Active",
        "is_lead": false,
        "employee_id": 7,
        "affiliate_id": null,
        "external_id": "crm-88",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "version": 2
      }
    },
    {
      "resource": "clients",
      "operation": "update",
      "title": "Update a client",
      "description": "Only the sent fields change. null clears an optional field. Answers 404 unless the record is a client.",
      "method": "PATCH",
      "path": "/integrations/clients/{client_id}",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        },
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": false
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "city",
          "label": "City",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "state",
          "label": "State",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "zip",
          "label": "Zip",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "affiliate_id",
          "label": "Affiliate ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "affiliates"
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "success": true,
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "client_id": 1042
      }
    },
    {
      "resource": "clients",
      "operation": "updateStatus",
      "title": "Change the status of a client, or convert a lead to a client",
      "description": "Takes any status that is not a lead status, by ID or name; if both are sent, they must agree. A lead is converted to a client. Setting the status the client already has answers 200 and changes nothing.",
      "method": "PATCH",
      "path": "/integrations/clients/{client_id}/status",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        },
        {
          "name": "new_status",
          "label": "New Status",
          "in": "body",
          "type": "text",
          "required": true,
          "lookup": "clientStatuses"
        },
        {
          "name": "changed_by_employee_id",
          "label": "Changed By Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "status_note",
          "label": "Status Note",
          "in": "body",
          "type": "longText",
          "required": false
        }
      ],
      "sample": {
        "previous_status": "Lead - Contacted",
        "new_status": "Client - Active",
        "updated_utc": "2026-01-15T09:31:00.000Z"
      }
    },
    {
      "resource": "leads",
      "operation": "create",
      "title": "Create a lead",
      "description": "Without `status` the lead starts as `Lead - New`. If a record with the same external_id exists, the sent fields are applied to it instead; the status of a client does not change.",
      "method": "POST",
      "path": "/integrations/leads",
      "fields": [
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": true,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": true
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "status",
          "label": "Status",
          "in": "body",
          "type": "text",
          "required": false,
          "lookup": "leadStatuses"
        },
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "city",
          "label": "City",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "state",
          "label": "State",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "zip",
          "label": "Zip",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "package_keyword",
          "label": "Package Keyword",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "affiliate_id",
          "label": "Affiliate ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "affiliates"
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "client_id": 1042,
        "status": "Lead - Contacted",
        "created_utc": "2026-01-15T09:30:00.000Z"
      }
    },
    {
      "resource": "leads",
      "operation": "find",
      "title": "Find leads",
      "description": "Finds leads (not clients) by email, phone, external_id or client_id. Emails are compared case-insensitively, phones by their digits, the rest exactly. A record must match all given parameters. Returns at most 25 records, newest first; `hasMore` says whether there are others.",
      "method": "GET",
      "path": "/integrations/leads/find",
      "fields": [
        {
          "name": "email",
          "label": "Email",
          "in": "query",
          "type": "email",
          "required": false
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "query",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "query",
          "type": "text",
          "required": false
        },
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "query",
          "type": "integer",
          "required": false,
          "lookup": "clients"
        }
      ],
      "list": "clients",
      "sample": {
        "client_id": 1042,
        "first_name": "Katherine",
        "last_name": "Johnson",
        "email": "katherine@example.com",
        "phone": "+1 555 010 4477",
        "external_id": "crm-88",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "status": "Lead - New",
        "is_lead": true
      }
    },
    {
      "resource": "leads",
      "operation": "get",
      "title": "Read a lead",
      "description": "Answers 404 unless the record is a lead.",
      "method": "GET",
      "path": "/integrations/leads/{client_id}",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        }
      ],
      "sample": {
        "client_id": 1042,
        "first_name": "Katherine",
        "last_name": "Johnson",
        "email": "katherine@example.com",
        "phone": "+1 555 010 4477",
        "city": "Hampton",
        "state": "Virginia",
        "zip": "23666",
        "package_keyword": null,
        "status_id": 20,
        "status": "Lead - New",
        "is_lead": true,
        "employee_id": 7,
        "affiliate_id": null,
        "external_id": "crm-88",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "version": 2
      }
    },
    {
      "resource": "leads",
      "operation": "update",
      "title": "Update a lead",
      "description": "Only the sent fields change. null clears an optional field. Answers 404 unless the record is a lead.",
      "method": "PATCH",
      "path": "/integrations/leads/{client_id}",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        },
        {
          "name": "first_name",
          "label": "First Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "last_name",
          "label": "Last Name",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "At least one visible character, no control characters."
        },
        {
          "name": "email",
          "label": "Email",
          "in": "body",
          "type": "email",
          "required": false
        },
        {
          "name": "phone",
          "label": "Phone",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Digits, space and +()-./x, at least 3 digits."
        },
        {
          "name": "city",
          "label": "City",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "state",
          "label": "State",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "zip",
          "label": "Zip",
          "in": "body",
          "type": "text",
          "required": false
        },
        {
          "name": "employee_id",
          "label": "Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "affiliate_id",
          "label": "Affiliate ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "affiliates"
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "success": true,
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "client_id": 1042
      }
    },
    {
      "resource": "leads",
      "operation": "updateStatus",
      "title": "Change the status of a lead",
      "description": "Takes a lead status, by ID or name; if both are sent, they must agree. Setting the status the lead already has answers 200 and changes nothing.",
      "method": "PATCH",
      "path": "/integrations/leads/{client_id}/status",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        },
        {
          "name": "new_status",
          "label": "New Status",
          "in": "body",
          "type": "text",
          "required": true,
          "lookup": "leadStatuses"
        },
        {
          "name": "changed_by_employee_id",
          "label": "Changed By Employee ID",
          "in": "body",
          "type": "integer",
          "required": false,
          "lookup": "employees"
        },
        {
          "name": "status_note",
          "label": "Status Note",
          "in": "body",
          "type": "longText",
          "required": false
        }
      ],
      "sample": {
        "previous_status": "Lead - New",
        "new_status": "Lead - Contacted",
        "updated_utc": "2026-01-15T09:31:00.000Z"
      }
    },
    {
      "resource": "notes",
      "operation": "create",
      "title": "Add a note to a lead or client",
      "description": "If a note with the same external_id exists, it is updated instead.",
      "method": "POST",
      "path": "/integrations/clients/{client_id}/notes",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        },
        {
          "name": "text",
          "label": "Text",
          "in": "body",
          "type": "longText",
          "required": true
        },
        {
          "name": "note_type",
          "label": "Note Type",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Any label; `general` if absent."
        },
        {
          "name": "visibility",
          "label": "Visibility",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "Any label; `internal` if absent."
        },
        {
          "name": "external_id",
          "label": "External ID",
          "in": "body",
          "type": "text",
          "required": false,
          "description": "The caller's own identifier. A create with the identifier of an existing record updates that record instead."
        }
      ],
      "sample": {
        "client_note_id": 501,
        "created_utc": "2026-01-15T09:32:00.000Z"
      }
    },
    {
      "resource": "people",
      "operation": "get",
      "title": "Read a lead or client",
      "description": "",
      "method": "GET",
      "path": "/integrations/people/{client_id}",
      "fields": [
        {
          "name": "client_id",
          "label": "Client ID",
          "in": "path",
          "type": "integer",
          "required": true,
          "description": "ID of the lead or client.",
          "lookup": "clients"
        }
      ],
      "sample": {
        "client_id": 1042,
        "first_name": "Katherine",
        "last_name": "Johnson",
        "email": "katherine@example.com",
        "phone": "+1 555 010 4477",
        "city": "Hampton",
        "state": "Virginia",
        "zip": "23666",
        "package_keyword": null,
        "status_id": 20,
        "status": "Client - Active",
        "is_lead": false,
        "employee_id": 7,
        "affiliate_id": null,
        "external_id": "crm-88",
        "created_utc": "2026-01-15T09:30:00.000Z",
        "updated_utc": "2026-01-15T09:31:00.000Z",
        "version": 2
      }
    }
  ],
  "lookups": [
    {
      "name": "affiliates",
      "label": "Affiliate",
      "path": "/integrations/lookups/affiliates",
      "list": "affiliates",
      "value": "affiliate_id",
      "shown": "full_name"
    },
    {
      "name": "leadStatuses",
      "label": "Lead Status",
      "path": "/integrations/lookups/client-statuses",
      "list": "statuses",
      "value": "status_id",
      "shown": "status_name",
      "isLead": true
    },
    {
      "name": "clientStatuses",
      "label": "Client Status",
      "path": "/integrations/lookups/client-statuses",
      "list": "statuses",
      "value": "status_id",
      "shown": "status_name",
      "isLead": false
    },
    {
      "name": "clients",
      "label": "Client",
      "path": "/integrations/lookups/clients",
      "list": "clients",
      "value": "id",
      "shown": "name",
      "isSearch": true
    },
    {
      "name": "employees",
      "label": "Employee",
      "path": "/integrations/lookups/employees",
      "list": "employees",
      "value": "employee_id",
      "shown": "full_name"
    }
  ],
  "events": [
    {
      "type": "client.created",
      "title": "Client created",
      "description": "A client was added: by hand, by an import or through the interface.",
      "sample": {
        "id": 90071,
        "type": "client.created",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "client_id": 1042,
          "first_name": "Katherine",
          "last_name": "Johnson",
          "email": "katherine@example.com",
          "phone": "+1 555 010 4477",
          "status": "Client - Active",
          "created_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "client.status_changed",
      "title": "Client status changed",
      "description": "A client moved to another status, or a lead became a client.",
      "sample": {
        "id": 90071,
        "type": "client.status_changed",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "client_id": 1042,
          "previous_status": "Lead - Contacted",
          "new_status": "Client - Active",
          "changed_by_employee_id": 7,
          "status_note": "Signed today.",
          "changed_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "lead.created",
      "title": "Lead created",
      "description": "A new lead came in, for example from a web form.",
      "sample": {
        "id": 90071,
        "type": "lead.created",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "client_id": 1042,
          "first_name": "Katherine",
          "last_name": "Johnson",
          "email": "katherine@example.com",
          "phone": "+1 555 010 4477",
          "status": "Lead - New",
          "created_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "invoice.created",
      "title": "Invoice created",
      "description": "An invoice was written for a client.",
      "sample": {
        "id": 90071,
        "type": "invoice.created",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "invoice_id": 3001,
          "client_id": 1042,
          "invoice_number": "INV-3001",
          "amount": 129.5,
          "currency": "USD",
          "status": "open",
          "due_date": "2026-01-15T09:30:00.000Z",
          "created_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "invoice.status_changed",
      "title": "Invoice status changed",
      "description": "An invoice was sent, paid, or became overdue.",
      "sample": {
        "id": 90071,
        "type": "invoice.status_changed",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "invoice_id": 3001,
          "client_id": 1042,
          "previous_status": "open",
          "new_status": "paid",
          "changed_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "payment.succeeded",
      "title": "Payment succeeded",
      "description": "A client’s payment went through.",
      "sample": {
        "id": 90071,
        "type": "payment.succeeded",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "payment_id": 7001,
          "client_id": 1042,
          "invoice_id": 3001,
          "amount": 129.5,
          "currency": "USD",
          "payment_method": "card",
          "paid_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "payment.failed",
      "title": "Payment failed",
      "description": "A client’s payment was refused; the payload says why.",
      "sample": {
        "id": 90071,
        "type": "payment.failed",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "payment_id": 7001,
          "client_id": 1042,
          "invoice_id": 3001,
          "amount": 129.5,
          "currency": "USD",
          "payment_method": "card",
          "failure_reason": "The card was declined.",
          "failed_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "affiliate.created",
      "title": "Affiliate created",
      "description": "An affiliate was added and awaits approval.",
      "sample": {
        "id": 90071,
        "type": "affiliate.created",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "employee_id": 31,
          "first_name": "Lise",
          "last_name": "Meitner",
          "email": "lise@example.com",
          "phone": "+1 555 010 2233",
          "affiliate_code": "K7M2QX9D",
          "affiliate_company_name": "Meitner & Co",
          "commission_rate": 12.5,
          "is_approved": false,
          "created_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "document.uploaded",
      "title": "Document uploaded",
      "description": "A document was added to a client’s record.",
      "sample": {
        "id": 90071,
        "type": "document.uploaded",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "document_id": 8101,
          "client_id": 1042,
          "file_name": "contract.pdf",
          "content_type": "application/pdf",
          "size_bytes": 48213,
          "uploaded_by_employee_id": 7,
          "uploaded_date": "2026-01-15T09:30:00.000Z"
        }
      }
    },
    {
      "type": "agreement.signed",
      "title": "Agreement signed",
      "description": "A client signed an agreement.",
      "sample": {
        "id": 90071,
        "type": "agreement.signed",
        "createdUtc": "2026-01-15T09:30:00.000Z",
        "companyId": 1001,
        "payload": {
          "agreement_id": 9102,
          "client_id": 1042,
          "agreement_name": "Service agreement",
          "signer_name": "Katherine Johnson",
          "signer_email": "katherine@example.com",
          "signed_date": "2026-01-15T09:30:00.000Z"
        }
      }
    }
  ]
};
