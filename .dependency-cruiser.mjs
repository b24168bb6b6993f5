/**
 * Who may import whom: renderer -> contract; main, server, cli -> engine, contract; engine -> contract; contract -> nothing
 * of ours. The preload script is one small file of its own. What main says outside the page stands in the window's catalogues.
 */
const LAYERS = {
  contract: [],
  engine: ['contract'],
  cli: ['engine', 'contract', 'server'],
  server: ['engine', 'contract'],
  main: ['engine', 'contract', 'server'],
  preload: [],
};

const layerRules = Object.entries(LAYERS).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: `electron/${layer} may import ${allowed.map((name) => `electron/${name}`).join(', ') || 'nothing of ours'}`,
  severity: 'error',
  from: { path: `^electron/${layer}/` },
  to: {
    path: '^(electron|renderer|build|e2e)/',
    pathNot: `^electron/(${[layer, ...allowed].join('|')})/${layer === 'main' ? '|^renderer/i18n/(en[.]ts|de[.]json)$' : ''}`,
  },
}));

/**
 * Inside the engine: service (all runs) -> run (one run) -> the rest. No import runs back up, and what lies at the bottom
 * imports only what stands here. Tests may look anywhere.
 */
const BOTTOM = {
  system: [],
  environment: ['system'],
  results: [],
  devices: ['environment', 'system'],
  models: ['environment', 'system'],
  setup: ['devices', 'environment', 'models', 'system'],
  workers: ['environment', 'system'],
  store: ['results', 'system'],
  inputs: ['environment', 'system', 'workers'],
  exports: ['environment', 'inputs', 'results', 'store', 'system'],
};
const bottom = Object.keys(BOTTOM).map((name) => `${name}/`);
const ENGINE = {
  ...Object.fromEntries(
    Object.entries(BOTTOM).map(([folder, allowed]) => [folder, allowed.map((name) => `${name}/`)]),
  ),
  run: bottom,
  service: ['run/', ...bottom],
};
const TESTS = '[.]test[.]tsx?$|/(testing|benchmarks)/';

const engineRules = Object.entries(ENGINE).map(([folder, allowed]) => ({
  name: `engine-${folder}`,
  comment: `electron/engine/${folder} may import ${allowed.join(', ') || 'nothing'} of the engine`,
  severity: 'error',
  from: { path: `^electron/engine/${folder}/`, pathNot: TESTS },
  to: { path: '^electron/engine/', pathNot: `^electron/engine/(${[`${folder}/`, ...allowed].join('|')})` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    ...engineRules,
    {
      name: 'engine-door',
      comment: 'the engine shows what it offers in electron/engine/index.ts',
      severity: 'error',
      from: { path: '^electron/(cli|server|main)/', pathNot: TESTS },
      to: { path: '^electron/engine/', pathNot: '^electron/engine/index[.]ts$' },
    },
    {
      name: 'sqlite-in-the-store',
      comment: 'SQLite runs in threads of its own: see docs/architecture.md',
      severity: 'error',
      from: { pathNot: `^electron/engine/store/((sqlite|tables)/|runDatabase[.]ts$)|${TESTS}` },
      to: { path: '(^|/)node_modules/better-sqlite3/|^better-sqlite3$' },
    },
    {
      name: 'duckdb-in-one-folder',
      comment: 'DuckDB runs in the threads of the store: see docs/architecture.md',
      severity: 'error',
      from: { pathNot: `^electron/engine/store/duckdb/|${TESTS}` },
      to: { path: '(^|/)node_modules/@duckdb/|^@duckdb/' },
    },
    ...[
      ['sqlite', 'duckdb'],
      ['duckdb', 'sqlite'],
    ].map(([from, to]) => ({
      name: `${from}-without-${to}`,
      comment: 'what both need of a result stands in electron/engine/results and in the contract',
      severity: 'error',
      from: { path: `^electron/engine/store/${from}/`, pathNot: TESTS },
      to: { path: `^electron/engine/store/${to}/` },
    })),
    {
      name: 'layer-renderer',
      comment: 'the window knows the engine only by the contract',
      severity: 'error',
      from: { path: '^renderer/', pathNot: TESTS },
      to: { path: '^electron/', pathNot: '^electron/contract/' },
    },
    {
      name: 'engine-without-electron',
      comment: 'the engine runs in plain Node: on servers, in tests, in the command line',
      severity: 'error',
      from: { path: '^electron/(contract|engine|cli|server)/' },
      to: { path: '(^|/)node_modules/electron/|^electron$' },
    },
    {
      name: 'contract-without-node',
      comment: 'the contract is for the window, too',
      severity: 'error',
      from: { path: '^(electron/contract|renderer)/', pathNot: '[.](test|config)[.]tsx?$|/testing/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-circle',
      comment: 'files that need each other, if only for their types, are read and changed together',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    // Imports of types count: a layer that knows another's types knows the other.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
