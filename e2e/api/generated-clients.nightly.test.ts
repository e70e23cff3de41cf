import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { openWorld } from './support/world.ts';

// Clients that common generators create from the OpenAPI document: each is generated, compiled and used against the cluster.
// The table of versions is in proto/client/README.md.

const world = await openWorld();
const root = resolve(import.meta.dirname, '../..');
const env = readEnv();
const tools = join(
  env.CAUSEWAY_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'causeway'),
  'generators-1',
);

/** Runs a script to its end, and returns what it prints. */
const run = async (script: string, cwd: string, more = {}): Promise<string> => {
  const PATH = [
    dirname(process.execPath),
    join(tools, 'bin'),
    join(root, 'node_modules/.bin'),
    env.PATH,
  ].join(':');
  const options = {
    cwd,
    env: { ...env, TOOLS: tools, ROOT: root, PATH, ...more },
    maxBuffer: 64 * 1024 * 1024,
  };
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options);
  return stdout.trim();
};

const packages =
  'openapi-generator-cli==7.26.0 openapi-python-client==0.29.1 datamodel-code-generator==0.89.0 mypy pydantic[email] httpx attrs python-dateutil urllib3';
const install = `python3 -m venv .
bin/pip install --quiet ${packages}
npm install --ignore-scripts --no-audit --no-fund --silent @hey-api/openapi-ts@0.95.0 orval@7.13.2
touch whole`;

beforeAll(async () => {
  if (existsSync(join(tools, 'whole'))) return;
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, 'package.json'), '{"private":true}');
  await run(install, tools);
}, 600_000);

const asTypeScript = `
echo '{"extends":"'$ROOT'/tsconfig.base.json","compilerOptions":{"module":"esnext","moduleResolution":"bundler","noUncheckedIndexedAccess":false,"exactOptionalPropertyTypes":false,"erasableSyntaxOnly":false,"verbatimModuleSyntax":false,"noImplicitOverride":false,"lib":["es2024","dom","dom.iterable"]},"files":["round-trip.ts"]}' > tsconfig.json
node $ROOT/node_modules/typescript/bin/tsc -p . >&2
echo "import { roundTrip } from './round-trip.ts'; console.log(await roundTrip(process.env.BASE, process.env.KEY))" > main.mts
rolldown main.mts --platform node --file main.mjs >&2
node main.mjs`;

test.each([
  [
    'openapi-typescript',
    'round-trip.ts.txt',
    `node $ROOT/e2e/node_modules/openapi-typescript/bin/cli.js openapi.json --output schema.d.ts >&2${asTypeScript}`,
  ],
  [
    'hey-api',
    'hey-api.ts.txt',
    `node $TOOLS/node_modules/.bin/openapi-ts -i openapi.json -o client >&2${asTypeScript}`,
  ],
  [
    'orval',
    'orval.ts.txt',
    `node $TOOLS/node_modules/.bin/orval --input ./openapi.json --output ./client.ts --client fetch >&2${asTypeScript}`,
  ],
  [
    'openapi-python-client',
    'round-trip.py',
    `printf 'package_name_override: causeway_client\\nproject_name_override: causeway-client\\npost_hooks: []\\n' > config.yaml
openapi-python-client generate --path openapi.json --output-path causeway_client --config config.yaml --meta none 2>&1 | (! grep -iE 'warning|error' >&2)
python round-trip.py $BASE $KEY`,
  ],
  [
    'datamodel-code-generator',
    'datamodel.py',
    `datamodel-codegen --input openapi.json --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel --use-annotated --formatters builtin
mypy --strict models.py >&2
python round-trip.py $BASE $KEY`,
  ],
  [
    'oapi-codegen',
    'oapi-codegen.go.txt',
    `go mod init example.com/client
mkdir causeway
go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -package causeway -o causeway/causeway.go openapi.json
mv round-trip.go main.go
go mod tidy
go vet .
go run . $BASE $KEY`,
  ],
  [
    'openapi-generator for TypeScript',
    'openapi-generator.ts.txt',
    `openapi-generator-cli generate -i plain.json -g typescript-fetch -o client >&2${asTypeScript}`,
  ],
  [
    'openapi-generator for Python',
    'openapi-generator.py',
    `openapi-generator-cli generate -i openapi.json -g python -o . >&2
python round-trip.py $BASE $KEY`,
  ],
  [
    'openapi-generator for Java',
    'openapi-generator.java.txt',
    `openapi-generator-cli generate -i openapi.json -g java -o . --additional-properties=library=native >&2
mv round-trip.java src/main/java/RoundTrip.java
mvn -q -DskipTests compile dependency:build-classpath -Dmdep.outputFile=classpath >&2
java -cp target/classes:$(cat classpath) RoundTrip $BASE $KEY`,
  ],
  [
    'openapi-generator for Go',
    'openapi-generator.go.txt',
    `openapi-generator-cli generate -i openapi.json -g go -o . --git-host example.com --git-user-id causeway --git-repo-id client >&2
mkdir main && mv round-trip.go main/main.go
go mod tidy
go vet ./main
go run ./main $BASE $KEY`,
  ],
])(
  '%s makes a client that compiles and works',
  async (name, program, script) => {
    // Inside the repository, so that generated code finds the packages that it imports.
    const folder = mkdtempSync(join(import.meta.dirname, '.generated-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    for (const [file, path] of [
      ['openapi.json', '/openapi.json'],
      ['plain.json', '/openapi.json?webhooks=false'],
    ] as const)
      writeFileSync(join(folder, file), (await world.ask(path)).text);
    const ending = program.replace('.txt', '').split('.').at(-1);
    copyFileSync(join(import.meta.dirname, 'clients', program), join(folder, `round-trip.${ending}`));
    const { value: KEY } = await (await world.company()).key();
    const said = await run(script, folder, { BASE: world.baseUrl, KEY });
    expect(said.split('\n').at(-1), `${name}: ${readdirSync(folder)}`).toBe('done');
  },
  600_000,
);
