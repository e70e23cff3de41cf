import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openApiDocument } from './document.ts';

// Compiles what the most used generator for Go makes of the document, with its default options.

const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

/** Uses the generated package as a stranger to it does: through exported names only. */
const program = `
package main

import (
	"encoding/json"
	"fmt"

	"example.com/client/causeway"
)

func main() {
	var byName, byID causeway.StatusRef
	must(byName.FromStatusRef1("Lead - Contacted"))
	must(byID.FromStatusRef0(2))
	print(causeway.UpdateLeadStatusRequest{NewStatus: &byName, NewStatusId: &byID})

	var delivery causeway.Delivery
	must(json.Unmarshal([]byte(\`{"id":7,"type":"lead.created","payload":{"client_id":42}}\`), &delivery))
	event, err := delivery.ValueByDiscriminator()
	must(err)
	print(event.(causeway.LeadCreatedEvent).Payload.ClientId)
	print(causeway.EventTypeLeadCreated)

	var logged causeway.WebhookEvent
	must(json.Unmarshal([]byte(\`{"id":7,"type":"note.unknown","payload":{}}\`), &logged))
	_, unknown := logged.ValueByDiscriminator()
	print(unknown != nil)
	print(causeway.LeadCreatedEvent{}.Id)
	print(causeway.ApiError{Error: "not found"})
}

func print(value any) {
	text, err := json.Marshal(value)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
`;

const hasGo = (): boolean => {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

test('a Go client of the document compiles, and its types can be used from another package', ({ skip }) => {
  if (!hasGo()) skip('there is no go');
  const folder = mkdtempSync(join(tmpdir(), 'causeway-go-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const go = (...args: string[]) => execFileSync('go', args, { cwd: folder, encoding: 'utf8' });
  mkdirSync(join(folder, 'causeway'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openApiDocument()));
  writeFileSync(join(folder, 'main.go'), program);
  go('mod', 'init', 'example.com/client');
  go('run', generator, '-package', 'causeway', '-o', 'causeway/causeway.go', 'openapi.json');
  go('mod', 'tidy');
  const printed = go('run', '.').trim().split('\n');
  expect(printed.map((line) => JSON.parse(line))).toEqual([
    { new_status: 'Lead - Contacted', new_status_id: 2 },
    42,
    'lead.created',
    true,
    0,
    { error: 'not found' },
  ]);
});
