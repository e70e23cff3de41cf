import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const isTest = (file: string): boolean => /\.test\.tsx?$|\/test-[\w-]+\.ts$|^e2e\//.test(file);
const sources = tracked.filter((file) => /(?<!\.d)\.(tsx?|mjs)$/.test(file) && file !== 'vitest.config.ts');

const importsOf = (file: string): string[] =>
  [
    ...textOf(file).matchAll(
      /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ]
    // `?raw` imports the file as text.
    .map((match) => (match[1] ?? match[2] ?? match[3]!).replace(/\?raw$/, ''));

const roomOf = (file: string): string => {
  const [first, second] = file.split('/');
  return first === 'services' ? `services/${second}` : first!;
};

const targetRoom = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith('.')) return roomOf(normalize(join(dirname(file), specifier)));
  const own = /^@causeway\/(\w+)/.exec(specifier)?.[1];
  if (!own) return undefined;
  return own === 'proto' || own === 'e2e' ? own : own === 'local' ? 'deploy' : `services/${own}`;
};

describe('dependencies point one way', () => {
  const libraries = ['services/identity', 'services/deliveries'];
  const mayImport = (room: string): readonly string[] => {
    if (room === 'proto') return ['proto'];
    if (room === 'services/runtime') return ['proto', room];
    if (libraries.includes(room)) return ['proto', 'services/runtime', room];
    if (room.startsWith('services/')) return ['proto', 'services/runtime', ...libraries, room];
    return [];
  };
  const bound = sources.filter((file) => mayImport(roomOf(file)).length > 0);
  /** A service's test world may start another service beside it, through that service's own test world, and the receiver. */
  const isBeside = (file: string, specifier: string): boolean =>
    /^services\/\w+\/testing\//.test(file) &&
    /^(services\/\w+\/testing|deploy\/local\/(receiver|inbox))\//.test(
      normalize(join(dirname(file), specifier)),
    );

  test.each(bound)('%s', (file) => {
    const allowed = mayImport(roomOf(file));
    const astray = importsOf(file).filter((specifier) => {
      const target = targetRoom(file, specifier);
      return target !== undefined && !allowed.includes(target) && !isBeside(file, specifier);
    });
    expect(astray).toEqual([]);
  });
});

test('the environment is read in one place', () => {
  // Code that runs before packages are installed, or is a package of its own, has no runtime; tests and the pages' build set variables.
  const excepted = (file: string): boolean =>
    file === 'services/runtime/config.ts' ||
    file === 'admin-ui/scripts/build.ts' ||
    file === 'proto/client/terminal/main.ts' ||
    file.endsWith('.mjs') ||
    isTest(file);
  expect(sources.filter((file) => !excepted(file) && textOf(file).includes('process.env'))).toEqual([]);
});

test('what runs again and again is guarded, and no process ends by what it throws', () => {
  const using = (wanted: RegExp): string[] =>
    sources.filter(
      (file) =>
        file.startsWith('services/') &&
        !isTest(file) &&
        !/\/testing\//.test(file) &&
        wanted.test(textOf(file)),
    );
  // `eachTick` runs again and again, and reports what its work throws.
  expect(using(/\bsetInterval\(/)).toEqual([]);
  expect(using(/uncaughtException|unhandledRejection/)).toEqual(['services/runtime/process.ts']);
  expect(using(/\bprocess\.(exit|abort|kill)\(/)).toEqual(['services/runtime/process.ts']);
  // A loop over messages ends with its first error, so each says what happens then.
  expect(using(/for await \(.* of (updates|\w+\.status\(\))/)).toEqual([
    'services/identity/key-table.ts',
    'services/runtime/bus.ts',
    'services/runtime/standby.ts',
  ]);
});

const cyclesOf = (needs: ReadonlyMap<string, Iterable<string>>): readonly string[] => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (part: string, way: readonly string[]): void => {
    const at = way.indexOf(part);
    if (at >= 0) cycles.push([...way.slice(at), part].join(' → '));
    if (at >= 0 || done.has(part)) return;
    for (const next of needs.get(part) ?? []) visit(next, [...way, part]);
    done.add(part);
  };
  for (const part of needs.keys()) visit(part, []);
  return cycles;
};

test('there are no import cycles, not even of types', () => {
  const needs = new Map(
    sources.map((file) => [
      file,
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => normalize(join(dirname(file), specifier))),
    ]),
  );
  expect([...needs.values()].flat().length).toBeGreaterThan(1000);
  expect(cyclesOf(needs)).toEqual([]);
});

test('no folders of a service need each other, not even for types', () => {
  const folderOf = (file: string): string | undefined => /^services\/\w+\/[\w-]+(?=\/)/.exec(file)?.[0];
  const needs = new Map<string, Set<string>>();
  for (const file of sources.filter((one) => !isTest(one) && !/\/testing\//.test(one)))
    for (const specifier of importsOf(file).filter((one) => one.startsWith('.'))) {
      const [from, to] = [folderOf(file), folderOf(normalize(join(dirname(file), specifier)))];
      if (from && to && from !== to) needs.set(from, (needs.get(from) ?? new Set()).add(to));
    }
  expect(needs.size).toBeGreaterThan(10);
  expect(cyclesOf(needs)).toEqual([]);
});

test('the portal is made of floors, and no page imports another', () => {
  const portal = sources.filter(
    (file) => /^admin-ui\/src\/\w+\//.test(file) && !isTest(file) && !file.includes('/testing/'),
  );
  const floorOf = (file: string): string => file.split('/')[2]!;
  const pageOf = (file: string): string | undefined => /\/pages\/([\w-]+)\//.exec(file)?.[1];
  const floors = ['ui', 'model', 'pages', 'app'];
  const astray = portal.flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => normalize(join(dirname(file), specifier)))
      .filter((target) => {
        const [from, to] = [floors.indexOf(floorOf(file)), floors.indexOf(floorOf(target))];
        const ofPages = floorOf(file) === 'pages' && to === from;
        return from < 0 || to < 0 || to > from || (ofPages && pageOf(file) !== pageOf(target));
      })
      .map((target) => `${file} → ${target}`),
  );
  expect(portal.length).toBeGreaterThan(100);
  expect(astray).toEqual([]);
  const operated = portal.filter(
    (file) => floorOf(file) === 'ui' && importsOf(file).some((one) => one.startsWith('virtual:')),
  );
  expect(operated).toEqual([]);
});

test('relative imports have their extension, and resolve to a file', () => {
  const broken = sources.flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .filter((specifier) => !existsSync(join(root, dirname(file), specifier)) || !/\.\w+$/.test(specifier))
      .map((specifier) => `${file} → ${specifier}`),
  );
  expect(broken).toEqual([]);
});

