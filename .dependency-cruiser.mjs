/**
 * Who may import whom: renderer -> contract; main, server, cli -> engine, contract; engine -> contract; contract -> nothing
 * of ours. The preload script is one small file of its own.
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
  to: { path: '^(electron|renderer|build|e2e)/', pathNot: `^electron/(${[layer, ...allowed].join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    {
      name: 'layer-renderer',
      comment: 'the window knows the engine only by the contract',
      severity: 'error',
      from: { path: '^renderer/' },
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
      comment: 'types may know one another, code may not',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