test('file names are kebab-case', () => {
  // Files that tools and readers look for under a fixed name.
  const fixed = /(^|\/)([A-Z]+\.md|[\w-]+\.Dockerfile(\.dockerignore)?|\w+\.(node|credentials)\.ts)$/;
  expect(tracked.filter((file) => !fixed.test(file) && /[A-Z_]/.test(file))).toEqual([]);
});

describe('comments', () => {
  const riddles =
    /\b(?:whoever|by which|anew|in vain|had again|the one (?:that|which)|this one|that one(?=[,.;:)]|$| (?:is|was|has|had|does|did|can|may|must|will|fails)\b))/i;
  const riddlesOf = (text: string): string[] =>
    [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*(?:\n\s*\/\/.*)*/gm)]
      .map(([comment]) => comment.replace(/\s*\n\s*(?:\*\/?|\/\/)?\s*/g, ' '))
      .filter((comment) => riddles.test(comment));

  test('hold no riddle', () => {
    const found = sources
      .filter((file) => file !== 'deploy/tidy.unit.test.ts' && !file.includes('.generated.'))
      .flatMap((file) => riddlesOf(textOf(file)).map((comment) => `${file}: ${comment}`));
    expect(found).toEqual([]);
  });
});

describe('tests wait', () => {
  const tests = sources.filter((file) => isTest(file) || /\/testing\//.test(file));

  test('for assertions by expect.poll, and for values by the one until of services/runtime/testing', () => {
    const polls =
      /\bvi\.wait(?:For|Until)\(|\bconst (?:eventually|until|waitFor|waitUntil) = (?:async )?[(<]/;
    const own = ['deploy/tidy.unit.test.ts', 'services/runtime/testing/until.ts'];
    expect(tests.filter((file) => !own.includes(file) && polls.test(textOf(file)))).toEqual([]);
  });

  test('for a time of 100 ms or more only where a comment says why', () => {
    const found = tests
      .filter((file) => file.includes('.test.'))
      .flatMap((file) => {
        const lines = textOf(file).split('\n');
        return lines.flatMap((line, at) => {
          const ms = Number(/\b(?:sleep|delay)\(([\d_]+)\)/.exec(line)?.[1]?.replaceAll('_', '') ?? 0);
          const isTold = line.includes('//') || /^\s*(?:\/\/|\/?\*)/.test(lines[at - 1] ?? '');
          return ms >= 100 && !isTold ? [`${file}:${at + 1}: ${line.trim()}`] : [];
        });
      });
    expect(found).toEqual([]);
  });
});

test('no file exceeds its limit of lines', () => {
  const maxLines = 350;
  const long = sources
    // Nobody reads a generated file from top to bottom.
    .filter((file) => !isTest(file) && !file.includes('.generated.'))
    .map((file) => ({ file, lines: textOf(file).split('\n').length }))
    .filter(({ lines }) => lines > maxLines);
  expect(long).toEqual([]);
});

describe('the house does not grow', () => {
  // Who adds deletes. Who lowers a count lowers its bound, and a raise needs a commit that says why.
  const most = {
    proto: 13_895,
    'services/runtime': 6_529,
    'services/identity': 1_180,
    'services/deliveries': 1_240,
    'services/gateway': 5_189,
    'services/agents': 699,
    'services/access': 8_888,
    'services/crm': 6_865,
    'services/webhooks': 5_790,
    'services/dispatcher': 7_379,
    'admin-ui': 16_150,
    deploy: 4_299,
    tests: 65_322,
  };
  const roomOfCode = (file: string): string =>
    /\.test\.|\/testing\/|^e2e\//.test(file) ? 'tests' : roomOf(file);
  const counts = Map.groupBy(
    tracked.filter((file) => /\.(?:tsx?|mjs|js)$/.test(file)),
    roomOfCode,
  );

  test.each(Object.entries(most))('lines of %s: at most %i', (room, lines) => {
    const found = (counts.get(room) ?? []).reduce(
      (sum, file) => sum + textOf(file).split('\n').length - 1,
      0,
    );
    expect(found).toBeLessThanOrEqual(lines);
  });

  test('words of prose', () => {
    const documents = tracked.filter((file) => file.endsWith('.md'));
    const words = documents.reduce((sum, file) => sum + (textOf(file).match(/\S+/g)?.length ?? 0), 0);
    expect(words).toBeLessThanOrEqual(41_998);
  });
});

test('every file is used: imported, started or named by a package', () => {
  const imported = new Set(
    sources.flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => normalize(join(dirname(file), specifier))),
    ),
  );
  const named = tracked
    .filter((file) => file.endsWith('package.json') || file === 'vitest.config.ts')
    .flatMap((file) =>
      // The bootstrap starts programs by their path from the root of the repository.
      [...textOf(file).matchAll(/[\w./-]+\.(?:ts|mjs)/g)].flatMap(([path]) => [
        normalize(join(dirname(file), path)),
        normalize(path),
      ]),
    );
  // Programs and workers are started by a relative path.
  const started = sources.flatMap((file) =>
    [...textOf(file).matchAll(/(?:import\.meta\.dirname, |new URL\()'([\w./-]+\.ts)'/g)].map((match) =>
      normalize(join(dirname(file), match[1]!)),
    ),
  );
  const isEntry = (file: string): boolean =>
    /\/main\.tsx?$|\.(node|credentials)\.ts$|^admin-ui\/vite\.config\.ts$|^admin-ui\/public\/receivers\//.test(
      file,
    );
  const entries = new Set([...named, ...started, ...sources.filter(isEntry)]);
  const dead = sources.filter(
    (file) => !imported.has(file) && !entries.has(file) && !/\.(test|shots)\.ts$/.test(file),
  );
  expect(dead).toEqual([]);
});

test('links in the documents resolve', () => {
  const broken = tracked
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...textOf(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map((match) => match[1]!)
        // The guides link the gateway's pages, which e2e/api/docs.test.ts opens.
        .filter((target) => !(file.startsWith('proto/guides/') && target.startsWith('/')))
        .filter((target) => !existsSync(join(root, dirname(file), target)))
        .map((target) => `${file} → ${target}`),
    );
  expect(broken).toEqual([]);
});

test('the documents name only files and code that exist', () => {
  // Made by a command, or by the reader.
  const made = /^(openapi|interface\.generated|compose\.override|stack|NNN-name|gateway)\.\w+$/;
  const code = tracked
    .filter((file) => /\.(tsx?|mjs|sql|ya?ml|json)$/.test(file))
    .map(textOf)
    .join('\n');
  const words = new Set(code.match(/\w+/g));
  const gone = tracked
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [
        ...textOf(file)
          .replace(/^```[\s\S]*?^```/gm, '')
          .matchAll(/`([^`\s]+)`/g),
      ]
        .map(([, name]) => name!)
        .filter((name) =>
          /^[\w./@-]+\.(tsx?|mjs|sql|md|json|ya?ml|css)$/.test(name)
            ? !made.test(name.split('/').at(-1)!) &&
              !tracked.some((one) => `/${one}`.endsWith(`/${name.replace(/^[./]+/, '')}`))
            : /^[a-z]+[A-Z]\w*(\(\))?$/.test(name) && !words.has(name.replace('()', '')),
        )
        .map((name) => `${file} → ${name}`),
    );
  expect(gone).toEqual([]);
});

test('no private key is in the repository', () => {
  const begin = /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}/;
  expect(tracked.filter((file) => begin.test(textOf(file)))).toEqual([]);
});

describe('the contract', () => {
  const sections = new Set([...textOf('proto/CONTRACT.md').matchAll(/^## (.+)$/gm)].map(([, name]) => name!));
  const citing = sources.filter((file) => file !== 'deploy/tidy.unit.test.ts');

  test('has every section that the code cites', () => {
    const cited = citing.flatMap((file) =>
      [
        ...textOf(file)
          .replace(/\n\s*(\*|\/\/) ?/g, ' ')
          .matchAll(/\b[Cc]ontract, "([^"]+)"/g),
      ].map(([, name]) => [file, name!]),
    );
    expect(cited.length).toBeGreaterThan(40);
    expect(cited.filter(([, name]) => !sections.has(name!))).toEqual([]);
  });

  test('links to each of its sections from its contents', () => {
    const contents = textOf('proto/CONTRACT.md').split('\n## ')[0]!;
    for (const name of sections) expect(contents).toContain(`[${name}]`);
  });
});
